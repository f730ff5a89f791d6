import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import type { Store } from '../../core/store.ts'
import { memory } from '../memory/index.ts'
import { sqlite } from '../sqlite/index.ts'
import { exportStore } from './export.ts'
import { unfenceStore } from './fences.ts'
import { readExport } from './file.ts'
import type { MoveProgress, StoreRecord } from './records.ts'

const KEYS = 2_500
const ENTRIES = 2_300

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)

/** More than a page of keys and of entries, in three streams. */
const filled = async (): Promise<Store> => {
  const store = sqlite(scratchFile())
  onTestFinished(() => store.close())
  const writes = upTo(KEYS).map((i) => ({ key: `k${i}`, value: `${i} \u2028 \n "ö"` }))
  const streams = ['s', 't', 'u'].map((stream) => ({
    stream,
    last: ENTRIES,
    entries: upTo(stream === 't' ? ENTRIES : 3).map((i) => ({ position: i + 1, entry: `e${i}` })),
  }))
  await store.moving?.restore(writes, streams)
  return store
}

const put = (store: Store, key: string) =>
  store.transact(() => ({ writes: [{ key, value: 'x' }], appends: [], result: undefined }))

const recordsIn = async (path: string): Promise<readonly StoreRecord[]> => {
  const all: StoreRecord[] = []
  for await (const records of (await readExport(path)).pages) all.push(...records)
  return all
}

/** Cuts the export off once so many records are read. */
const cutOff = (at: number) => (progress: MoveProgress) => {
  if (progress.doing === 'reading the store' && progress.done >= at) throw new Error('cut off')
}

test('the file holds every key and entry once, and the store is fenced from then on', async () => {
  const [store, path] = [await filled(), scratchFile('a.export')]
  const outcome = await exportStore(store, path)
  expect(outcome).toMatchObject({ keys: KEYS, streams: 3, entries: ENTRIES + 6, continued: 0 })
  const found = await recordsIn(path)
  expect(found.filter(({ kind }) => kind === 'item')).toHaveLength(KEYS)
  expect(found.filter(({ kind }) => kind === 'stream')).toHaveLength(3)
  expect(found).toContainEqual({ kind: 'item', key: 'k7', value: '7 \u2028 \n "ö"' })
  await expect(put(store, 'a')).rejects.toMatchObject({
    code: 'STORE_FENCED',
    finding: expect.stringContaining(outcome.fence),
  })
  expect(statSync(path).mode & 0o077).toBe(0)
})

test.each([500, 1_000, 2_500, 3_400, 4_800])(
  'cut off after %d records, it goes on where it was, and the file is the same',
  async (at) => {
    const [store, path] = [await filled(), scratchFile('a.export')]
    await expect(exportStore(store, path, cutOff(at))).rejects.toThrow('cut off')
    expect(existsSync(path)).toBe(false)
    const scans: number[] = []
    const counted = {
      ...store,
      scan: (...page: Parameters<Store['scan']>) => {
        scans.push(1)
        return store.scan(...page)
      },
    }
    const { continued, content } = await exportStore(counted, path)
    expect(continued).toBeGreaterThanOrEqual(at)
    expect(scans.length).toBe(continued < KEYS ? 3 - continued / 1_000 : 0)
    const whole = await exportStore(await filled(), scratchFile('b.export'))
    expect(content).toBe(whole.content)
    expect(await recordsIn(path)).toHaveLength(KEYS + 3 + ENTRIES + 6)
  },
)

test.each([
  ['a torn line', (text: string) => text.slice(0, -7)],
  ['a line of zeros, as after a power cut', (text: string) => `${text}${'\0'.repeat(50)}\n`],
  ['a damaged line in the middle', (text: string) => text.replace('"k1500"', '"k15')],
  ['a value that is another', (text: string) => text.replace('"1500 ', '"1501 ')],
  [
    'a spot that is another',
    (text: string) => text.replace(/"keys","k[^"]*"(?!.*"keys")/s, '"keys","k9"'),
  ],
])('what is damaged of a leftover is read anew: %s', async (_, damage) => {
  const [store, path] = [await filled(), scratchFile('a.export')]
  await expect(exportStore(store, path, cutOff(2_000))).rejects.toThrow('cut off')
  writeFileSync(`${path}.partial`, damage(readFileSync(`${path}.partial`, 'utf8')))
  const { keys, entries } = await exportStore(store, path)
  expect([keys, entries]).toEqual([KEYS, ENTRIES + 6])
  const found = await recordsIn(path)
  expect(found).toHaveLength(KEYS + 3 + ENTRIES + 6)
  expect(found).toContainEqual({ kind: 'item', key: 'k1500', value: '1500 \u2028 \n "ö"' })
})

test('a leftover counts only under its own fence: the store may have changed since', async () => {
  const [store, path] = [await filled(), scratchFile('a.export')]
  await expect(exportStore(store, path, cutOff(1_000))).rejects.toThrow('cut off')
  const { fence = '' } = (await store.moving?.status()) ?? {}
  await unfenceStore(store, fence.split(',')[0] ?? '')
  await put(store, 'k0')
  const { continued } = await exportStore(store, path)
  expect(continued).toBe(0)
  expect(await recordsIn(path)).toContainEqual({ kind: 'item', key: 'k0', value: 'x' })
})

test('a leftover of nothing, or of something else, is written over', async () => {
  const [store, path] = [await filled(), scratchFile('a.export')]
  appendFileSync(`${path}.partial`, 'notes\n')
  expect(await exportStore(store, path)).toMatchObject({ keys: KEYS, continued: 0 })
})

test('a file that is there, or cannot be made, is refused before the store is fenced', async () => {
  const [store, path] = [await filled(), scratchFile('a.export')]
  writeFileSync(path, '')
  for (const name of [path, `${path}/none/b.export`]) {
    await expect(exportStore(store, name)).rejects.toMatchObject({ code: 'STORE_FILE_UNWRITABLE' })
  }
  expect((await store.moving?.status())?.fence).toBeUndefined()
})

test('a fence that is taken away meanwhile ends the export: something may have changed', async () => {
  const [store, path] = [await filled(), scratchFile('a.export')]
  const liftFence = ({ done }: MoveProgress) => {
    if (done === 1_000) void store.moving?.fence(undefined)
  }
  await expect(exportStore(store, path, liftFence)).rejects.toMatchObject({
    code: 'STORE_NOT_FENCED',
  })
  expect(existsSync(path)).toBe(false)
})

test('a store that has no way to be moved is refused', async () => {
  const { moving: _, ...store } = memory()
  await expect(exportStore(store, scratchFile('a.export'))).rejects.toMatchObject({
    code: 'STORE_NOT_MOVABLE',
  })
})
