/** An append-only file of records, forced to disk in groups; rewritten when most of it is done with. */

import { copyFile, type FileHandle, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { systemCode } from '../core/errors.ts'
import { type QueueRecord, readRecord, writeRecord } from './queue-record.ts'

export interface QueueLog {
  /** Resolves when the record is on disk. Records of one moment share one write and one fsync. */
  append(record: QueueRecord): Promise<void>
  /** Replaces the file by these records, after what was appended before and before what comes later. */
  rewrite(records: () => Iterable<QueueRecord>): Promise<void>
  close(): Promise<void>
}

export interface Replay {
  readonly records: readonly QueueRecord[]
  /** Lines that are not as they were written, beyond a last one that a crash cut off. */
  readonly damaged: number
}

/** A damaged file is copied to `PATH.damaged` first: what cannot be read is still somebody's money. */
export const readQueueLog = async (path: string): Promise<Replay> => {
  const lines = (await readIfThere(path)).split('\n')
  // Whole files end in a line break; what follows the last one was being written when the end came.
  const tail = lines.pop() ?? ''
  const read = lines.filter((line) => line !== '').map(readRecord)
  const damaged = read.filter((record) => record === undefined).length
  if (damaged > 0) await copyFile(path, `${path}.damaged`)
  const last = readRecord(tail)
  const records = [...read, last].filter((record) => record !== undefined)
  return { records, damaged }
}

/** Starts a new file with these records in the place of whatever is there. */
export const startQueueLog = async (
  path: string,
  records: Iterable<QueueRecord>,
): Promise<QueueLog> => {
  let { file, size } = await replaceFile(path, records)
  /** A write failed half-way and could not be taken back: the next one must not continue its line. */
  let torn = false
  let waiting: Waiter[] = []
  let turn: Promise<void> = Promise.resolve()
  let scheduled = false

  async function flush(): Promise<void> {
    scheduled = false
    const group = waiting
    waiting = []
    const lines = group.map(({ line }) => line).join('')
    const text = torn ? `\n${lines}` : lines
    try {
      await file.appendFile(text)
      await file.datasync()
      size += Buffer.byteLength(text)
      torn = false
      for (const { resolve } of group) resolve()
    } catch (error) {
      await takeBack()
      for (const { reject } of group) reject(error)
    }
  }

  /** Who was told that it failed may try again: what was written of it must not come back by itself. */
  async function takeBack(): Promise<void> {
    torn = await file.truncate(size).then(
      () => false,
      () => true,
    )
  }

  const next = (task: () => Promise<void>): Promise<void> => {
    const run = turn.then(task)
    turn = run.catch(() => {})
    return run
  }

  return {
    append: (record) =>
      new Promise((resolve, reject) => {
        waiting.push({ line: writeRecord(record), resolve, reject })
        if (scheduled) return
        scheduled = true
        next(flush)
      }),
    rewrite: (remaining) =>
      next(async () => {
        const old = file
        ;({ file, size } = await replaceFile(path, remaining()))
        torn = false
        await old.close()
      }),
    close: () => next(() => file.close()),
  }
}

interface Waiter {
  readonly line: string
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Written beside, forced to disk, then renamed: at every moment there is one whole file. */
async function replaceFile(
  path: string,
  records: Iterable<QueueRecord>,
): Promise<{ file: FileHandle; size: number }> {
  const beside = `${path}.new`
  const text = Array.from(records, writeRecord).join('')
  // To append, so that after a truncation the next write starts at the new end.
  const file = await open(beside, 'a', FILE_MODE)
  try {
    await file.truncate(0)
    await file.appendFile(text)
    await file.sync()
    await rename(beside, path)
    await syncFolder(dirname(path))
    return { file, size: Buffer.byteLength(text) }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Whom the operator pays for is nobody else's business. */
const FILE_MODE = 0o600

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return ''
    throw error
  }
}
