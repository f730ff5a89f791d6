/** Append-only streams, page by page: ledger, audit history, alerts. */
import assert from 'node:assert/strict'
import type { Entry, Store } from '../../core/store.ts'
import { append, type CaseBodies, scanKeys, upTo } from './case.ts'

/** Appends that two servers have under way at once: a multiple of three. */
const IN_FLIGHT = 150

export const streamCases: CaseBodies = {
  'a stream is read in the order of its appends, at growing positions': async ({ store }) => {
    assert.deepEqual(await store.read('s', 0, 10), [])
    await append(store, 's', 'one', 'two')
    await append(store, 's', 'three')
    const entries = await store.read('s', 0, 10)
    assert.deepEqual(
      entries.map(({ entry }) => entry),
      ['one', 'two', 'three'],
    )
    assertGrowing(entries)
  },

  'pages of a stream join without gap or overlap, and end empty': async ({ store }) => {
    await append(store, 's', ...upTo(25).map(String))
    const whole = await store.read('s', 0, 100)
    assert.deepEqual(await follow(store, 's', 0, 10), whole)
    assert.deepEqual(await follow(store, 's', 0, 5), whole)
    assert.deepEqual(await store.read('s', whole.at(-1)?.position ?? 0, 10), [])
  },

  'streams do not see each other, whatever their names share': async ({ store }) => {
    await append(store, 'a', '1')
    await append(store, 'a:b', '2')
    await append(store, 'A', '3')
    await append(store, 'a', '4')
    const entriesOf = async (stream: string) =>
      (await store.read(stream, 0, 10)).map(({ entry }) => entry)
    assert.deepEqual(await entriesOf('a'), ['1', '4'])
    assert.deepEqual(await entriesOf('a:b'), ['2'])
    assert.deepEqual(await entriesOf('A'), ['3'])
    assert.deepEqual(await scanKeys(store, 10), [])
  },

  'trim forgets what lies below, and nothing else': async ({ store }) => {
    await append(store, 's', ...upTo(10).map(String))
    await append(store, 'other', 'stays')
    const seventh = (await store.read('s', 0, 10))[7]
    await store.trim('s', seventh?.position ?? 0)
    const kept = await store.read('s', 0, 10)
    assert.deepEqual(
      kept.map(({ entry }) => entry),
      ['7', '8', '9'],
    )
    assert.deepEqual(kept[0], seventh)
    assert.equal((await store.read('other', 0, 10)).length, 1)
    await store.trim('s', 0)
    await store.trim('no such stream', 1_000_000)
    assert.deepEqual(await store.read('s', 0, 10), kept)
  },

  'a position is never used twice, though the stream was trimmed away whole': async ({ store }) => {
    await append(store, 's', 'one', 'two')
    const last = (await store.read('s', 0, 10)).at(-1)?.position ?? 0
    await store.trim('s', last + 1)
    assert.deepEqual(await store.read('s', 0, 10), [])
    await append(store, 's', 'three')
    assertGrowing([{ position: last, entry: 'two' }, ...(await store.read('s', last, 10))])
    assert.equal((await store.read('s', last, 10)).length, 1)
  },

  'a position is never used twice, though the store was reopened in between': async ({
    store,
    reopen,
  }) => {
    await append(store, 's', 'one', 'two')
    const last = (await store.read('s', 0, 10)).at(-1)?.position ?? 0
    await store.trim('s', last + 1)
    await store.close()
    const again = await reopen()
    await append(again, 's', 'three')
    const [entry] = await again.read('s', 0, 10)
    assert.ok((entry?.position ?? 0) > last)
  },

  'a reader that follows a stream by its positions misses nothing while two servers append':
    async ({ store, another }) => {
      const other = await another()
      const seen: Entry[] = []
      const catchUp = async () => {
        seen.push(...(await follow(other, 's', seen.at(-1)?.position ?? 0, 7)))
      }
      const appends = upTo(60).map(async (i) => {
        await append(i % 2 === 0 ? store : other, 's', String(i))
        if (i % 5 === 0) await store.read('s', 0, 10)
      })
      for (const appended of appends) {
        await appended
        await catchUp()
      }
      await catchUp()
      assertGrowing(seen)
      const entries = seen.map(({ entry }) => Number(entry)).toSorted((a, b) => a - b)
      assert.deepEqual(entries, upTo(60))
    },

  'no position becomes visible after a larger one, however many appends are in flight': async ({
    store,
    another,
  }) => {
    const servers = [store, await another()]
    let appending = true
    const watch = async (server: Store): Promise<readonly Entry[]> => {
      const seen: Entry[] = []
      const catchUp = async () => {
        seen.push(...(await follow(server, 's', seen.at(-1)?.position ?? 0, 11)))
      }
      while (appending) {
        await catchUp()
        // Pages may come at once: whoever appends must have a turn.
        await new Promise(setImmediate)
      }
      await catchUp()
      return seen
    }
    const watching = Promise.allSettled(servers.flatMap((server) => [watch(server), watch(server)]))
    const appends = upTo(IN_FLIGHT).map((i) => appendAmongOthers(servers[i % 2] ?? store, i))
    const appended = await Promise.allSettled(appends)
    appending = false
    const watched = await watching
    for (const { status } of appended) assert.equal(status, 'fulfilled')
    const whole = await store.read('s', 0, 10 * IN_FLIGHT)
    assert.equal(new Set(whole.map(({ entry }) => entry)).size, 2 * IN_FLIGHT)
    assertGrowing(whole)
    // What came late would be in the whole and missing here.
    for (const seen of watched) assert.deepEqual(seen, { status: 'fulfilled', value: whole })
  },
}

/** Appends of very different weight, on keys that all of them change. */
const appendAmongOthers = (store: Store, i: number): Promise<void> =>
  store.transact((view) => {
    const keys = upTo(1 + (i % 7) * 5).map((j) => `weight:${j}`)
    const writes = view.read(...keys).map((value, j) => ({
      key: keys[j] ?? '',
      value: String(Number(value ?? 0) + 1),
    }))
    const appends = upTo(1 + (i % 3)).map((j) => ({ stream: 's', entry: `${i}.${j}` }))
    return { writes, appends, result: undefined }
  })

async function follow(
  store: Store,
  stream: string,
  after: number,
  limit: number,
): Promise<Entry[]> {
  const entries: Entry[] = []
  for (;;) {
    const page = await store.read(stream, entries.at(-1)?.position ?? after, limit)
    assert.ok(page.length <= limit)
    entries.push(...page)
    if (page.length < limit) return entries
  }
}

function assertGrowing(entries: readonly Entry[]): void {
  for (const [i, { position }] of entries.entries()) {
    assert.ok(Number.isSafeInteger(position) && position > 0)
    const before = entries[i - 1]
    if (before !== undefined) assert.ok(position > before.position)
  }
}
