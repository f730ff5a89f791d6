/**
 * What a queue has accepted and not yet delivered: in memory and, before `add` resolves, in its file.
 * Records are appended and forced to disk in groups, and rewritten when most of them are done with.
 * Each line carries its own checksum, so that a torn one is recognised.
 */
import { copyFile, type FileHandle, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { HeadgateError, systemCode } from '../../core/errors.ts'
import { type Instant, instant } from '../../core/time.ts'

export type QueueRecord =
  | {
      readonly kind: 'added'
      readonly number: number
      readonly at: Instant
      readonly item: string
    }
  | { readonly kind: 'done'; readonly number: number }

interface QueueLog {
  /** Resolves when the record is on disk. Records of one moment share one write and one fsync. */
  append(record: QueueRecord): Promise<void>
  /** Replaces the file by these records, after what was appended before and before what comes later. */
  rewrite(records: () => Iterable<QueueRecord>): Promise<void>
  close(): Promise<void>
}

interface QueueReplay {
  readonly records: readonly QueueRecord[]
  /** Lines that are not as they were written, beyond a last one that a crash cut off. */
  readonly damaged: number
}

/** A damaged file is copied to `PATH.damaged` first: what cannot be read may still be money. */
const readQueueLog = async (path: string): Promise<QueueReplay> => {
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

/** Starts a new file with these records and replaces the one that is there. */
const startQueueLog = async (path: string, records: Iterable<QueueRecord>): Promise<QueueLog> => {
  let { file, size } = await replaceFile(path, records)
  /** A write failed half-way and could not be taken back: the next one must not continue its line. */
  let torn = false
  let waiting: WaitingLine[] = []
  let last: Promise<void> = Promise.resolve()
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

  /** The caller of a failed append may try again: what was written of it must not come back by itself. */
  async function takeBack(): Promise<void> {
    torn = await file.truncate(size).then(
      () => false,
      () => true,
    )
  }

  const next = (task: () => Promise<void>): Promise<void> => {
    const run = last.then(task)
    last = run.catch(() => {})
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

interface WaitingLine {
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

/** Whom the operator pays for is private. */
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

/** `checksum json`, with the line break that ends it. JSON has none inside. */
export const writeRecord = (record: QueueRecord): string => {
  const json = JSON.stringify(
    record.kind === 'added' ? ['+', record.number, record.at, record.item] : ['-', record.number],
  )
  return `${checksum(json)} ${json}\n`
}

/** Without its line break; undefined if a byte is not as it was written. */
export const readRecord = (line: string): QueueRecord | undefined => {
  const json = line.slice(CHECKSUM_LENGTH + 1)
  if (line !== `${checksum(json)} ${json}`) return undefined
  const [mark, number, at, item]: unknown[] = JSON.parse(json)
  if (typeof number !== 'number') return undefined
  if (mark === '-') return { kind: 'done', number }
  if (mark !== '+' || typeof at !== 'number' || typeof item !== 'string') return undefined
  return { kind: 'added', number, at: instant(at), item }
}

const CHECKSUM_LENGTH = 8

const checksum = (text: string): string => crc32(text).toString(16).padStart(CHECKSUM_LENGTH, '0')

export type QueueErrorCode =
  | 'QUEUE_FULL'
  | 'QUEUE_ITEM_TOO_LARGE'
  | 'QUEUE_CLOSED'
  | 'QUEUE_IN_USE'
  | 'QUEUE_UNAVAILABLE'

export interface PendingItem {
  readonly at: Instant
  readonly item: string
}

interface PendingItems {
  /** By number, oldest first. */
  readonly pending: ReadonlyMap<number, PendingItem>
  /** Lines that could not be read when the file was opened. */
  readonly damaged: number
  /** Resolves with the item's number when it is on disk. */
  add(entry: PendingItem): Promise<number>
  /** The note that an item is done is not waited for: losing it costs one repetition. */
  remove(number: number): void
  close(): Promise<void>
}

/** The file is rewritten after this many deliveries, if most of its lines are done with. */
const REWRITE_AFTER = 10_000

export const openPendingItems = async (path: string, maxPending: number): Promise<PendingItems> => {
  const { records, damaged, pending, log } = await openLog(path)
  let newest = records.reduce((most, record) => Math.max(most, record.number), 0)
  /** Items on their way to the disk. */
  let coming = 0
  let removed = 0
  return {
    pending,
    damaged,
    add: async (entry) => {
      if (pending.size + coming >= maxPending) {
        throw queueMistake('QUEUE_FULL', `must hold at most ${maxPending} items`, 'no room')
      }
      newest += 1
      const number = newest
      coming += 1
      try {
        await log.append({ kind: 'added', number, ...entry })
      } catch (cause) {
        throw queueMistake('QUEUE_UNAVAILABLE', 'must be written to disk', String(cause), cause)
      } finally {
        coming -= 1
      }
      pending.set(number, entry)
      return number
    },
    remove: (number) => {
      pending.delete(number)
      removed += 1
      log.append({ kind: 'done', number }).catch(() => {})
      if (removed < REWRITE_AFTER || pending.size > removed) return
      removed = 0
      // A failure leaves the long file as it was, which is only long.
      log.rewrite(() => recordsOf(pending)).catch(() => {})
    },
    close: () => log.close(),
  }
}

async function openLog(path: string) {
  try {
    const { records, damaged } = await readQueueLog(path)
    const pending = pendingOf(records)
    return { records, damaged, pending, log: await startQueueLog(path, recordsOf(pending)) }
  } catch (cause) {
    throw queueMistake('QUEUE_UNAVAILABLE', `must open ${path}`, String(cause), cause)
  }
}

function pendingOf(records: readonly QueueRecord[]): Map<number, PendingItem> {
  const pending = new Map<number, PendingItem>()
  for (const record of records) {
    if (record.kind === 'added') pending.set(record.number, { at: record.at, item: record.item })
  }
  for (const record of records) if (record.kind === 'done') pending.delete(record.number)
  return pending
}

function* recordsOf(pending: ReadonlyMap<number, PendingItem>): Generator<QueueRecord> {
  for (const [number, entry] of pending) yield { kind: 'added', number, ...entry }
}

export const queueMistake = (
  code: QueueErrorCode,
  rule: string,
  finding: string,
  cause?: unknown,
) => new HeadgateError({ code, thing: 'the capture queue', rule, finding }, { cause })
