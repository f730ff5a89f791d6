import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { everything } from '../../../test/support/everything.ts'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import type { Moving, Store } from '../../core/store.ts'
import { after, days, hours, minutes, seconds } from '../../core/time.ts'
import { fakeClock } from '../../testing/index.ts'
import { memory } from '../memory/index.ts'
import { sqlite } from '../sqlite/index.ts'
import { exportStore } from './export.ts'
import { unfenceStore } from './fences.ts'
import { importStore } from './import.ts'
import type { MoveProgress } from './records.ts'

const KEYS = 4_500
const ENTRIES = 2_500
const clock = fakeClock()
const SOON = after(clock(), minutes(1))
const LATE = after(clock(), days(60))

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)

/** An export of more than two batches. */
const exported = async (): Promise<{ path: string; items: unknown }> => {
  const store = memory({ clock })
  const writes = upTo(KEYS).map((i) => ({
    key: i % 3 === 0 ? `list#${i}` : `k${i}`,
    value: String(i),
    ...(i % 2 === 0 && { expiresAt: i % 4 === 0 ? SOON : LATE }),
  }))
  const entries = upTo(ENTRIES).map((i) => ({ position: 2 * i + 1, entry: `e${i}` }))
  await store.moving?.restore(writes, [
    { stream: 's', last: 2 * ENTRIES, entries },
    { stream: 't', last: 1, entries: entries.slice(0, 1) },
  ])
  const path = scratchFile('a.export')
  await exportStore(store, path)
  return { path, items: await everything(store) }
}

const cutOff = (at: number) => (progress: MoveProgress) => {
  if (progress.doing === 'filling the store' && progress.done >= at) throw new Error('cut off')
}

const put = (store: Store, key: string) =>
  store.transact(() => ({ writes: [{ key, value: 'x' }], appends: [], result: undefined }))

const appendTo = (store: Store, stream: string) =>
  store.transact(() => ({ writes: [], appends: [{ stream, entry: 'new' }], result: undefined }))

const fenceOf = async (store: Store) => (await store.moving?.status())?.fence

test('the store holds what the file holds: values, lists, positions; and takes calls', async () => {
  const { path, items } = await exported()
  const store = memory({ clock })
  const outcome = await importStore(store, path)
  expect(outcome).toMatchObject({ keys: KEYS, entries: ENTRIES + 1, continued: 0 })
  expect(await everything(store)).toEqual(items)
  expect(await store.range('list', '', 1_000)).toHaveLength(1_000)
  expect((await store.read('s', 0, 2)).map(({ position }) => position)).toEqual([1, 3])
  await appendTo(store, 't')
  const [, added] = await store.read('t', 0, 2)
  expect(added?.position).toBeGreaterThan(1)
})

test('no position is given twice, though nothing of a stream was left to move', async () => {
  const from = sqlite({ path: scratchFile(), clock })
  for (const _ of upTo(3)) await appendTo(from, 's')
  await from.trim('s', 4)
  const path = scratchFile('a.export')
  await exportStore(from, path)
  for (const to of [memory({ clock }), sqlite({ path: scratchFile(), clock })]) {
    await importStore(to, path)
    await appendTo(to, 's')
    expect((await to.read('s', 0, 9)).map(({ position }) => position)).toEqual([4])
    await to.close()
  }
  await from.close()
})

test('nothing is forgotten sooner than it was, and nothing within the day of the move', async () => {
  const { path } = await exported()
  const store = memory({ clock })
  await importStore(store, path)
  const { items } = await store.scan('', 1_000)
  const expiries = new Map(items.map(({ key, expiresAt }) => [key, expiresAt]))
  expect(expiries.get('k4')).toBeGreaterThanOrEqual(after(clock(), days(1)))
  expect(expiries.get('k10')).toBe(LATE)
  expect(expiries.has('k1') && expiries.get('k1') === undefined).toBe(true)
})

test.each([1, 2_000, 4_000, 6_000])(
  'cut off after %d records, no server may use the store, and the same import goes on',
  async (at) => {
    const { path, items } = await exported()
    const store = memory({ clock })
    await expect(importStore(store, path, cutOff(at))).rejects.toThrow('cut off')
    await expect(put(store, 'a')).rejects.toMatchObject({ code: 'STORE_FENCED' })
    expect((await importStore(store, path)).continued).toBeGreaterThanOrEqual(at)
    expect(await everything(store)).toEqual(items)
    await put(store, 'a')
  },
)

/** Counts the changes of the store, and fails from the nth on: as one that is killed there. */
const failingFrom = (store: Store, nth: number): Store => {
  const moving = store.moving ?? fail()
  let changes = 0
  const counted = <T>(work: () => Promise<T>): Promise<T> =>
    ++changes >= nth ? Promise.reject(new Error('cut off')) : work()
  const failing: Moving = {
    ...moving,
    fence: (why) => counted(() => moving.fence(why)),
    restore: (...what) => counted(() => moving.restore(...what)),
  }
  return { ...store, moving: failing }
}

const fail = (): never => {
  throw new Error('memory can be moved')
}

test('cut off before any of its changes, it leaves nothing that the same import does not mend', async () => {
  const { path, items } = await exported()
  let isWhole = false
  for (let nth = 1; !isWhole; nth++) {
    const store = memory({ clock })
    isWhole = await importStore(failingFrom(store, nth), path).then(
      () => true,
      () => false,
    )
    if (!isWhole) await importStore(store, path)
    expect(await everything(store)).toEqual(items)
    expect(await fenceOf(store)).toBeUndefined()
  }
})

test('a store that holds something, or is fenced for another reason, is refused and left as it was', async () => {
  const { path } = await exported()
  const used = memory({ clock })
  await put(used, 'mine')
  const withEntry = memory({ clock })
  await appendTo(withEntry, 's')
  const fenced = memory({ clock })
  await fenced.moving?.fence('of somebody')
  for (const store of [used, withEntry, fenced]) {
    const before = [await everything(store), await fenceOf(store)]
    await expect(importStore(store, path)).rejects.toMatchObject({ code: 'STORE_NOT_EMPTY' })
    expect([await everything(store), await fenceOf(store)]).toEqual(before)
  }
})

test('a clock that is behind what the file holds is refused, and named', async () => {
  const { path } = await exported()
  const store = memory({ clock: () => after(clock(), seconds(-90)) })
  await expect(importStore(store, path)).rejects.toMatchObject({
    code: 'STORE_CLOCK_BEHIND',
    finding: 'one that is 90 s behind',
  })
  expect(await fenceOf(store)).toBeUndefined()
})

test('of several clocks the one that is furthest behind counts', async () => {
  const { path } = await exported()
  const store = memory({ clock })
  const moving = store.moving ?? fail()
  const clocks = [after(clock(), seconds(5)), after(clock(), seconds(-30))]
  const status = async () => ({ ...(await moving.status()), clocks })
  await expect(
    importStore({ ...store, moving: { ...moving, status } }, path),
  ).rejects.toMatchObject({ code: 'STORE_CLOCK_BEHIND', finding: 'one that is 30 s behind' })
})

test('a store that somebody used until the fence stood is refused, and given back', async () => {
  const { path } = await exported()
  const store = memory({ clock })
  const moving = store.moving ?? fail()
  const fence: Moving['fence'] = async (why) => {
    if (why !== undefined) await put(store, 'mine')
    await moving.fence(why)
  }
  await expect(importStore({ ...store, moving: { ...moving, fence } }, path)).rejects.toMatchObject(
    { code: 'STORE_NOT_EMPTY', finding: 'the key mine' },
  )
  expect([await everything(store), await fenceOf(store)]).toEqual([
    [{ key: 'mine', value: 'x' }],
    undefined,
  ])
})

test('while one file is imported another is refused, and the fence cannot be taken away', async () => {
  const [one, other] = [await exported(), await exported()]
  const store = memory({ clock })
  await expect(importStore(store, one.path, cutOff(2_000))).rejects.toThrow('cut off')
  const unfinished = { code: 'STORE_IMPORT_UNFINISHED' }
  await expect(importStore(store, other.path)).rejects.toMatchObject(unfinished)
  await expect(exportStore(store, scratchFile('b.export'))).rejects.toMatchObject(unfinished)
  const name = (await fenceOf(store))?.split(',')[0] ?? ''
  await expect(unfenceStore(store, name)).rejects.toMatchObject(unfinished)
})

test('an import that another one overtook stops: servers use the store by then', async () => {
  const { path } = await exported()
  const store = memory({ clock })
  const moving = store.moving ?? fail()
  let batches = 0
  const overtaken: Moving = {
    ...moving,
    restore: async (writes, streams) => {
      await moving.restore(writes, streams)
      if (writes.length <= 1 || ++batches !== 1) return
      await importStore(store, path)
      await put(store, 'k4499')
    },
  }
  await expect(importStore({ ...store, moving: overtaken }, path)).rejects.toThrow()
  expect(await everything(store)).toContainEqual({ key: 'k4499', value: 'x' })
  await put(store, 'a')
})

test('an import that was cut off at its very end leaves the fence of a later move alone', async () => {
  const { path } = await exported()
  const store = memory({ clock })
  const moving = store.moving ?? fail()
  const cutAtTheEnd: Moving = {
    ...moving,
    restore: async (writes, streams) => {
      if (writes.length === 1 && writes[0]?.value === undefined) throw new Error('cut off')
      await moving.restore(writes, streams)
    },
  }
  await expect(importStore({ ...store, moving: cutAtTheEnd }, path)).rejects.toThrow('cut off')
  await put(store, 'a')
  const { fence } = await exportStore(store, scratchFile('b.export'))
  await expect(importStore(store, path)).rejects.toMatchObject({ code: 'STORE_FENCED_OTHERWISE' })
  expect(await fenceOf(store)).toContain(fence)
  await unfenceStore(store, fence)
  await importStore(store, path)
  await put(store, 'a')
})

test.each([
  ['while it is filled', 'filling the store', 2_000],
  ['while it is compared', 'comparing', 1_000],
])('a fence that is gone %s ends the import: servers may use the store', async (_, doing, done) => {
  const { path } = await exported()
  const store = memory({ clock })
  let isLifted = false
  const lift = (progress: MoveProgress) => {
    if (isLifted || progress.doing !== doing || progress.done < done) return
    isLifted = true
    void store.moving?.fence(undefined)
    void put(store, 'k4499')
  }
  await expect(importStore(store, path, lift)).rejects.toMatchObject({ code: 'STORE_NOT_FENCED' })
  const found = await everything(store)
  expect(found).toContainEqual({ key: 'k4499', value: 'x' })
})

test('what a store lost since it was cut off is found, and the same import brings it', async () => {
  const { path, items } = await exported()
  const store = memory({ clock })
  await expect(importStore(store, path, cutOff(2_000))).rejects.toThrow('cut off')
  await store.moving?.restore([{ key: 'k1' }], [])
  await expect(importStore(store, path)).rejects.toMatchObject({ code: 'STORE_IMPORT_DIFFERS' })
  expect(await importStore(store, path)).toMatchObject({ keys: KEYS, continued: 0 })
  expect(await everything(store)).toEqual(items)
})

test('an import that is taken up again after its keys were forgotten begins anew', async () => {
  const { path, items } = await exported()
  const later = fakeClock(clock())
  const store = memory({ clock: later, uptime: later.uptime })
  await expect(importStore(store, path, cutOff(2_000))).rejects.toThrow('cut off')
  later.advance(hours(25))
  // A store forgets as it is written to.
  for (let i = 0; i < KEYS; i++) await store.moving?.restore([{ key: 'none' }], [])
  expect(await everything(store)).not.toContainEqual({ key: 'k4', value: '4' })
  expect(await importStore(store, path)).toMatchObject({ keys: KEYS, continued: 0 })
  expect(await everything(store)).toEqual(items)
})

test('what is not as in the file is found, and the store stays fenced', async () => {
  const { path } = await exported()
  const store = memory({ clock })
  const meddle = ({ doing, done }: MoveProgress) => {
    if (doing === 'filling the store' && done > KEYS) {
      void store.moving?.restore([{ key: 'k1', value: 'another' }], [])
    }
  }
  await expect(importStore(store, path, meddle)).rejects.toMatchObject({
    code: 'STORE_IMPORT_DIFFERS',
  })
  expect(await fenceOf(store)).toContain('import-')
})

test('a damaged file changes nothing', async () => {
  const { path } = await exported()
  const text = readFileSync(path, 'utf8')
  const store = memory({ clock })
  for (const damaged of [
    '',
    'notes\n',
    text.replace('"k1"', '"k2"'),
    text.slice(0, -1),
    text.slice(0, text.lastIndexOf('{')),
    `${text}["k","a","b"]\n`,
    text.replace('["k","k1","1"]\n', ''),
    text.replace('"format":1', '"format":2'),
  ]) {
    writeFileSync(path, damaged)
    await expect(importStore(store, path)).rejects.toMatchObject({ code: 'STORE_FILE_INVALID' })
    expect([await everything(store), await fenceOf(store)]).toEqual([[], undefined])
  }
  await expect(importStore(store, `${path}-none`)).rejects.toMatchObject({
    code: 'STORE_FILE_INVALID',
    finding: 'ENOENT',
  })
})
