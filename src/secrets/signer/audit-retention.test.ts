import { describe, expect, onTestFinished, test } from 'vitest'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import { answer, type Store } from '../../core/store.ts'
import { after, days, type Instant, seconds, span } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { sqlite } from '../../stores/sqlite/index.ts'
import { type FakeClock, fakeClock } from '../../testing/index.ts'
import { audit, readAudit } from './audit.ts'
import { trimAudit } from './audit-retention.ts'
import { SHARDS, secretName } from './shards.ts'

const KEEP = days(90)

/** So many entries at one moment. */
const note = (store: Store, count: number, at?: Instant, shard = 'a'): Promise<void> =>
  store.transact(({ now }) => ({
    writes: [],
    appends: Array.from({ length: count }, () =>
      audit(at ?? now, { event: 'signed', record: secretName(shard, 'domain', 'ab') }),
    ),
    result: undefined,
  }))

const kept = async (store: Store): Promise<number> =>
  (await readAudit(store, '', 9_999)).entries.length

const backends: Readonly<Record<string, (clock: FakeClock) => Store>> = {
  memory: (clock) => memory({ clock }),
  sqlite: (clock) => {
    const store = sqlite({ path: scratchFile(), clock })
    onTestFinished(() => store.close())
    return store
  },
}

for (const [name, open] of Object.entries(backends)) {
  describe(name, () => {
    test('what is older than the span goes, by the time of the store, and the rest stays', async () => {
      const clock = fakeClock()
      const store = open(clock)
      await note(store, 3)
      clock.advance(days(1))
      await note(store, 2)
      clock.advance(span(KEEP - days(1)))
      expect(await trimAudit(store, KEEP)).toBe(0)
      expect(await kept(store)).toBe(5)
      clock.advance(seconds(1))
      expect(await trimAudit(store, KEEP)).toBe(3)
      expect(await kept(store)).toBe(2)
      clock.advance(days(1))
      expect(await trimAudit(store, KEEP)).toBe(2)
      expect(await kept(store)).toBe(0)
      expect(await trimAudit(store, KEEP)).toBe(0)
    })

    test('a place is not used again, so a reader goes on where it was', async () => {
      const clock = fakeClock()
      const store = open(clock)
      await note(store, 3)
      const last = (await readAudit(store, '', 3)).end
      clock.advance(days(91))
      await trimAudit(store, KEEP)
      await note(store, 1)
      expect((await readAudit(store, last, 3)).entries).toHaveLength(1)
    })

    test('several signers may trim at once', async () => {
      const clock = fakeClock()
      const store = open(clock)
      await note(store, 700)
      clock.advance(days(91))
      await note(store, 5)
      await Promise.all([trimAudit(store, KEEP), trimAudit(store, KEEP)])
      expect(await kept(store)).toBe(5)
    })

    test('other streams are left alone', async () => {
      const other = secretName('a', 'other')
      const clock = fakeClock()
      const store = open(clock)
      await store.transact(() => ({
        writes: [],
        appends: [{ stream: other, entry: 'x' }],
        result: undefined,
      }))
      await note(store, 1)
      clock.advance(days(91))
      await trimAudit(store, KEEP)
      expect(await store.read(other, 0, 10)).toHaveLength(1)
    })

    test('a signer has its turn while a backlog goes', async () => {
      const clock = fakeClock()
      const store = open(clock)
      for (let i = 0; i < 5; i++) await note(store, 2_000)
      clock.advance(days(91))
      const order: string[] = []
      const trimmed = trimAudit(store, KEEP).then(() => order.push('trimmed'))
      await store.transact(() => answer(undefined)).then(() => order.push('signed'))
      await trimmed
      expect(order).toEqual(['signed', 'trimmed'])
    })
  })
}

test('no bite is larger than 500 entries, nor a call than 20 bites', async () => {
  const clock = fakeClock()
  const store = memory({ clock })
  for (let i = 0; i < 6; i++) await note(store, 2_000)
  clock.advance(days(91))
  const left: number[] = []
  const watched: Store = {
    ...store,
    trim: async (stream, before) => {
      const count = (await store.read(stream, 0, 10_000)).filter((entry) => entry.position < before)
      left.push(count.length)
      return store.trim(stream, before)
    },
  }
  expect(await trimAudit(watched, KEEP)).toBe(10_000)
  expect(left).toEqual(Array.from({ length: 20 }, () => 500))
  expect(await trimAudit(watched, KEEP)).toBe(2_000)
  expect(await kept(store)).toBe(0)
})

test('shards with a backlog take turns, and a shard without one is looked at once', async () => {
  const clock = fakeClock()
  const store = memory({ clock })
  for (let i = 0; i < 6; i++) await note(store, 2_000, undefined, '0')
  for (const shard of SHARDS.slice(1, 5)) await note(store, 600, undefined, shard)
  clock.advance(days(91))
  const read: string[] = []
  const watched: Store = {
    ...store,
    read: (stream, ...page) => {
      read.push(stream)
      return store.read(stream, ...page)
    },
  }
  expect(await trimAudit(watched, KEEP)).toBe(12 * 500 + 4 * 600)
  expect(read.slice(SHARDS.length)).toHaveLength(20)
  read.length = 0
  await trimAudit(watched, KEEP)
  expect(read.filter((stream) => stream.includes('{3}'))).toHaveLength(1)
})

test('a clock that stepped back keeps what is behind for too long, never too short', async () => {
  const clock = fakeClock()
  const store = memory({ clock })
  await note(store, 1)
  await note(store, 1, after(clock(), days(10)))
  await note(store, 1)
  clock.advance(days(91))
  expect(await trimAudit(store, KEEP)).toBe(1)
  expect(await kept(store)).toBe(2)
  clock.advance(days(10))
  expect(await trimAudit(store, KEEP)).toBe(2)
})

test('an entry from the future, of a clock that was ahead, does not keep all that follows', async () => {
  const clock = fakeClock()
  const store = memory({ clock })
  await note(store, 1, after(clock(), days(3_650)))
  await note(store, 5)
  clock.advance(days(91))
  await note(store, 2)
  expect(await trimAudit(store, KEEP)).toBe(6)
  expect(await kept(store)).toBe(2)
})

test('a trim that failed is made up for by the next', async () => {
  const clock = fakeClock()
  const store = memory({ clock })
  await note(store, 3)
  clock.advance(days(91))
  await note(store, 1)
  const failing: Store = { ...store, trim: () => Promise.reject(new Error('the disk')) }
  await expect(trimAudit(failing, KEEP)).rejects.toThrow('the disk')
  expect(await kept(store)).toBe(4)
  expect(await trimAudit(store, KEEP)).toBe(3)
})
