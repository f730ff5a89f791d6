/**
 * Fills an empty store from a file. The store is fenced until all of it is there and was compared, and
 * keeps how far it came: cut off at any moment, the same import goes on.
 */
import { randomUUID } from 'node:crypto'
import type { Entry, Moving, RestoredStream, Store, Write } from '../../core/store.ts'
import { days, instant } from '../../core/time.ts'
import { movingMistake } from './errors.ts'
import {
  type ImportProgress,
  importFence,
  movingOf,
  progressWrite,
  readImportProgress,
  refuseUnlessBehindFence,
  refuseUnlessOurs,
} from './fences.ts'
import { type FileHeader, readExport } from './file.ts'
import {
  type ContentSummary,
  countContent,
  describeSummary,
  IMPORT_KEY,
  type MoveOutcome,
  type OnProgress,
  recordsOf,
  type StoreRecord,
  sameContent,
} from './records.ts'

/**
 * Nothing is forgotten within this after the import began, or it could not be compared with the file.
 * Later than it was written is always allowed: expiry is no rule.
 */
const KEPT_FOR_MS = days(1) / 1_000

export const importStore = async (
  store: Store,
  path: string,
  onProgress: OnProgress = () => {},
): Promise<MoveOutcome> => {
  const moving = movingOf(store)
  const { header } = await readExport(path)
  const under = await readImportProgress(store)
  const begun = under ? resume(moving, header, under) : prepare(store, moving, header)
  const before = { ...(await begun), by: randomUUID() }
  const expected = await checkFile(path, before.floor, onProgress)
  if (!before.compared) {
    await begin(store, moving, before, under === undefined)
    await fill({ store, path, before, expected, onProgress })
    await compare(store, before, expected, onProgress)
    await moving.restore([progressWrite({ ...before, compared: true })], [])
  }
  await forget(moving, header.id)
  return { ...expected, continued: before.done }
}

/** What speaks against it, before anything is changed. */
async function prepare(store: Store, moving: Moving, header: FileHeader): Promise<ImportProgress> {
  const { fence, clocks } = await moving.status()
  if (fence !== undefined && fence !== importFence(header.id)) {
    const rule = 'must not be fenced for another reason; headgate store unfence takes a fence away'
    throw movingMistake('STORE_NOT_EMPTY', 'the store', rule, `a fence: ${fence}`)
  }
  const behind = header.newest - Math.min(...clocks)
  if (behind > 0) {
    const rule = 'must have a clock that is past all that the file holds'
    const finding = `one that is ${Math.ceil(behind / 1_000_000)} s behind`
    throw movingMistake('STORE_CLOCK_BEHIND', 'the store', rule, finding)
  }
  await refuseUnlessEmpty(store)
  return { file: header.id, by: '', floor: floorAt(clocks), done: 0, compared: false }
}

const floorAt = (clocks: readonly number[]): number =>
  Math.ceil(Math.max(...clocks) / 1_000) + KEPT_FOR_MS

/** Goes on; but from the beginning where what was brought may be forgotten before all is compared. */
async function resume(
  moving: Moving,
  header: FileHeader,
  under: ImportProgress,
): Promise<ImportProgress> {
  if (under.file !== header.id) {
    const rule = 'must have no import of another file under way'
    throw movingMistake('STORE_IMPORT_UNFINISHED', 'the store', rule, `one of ${under.file}`)
  }
  const floor = floorAt((await moving.status()).clocks)
  const isLate = floor - under.floor > KEPT_FOR_MS / 2
  return isLate && !under.compared ? { ...under, floor, done: 0 } : under
}

/** Looks once more behind the fence: somebody may have used the store meanwhile. */
async function begin(
  store: Store,
  moving: Moving,
  progress: ImportProgress,
  isFirst: boolean,
): Promise<void> {
  await moving.fence(importFence(progress.file))
  if (isFirst) {
    await refuseUnlessEmpty(store).catch(async (error) => {
      await moving.fence(undefined)
      throw error
    })
  }
  await moving.restore([progressWrite(progress)], [])
}

async function refuseUnlessEmpty(store: Store): Promise<void> {
  for await (const { records } of recordsOf(store)) {
    const [found] = records
    if (found === undefined) continue
    const rule = 'must be empty: an import is never mixed with what is there'
    const finding = found.kind === 'item' ? `the key ${found.key}` : `the stream ${found.stream}`
    throw movingMistake('STORE_NOT_EMPTY', 'the store', rule, finding)
  }
}

/**
 * The fence first: whoever is cut off between the two finds what is left to do. By then servers may have
 * used the store, and another move may have fenced it: that fence is not ours to take away.
 */
async function forget(moving: Moving, id: string): Promise<void> {
  const { fence } = await moving.status()
  if (fence === importFence(id)) await moving.fence(undefined)
  else if (fence !== undefined) {
    const rule = 'must have no fence but that of this import for it to be taken away'
    throw movingMistake('STORE_FENCED_OTHERWISE', 'the store', rule, fence)
  }
  await moving.restore([{ key: IMPORT_KEY }], [])
}

/** All of the file, before any of it is written; answers what the store must then hold. */
async function checkFile(
  path: string,
  floor: number,
  onProgress: OnProgress,
): Promise<ContentSummary> {
  const file = await readExport(path)
  const [asWritten, asKept] = [countContent(), countContent()]
  for await (const records of file.pages) {
    for (const record of records) {
      asWritten.add(record)
      asKept.add(raised(record, floor))
    }
    onProgress(file.progress())
  }
  const said = file.summary()
  if (sameContent(said, asWritten.summary())) return asKept.summary()
  throw movingMistake('STORE_FILE_INVALID', path, 'must hold what its summary says')
}

const raised = (record: StoreRecord, floor: number): StoreRecord =>
  record.kind === 'item' && record.expiry !== undefined
    ? { ...record, expiry: Math.max(record.expiry, floor) }
    : record

/** Records put back at once, before what was done is recorded. */
const BATCH = 2_000

interface Filling {
  readonly store: Store
  readonly path: string
  readonly before: ImportProgress
  readonly expected: ContentSummary
  readonly onProgress: OnProgress
}

async function fill({ store, path, before, expected, onProgress }: Filling): Promise<void> {
  const { restore } = movingOf(store)
  const file = await readExport(path)
  const batch = createBatch()
  const total = expected.keys + expected.streams + expected.entries
  let done = 0
  const flush = async (): Promise<void> => {
    const { writes, streams } = batch.take()
    await refuseUnlessOurs(store, before)
    await refuseUnlessBehindFence(store, before)
    await restore(writes, streams)
    // After the rest: what it says is there is there. And never over what another one wrote.
    await refuseUnlessOurs(store, before)
    await restore([progressWrite({ ...before, done })], [])
    onProgress({ doing: 'filling the store', done, total: Math.max(total, done) })
  }
  for await (const records of file.pages) {
    for (const record of records) {
      done += 1
      if (done <= before.done) batch.skip(record)
      else batch.add(raised(record, before.floor))
      if (done > before.done && done % BATCH === 0) await flush()
    }
  }
  batch.end()
  await flush()
}

/** Records on their way into a store. A stream goes on at its last position once all its entries are there. */
function createBatch() {
  let writes: Write[] = []
  let streams: RestoredStream[] = []
  let entries: Entry[] = []
  let head: { readonly stream: string; readonly last: number } | undefined

  const endEntries = (last: number | undefined): void => {
    if (head !== undefined && last !== undefined) {
      streams.push({ stream: head.stream, last, entries })
    }
    entries = []
  }
  const end = (): void => {
    endEntries(head?.last)
    head = undefined
  }

  return {
    add: (record: StoreRecord): void => {
      switch (record.kind) {
        case 'item':
          writes.push(toWrite(record))
          break
        case 'stream':
          end()
          head = record
          break
        case 'entry':
          entries.push({ position: record.position, entry: record.entry })
          break
        default:
          record satisfies never
      }
    },
    /** One that is there already; but its stream may go on. */
    skip: (record: StoreRecord): void => {
      if (record.kind === 'stream') head = record
    },
    end,
    take: () => {
      endEntries(entries.at(-1)?.position)
      const taken = { writes, streams }
      writes = []
      streams = []
      return taken
    },
  }
}

const toWrite = ({ key, value, expiry }: Extract<StoreRecord, { kind: 'item' }>): Write => ({
  key,
  value,
  ...(expiry !== undefined && { expiresAt: instant(expiry * 1_000) }),
})

async function compare(
  store: Store,
  progress: ImportProgress,
  expected: ContentSummary,
  onProgress: OnProgress,
): Promise<void> {
  const count = countContent()
  const total = expected.keys + expected.streams + expected.entries
  let done = 0
  for await (const { records } of recordsOf(store)) {
    for (const record of records) count.add(record)
    done += records.length
    onProgress({ doing: 'comparing', done, total: Math.max(total, done) })
  }
  const found = count.summary()
  await refuseUnlessOurs(store, progress)
  await refuseUnlessBehindFence(store, progress)
  if (sameContent(found, expected)) return
  // What is missing is brought by the same import, from the beginning.
  await movingOf(store).restore([progressWrite({ ...progress, done: 0 })], [])
  const rule = `must hold what the file holds: ${describeSummary(expected)}; it stays fenced`
  throw movingMistake('STORE_IMPORT_DIFFERS', 'the store', rule, describeSummary(found))
}
