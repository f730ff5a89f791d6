/**
 * Takes all of a store into a file. Fences the store first, for good: what changes meanwhile would be half
 * in the file, and what changes later would be lost by those who moved.
 */
import { createHash, type Hash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { type FileHandle, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { HeadgateError, systemCode } from '../../core/errors.ts'
import type { Store, StoreStatus } from '../../core/store.ts'
import { instant } from '../../core/time.ts'
import { movingMistake } from './errors.ts'
import { exportFence, isFenceOfExport, movingOf, refuseHalfFilled } from './fences.ts'
import {
  endLine,
  type FileHeader,
  headerLine,
  linesOf,
  parseHeader,
  parseLine,
  readExport,
  recordLine,
  spotHash,
  spotLine,
} from './file.ts'
import {
  type ContentCount,
  type ContentSummary,
  countContent,
  type MoveOutcome,
  type OnProgress,
  type ReadBefore,
  type RecordsPage,
  recordsOf,
  type StoreRecord,
  sameContent,
} from './records.ts'

export interface ExportOutcome extends MoveOutcome {
  /** The name of the fence that the store has from now on. */
  readonly fence: string
}

/**
 * Cut off at any moment, the same export goes on where it was, as long as the fence stands. No file of
 * that name is there before all of it was read again and found to be what the store held.
 */
export const exportStore = async (
  store: Store,
  path: string,
  onProgress: OnProgress = () => {},
): Promise<ExportOutcome> => {
  const moving = movingOf(store)
  if (existsSync(path)) {
    const rule = 'must name a file that is not there yet'
    throw movingMistake('STORE_FILE_UNWRITABLE', path, rule, 'a file')
  }
  await refuseHalfFilled(store)
  const left = await leftoverFor(path, await moving.status())
  const file = await openPartial(path, left)
  try {
    const id = left?.header.id ?? randomBytes(6).toString('hex')
    if (left === undefined) {
      // The file can be written, so that the store is not fenced for nothing.
      const { clocks } = await moving.status()
      await moving.fence(exportFence(id, instant(Math.max(...clocks))))
    }
    const { clocks, keys: total } = await moving.status()
    if (left === undefined) await file.begin({ id, newest: Math.max(...clocks) })
    const count = left?.count ?? countContent()
    let done = left?.done ?? 0
    for await (const page of recordsOf(store, left?.before)) {
      await file.write(page)
      for (const record of page.records) count.add(record)
      done += page.records.length
      onProgress({ doing: 'reading the store', done, total: Math.max(total, done) })
    }
    refuseUnlessFenced(await moving.status(), id)
    const summary = count.summary()
    await file.finish(summary)
    await verify(partialName(path), summary, onProgress)
    await file.publish()
    return { ...summary, continued: left?.done ?? 0, fence: `export-${id}` }
  } finally {
    await file.close()
  }
}

/** Only under the fence of the same try: else the store may have changed since. */
async function leftoverFor(path: string, status: StoreStatus): Promise<Leftover | undefined> {
  const left = await readLeftover(path)
  return left !== undefined && isFenceOfExport(status, left.header.id) ? left : undefined
}

function refuseUnlessFenced(status: StoreStatus, id: string): void {
  if (isFenceOfExport(status, id)) return
  const rule = 'must keep its fence until all is read, so that nothing changes meanwhile'
  throw movingMistake('STORE_NOT_FENCED', 'the store', rule, status.fence ?? 'no fence')
}

async function verify(
  path: string,
  expected: ContentSummary,
  onProgress: OnProgress,
): Promise<void> {
  const file = await readExport(path)
  const count = countContent()
  for await (const records of file.pages) {
    for (const record of records) count.add(record)
    onProgress(file.progress())
  }
  if (sameContent(count.summary(), expected)) return
  throw movingMistake('STORE_FILE_INVALID', path, 'must hold what the store held')
}

// The file: under another name until it is whole. What a try that was cut off left there is gone on with.

/** It holds what the store held: who was limited, ledgers, attempts. */
const FILE_MODE = 0o600

const partialName = (path: string): string => `${path}.partial`

/** What is good of a file that was cut off. */
interface Leftover {
  readonly header: FileHeader
  readonly before: ReadBefore
  readonly count: ContentCount
  readonly done: number
  readonly digest: Hash
  readonly bytes: number
}

/** Up to the last spot whose hash is that of all before it; undefined if there is none. */
const readLeftover = async (path: string): Promise<Leftover | undefined> => {
  const reading = leftoverReader()
  try {
    for await (const lines of linesOf(partialName(path))) {
      for (const { text, end } of lines) if (!reading.take(text, end)) return reading.leftover()
    }
  } catch (error) {
    // Whether it can be written shows next.
    if (!(error instanceof HeadgateError)) throw error
  }
  return reading.leftover()
}

function leftoverReader() {
  const count = countContent()
  let digest = createHash('sha256')
  let header: FileHeader | undefined
  let waiting: { readonly text: string; readonly record: StoreRecord }[] = []
  let [good, done]: [Leftover | undefined, number] = [undefined, 0]
  const streams = new Set<string>()
  let open: ReadBefore['open']
  let named: string | undefined

  const takeRecord = ({ record }: (typeof waiting)[number]): void => {
    count.add(record)
    if (record.kind === 'stream') open = { stream: record.stream, after: 0 }
    if (record.kind === 'stream') streams.add(record.stream)
    if (record.kind === 'entry') open = { stream: record.stream, after: record.position }
  }

  return {
    /** Whether the next line is worth a look. */
    take: (text: string, end: number): boolean => {
      if (header === undefined) {
        header = parseHeader(text)
        digest.update(`${text}\n`)
        return header !== undefined
      }
      const line = parseLine(text, named)
      if (line === undefined || line.kind === 'end') return false
      if (line.kind === 'stream') named = line.stream
      if (line.kind !== 'spot') {
        waiting.push({ text, record: line })
        return true
      }
      const longer = digest.copy()
      for (const one of waiting) longer.update(`${one.text}\n`)
      if (spotHash(longer, line.spot) !== line.sha256) return false
      digest = longer.update(`${text}\n`)
      for (const one of waiting) takeRecord(one)
      done += waiting.length
      waiting = []
      const before = { spot: line.spot, streams, ...(open && { open }) }
      good = { header, before, count, done, digest, bytes: end }
      return true
    },
    leftover: () => good,
  }
}

interface PartialFile {
  /** Before any page, unless it goes on with what was left. */
  begin(header: FileHeader): Promise<void>
  write(page: RecordsPage): Promise<void>
  /** All of it is on the disk, under its other name. */
  finish(summary: ContentSummary): Promise<void>
  /** Gives the file its name. */
  publish(): Promise<void>
  close(): Promise<void>
}

const openPartial = async (path: string, left?: Leftover): Promise<PartialFile> => {
  const file = await openFile(partialName(path), left === undefined ? 'w' : 'a')
  const digest = left?.digest ?? createHash('sha256')
  if (left !== undefined) await file.truncate(left.bytes)
  const put = async (text: string): Promise<void> => {
    digest.update(text)
    await file.appendFile(text)
  }
  return {
    begin: (header) => put(headerLine(header)),
    write: async ({ records, spot }) => {
      if (records.length === 0) return
      await put(records.map(recordLine).join(''))
      await put(spotLine(spot, digest))
    },
    finish: async (summary) => {
      const sha256 = digest.digest('hex')
      await file.appendFile(endLine(summary, sha256))
      await file.sync()
    },
    publish: async () => {
      await rename(partialName(path), path)
      await syncFolder(dirname(path))
    },
    close: () => file.close(),
  }
}

async function openFile(name: string, flags: 'w' | 'a'): Promise<FileHandle> {
  try {
    return await open(name, flags, FILE_MODE)
  } catch (cause) {
    const rule = 'must be a file that can be written'
    throw movingMistake('STORE_FILE_UNWRITABLE', name, rule, systemCode(cause), cause)
  }
}

/** Or the new name might be lost with the power. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
