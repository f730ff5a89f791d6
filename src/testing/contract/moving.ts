/** A store as a whole: fenced, shown and put back, as those do who move it. */
import assert from 'node:assert/strict'
import type { Moving, Store, StreamHead, View } from '../../core/store.ts'
import { after, days, hours } from '../../core/time.ts'
import { append, type CaseBodies, look, scanItems, upTo, write } from './case.ts'

const WHY = 'moved to another store'

const fenced = { code: 'STORE_FENCED' }

export const movingCases: CaseBodies = {
  'a fenced store takes no call, on any server, until the fence is gone': async ({
    store,
    another,
  }) => {
    const other = await another()
    await write(store, { key: 'a', value: '1' })
    await append(store, 's', 'one')
    // Both have used the store before: nothing that they remember may let them through.
    await look(other, 'a')
    await movingOf(other).fence(WHY)
    for (const server of [store, other]) {
      assert.equal((await movingOf(server).status()).fence, WHY)
      await assert.rejects(write(server, { key: 'a', value: '2' }), fenced)
      await assert.rejects(append(server, 's', 'two'), fenced)
      await assert.rejects(look(server, 'a'), fenced)
      await assert.rejects(server.transact(glance, ['a'], 'look'), fenced)
      await assert.rejects(server.trim('s', 100), fenced)
      assert.deepEqual([...(await scanItems(server, 10))], [['a', '1']])
      assert.equal((await server.read('s', 0, 10)).length, 1)
    }
    await movingOf(store).fence(undefined)
    assert.equal((await movingOf(other).status()).fence, undefined)
    await write(other, { key: 'a', value: '2' })
    assert.deepEqual(await look(store, 'a'), ['2'])
  },

  'a fence that is put up while servers write leaves nothing under way': async ({
    store,
    another,
  }) => {
    const other = await another()
    const writing = Promise.allSettled(
      upTo(60).map((i) => write(i % 2 === 0 ? store : other, { key: `k${i}`, value: String(i) })),
    )
    await movingOf(other).fence(WHY)
    const before = await scanItems(store, 100)
    const written = await writing
    assert.deepEqual(await scanItems(store, 100), before)
    for (const [i, { status }] of written.entries()) {
      assert.equal(before.has(`k${i}`), status === 'fulfilled')
    }
    await movingOf(other).fence(undefined)
  },

  'a fence outlives the servers': async ({ store, reopen }) => {
    await movingOf(store).fence(WHY)
    await store.close()
    const again = await reopen()
    assert.equal((await movingOf(again).status()).fence, WHY)
    await assert.rejects(write(again, { key: 'a', value: '1' }), fenced)
    await movingOf(again).fence(undefined)
  },

  'streams are listed with the last position that each gave': async ({ store }) => {
    assert.deepEqual(await streamsOf(store), [])
    for (const i of upTo(7)) await append(store, `s${i}`, ...upTo(i + 1).map(String))
    const expected = await Promise.all(
      upTo(7).map(async (i) => {
        const entries = await store.read(`s${i}`, 0, 10)
        return { stream: `s${i}`, last: entries.at(-1)?.position ?? 0 }
      }),
    )
    assert.deepEqual(await streamsOf(store), expected)
  },

  'a stream that was trimmed to nothing is listed with the last position that it gave': async ({
    store,
  }) => {
    await movingOf(store).restore([], [{ stream: 't', last: 9, entries: [] }])
    for (const i of upTo(2)) await append(store, 's', String(i))
    const [, { position: last = 0 } = {}] = await store.read('s', 0, 10)
    await store.trim('s', last + 1)
    assert.deepEqual(await streamsOf(store), [
      { stream: 's', last },
      { stream: 't', last: 9 },
    ])
    await append(store, 't', 'new')
    const [added] = await store.read('t', 0, 10)
    assert.deepEqual((await streamsOf(store))[1], { stream: 't', last: added?.position })
  },

  'what is put back is as it was: values, lists, positions; and streams go on beyond them': async ({
    store,
  }) => {
    const moving = movingOf(store)
    await moving.fence(WHY)
    const entries = [4, 5, 9].map((position) => ({ position, entry: `at ${position}` }))
    const writes = [
      { key: 'a', value: '1' },
      { key: 'list#b', value: '' },
    ]
    const streams = [
      { stream: 's', last: 12, entries },
      { stream: 't', last: 9, entries },
    ]
    await moving.restore(writes, streams)
    // Whoever was cut off does the last part again.
    await moving.restore(writes, streams)
    await moving.fence(undefined)
    assert.deepEqual(await look(store, 'a', 'list#b'), ['1', ''])
    assert.deepEqual(await store.range('list', '', 10), [{ key: 'list#b', value: '' }])
    for (const stream of ['s', 't']) assert.deepEqual(await store.read(stream, 0, 10), entries)
    for (const [stream, last] of [
      ['s', 12],
      ['t', 9],
    ] as const) {
      await append(store, stream, 'new')
      const [added, ...more] = await store.read(stream, 9, 10)
      assert.deepEqual(more, [])
      assert.ok((added?.position ?? 0) > last)
    }
    await moving.restore([{ key: 'list#b' }], [])
    assert.deepEqual(await store.range('list', '', 10), [])
  },

  'what is put back twice at once, as a scan may show it twice, is there once': async ({
    store,
  }) => {
    const moving = movingOf(store)
    const head = { stream: 's', last: 3, entries: [{ position: 3, entry: 'at 3' }] }
    await moving.restore(
      [{ key: 'a', value: '1' }, { key: 'b', value: '1' }, { key: 'a', value: '2' }, { key: 'b' }],
      [head, head],
    )
    assert.deepEqual(await look(store, 'a', 'b'), ['2', undefined])
    assert.deepEqual(await store.read('s', 0, 10), head.entries)
  },

  'a stream of which nothing is left goes on beyond its last position': async ({ store }) => {
    const moving = movingOf(store)
    await moving.restore([], [{ stream: 's', last: 7, entries: [] }])
    await moving.restore([], [{ stream: 's', last: 7, entries: [] }])
    assert.deepEqual(await store.read('s', 0, 10), [])
    await append(store, 's', 'new')
    assert.ok(((await store.read('s', 0, 10))[0]?.position ?? 0) > 7)
  },

  'the scan shows when a key may be forgotten, as it was written or put back': async ({
    store,
    clock,
  }) => {
    const expiresAt = after(clock(), days(1))
    await write(store, { key: 'a', value: '1', expiresAt }, { key: 'b', value: '2' })
    await movingOf(store).restore([{ key: 'c', value: '3', expiresAt }], [])
    const shown = new Map<string, number | undefined>()
    let cursor = ''
    do {
      const { items, next = '' } = await store.scan(cursor, 10)
      for (const item of items) shown.set(item.key, item.expiresAt)
      cursor = next
    } while (cursor !== '')
    assert.equal(shown.get('b'), undefined)
    for (const key of ['a', 'c']) {
      // A store on a server counts down by the server's clock, while ours stands still.
      const off = Math.abs((shown.get(key) ?? 0) - expiresAt)
      assert.ok(off < hours(1), `${key} is off by ${off} µs`)
    }
  },
}

const glance = (view: View) => ({ writes: [], appends: [], result: view.read('a') })

function movingOf({ moving }: Store): Moving {
  assert.ok(moving, 'this case needs `moving`: give it, or skip the case by name with a reason')
  return moving
}

async function streamsOf(store: Store): Promise<readonly StreamHead[]> {
  const found = new Map<string, StreamHead>()
  let cursor = ''
  do {
    const { streams, next = '' } = await movingOf(store).streams(cursor, 3)
    for (const head of streams) found.set(head.stream, head)
    cursor = next
  } while (cursor !== '')
  return [...found.values()].toSorted((a, b) => (a.stream < b.stream ? -1 : 1))
}
