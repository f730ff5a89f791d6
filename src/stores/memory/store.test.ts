import { describe, expect, test } from 'vitest'
import { after, days, instant, seconds } from '../../core/time.ts'
import { limiter } from '../../requests/limiter/typed-limiter.ts'
import { fakeClock, type OpenStore, storeContract } from '../../testing/index.ts'
import { memory, memoryItems } from './store.ts'

const CANNOT_FAIL = 'nothing lies between a memory store and its map that could fail'
const FORGETS = 'a memory store forgets when it is closed'

const open: OpenStore = async ({ clock, uptime }) => {
  const store = memory({ clock, uptime })
  // Two servers on one process's memory are two holders of the same store.
  const another = async () => ({ ...store, close: async () => {} })
  return { store, another, dispose: store.close }
}

describe('the store contract', () => {
  const skip = {
    'a position is never used twice, though the store was reopened in between': FORGETS,
    'what was answered is there after a reopen: values, expiries, lists and streams': FORGETS,
    'what was accepted before a close is there after a reopen': FORGETS,
    'a fence outlives the servers': FORGETS,
    'a commit that fails answers nobody, leaves nothing, and is over when its cause is':
      CANNOT_FAIL,
    'a read that fails fails the call, though the step caught it and went on': CANNOT_FAIL,
    'a reply that is lost after its commit is an unwell store to the caller, and the commit stays':
      CANNOT_FAIL,
    'a call that carries an id and is made again after a lost reply has its effect once':
      CANNOT_FAIL,
  }
  for (const { name, run, skipped } of storeContract(open, { skip })) {
    test(skipped === undefined ? name : `does not apply: ${name} (${skipped})`, run)
  }
})

test('a step runs before transact returns: nothing waits in a memory store', () => {
  let ran = false
  void memory().transact(() => {
    ran = true
    return { writes: [], appends: [], result: undefined }
  })
  expect(ran).toBe(true)
})

test('the clock of the system serves where none is given', async () => {
  const now = await memory().transact(({ now }) => ({ writes: [], appends: [], result: now }))
  expect(now).toBeGreaterThan(fakeClock('2024-01-01T00:00:00Z')())
})

test('expired keys leave as others are written, so that new keys cannot fill the memory', () => {
  const clock = fakeClock()
  const kept = memoryItems()
  let most = 0
  for (let i = 0; i < 10_000; i++) {
    clock.advance(seconds(1))
    const expiresAt = after(clock(), seconds(100))
    const moment = { now: clock(), lived: clock.uptime() }
    kept.apply({ key: `visitor:${i}`, value: '1', expiresAt }, moment)
    most = Math.max(most, kept.size())
  }
  expect(most).toBeLessThan(400)
})

describe('a clock that leaps and returns', () => {
  test('finds 50 of 50 emptied buckets empty, as it left them', async () => {
    const clock = fakeClock()
    const store = memory({ clock, uptime: clock.uptime })
    const orders = limiter({ store, limits: { Orders: { burst: 5, period: '1h' } } })
    const ids = Array.from({ length: 50 }, (_, i) => `client-${i}`)
    for (const id of ids) await orders.spend('Orders', id, { cost: 5 })
    const start = clock()
    clock.set(after(start, days(30)))
    for (let i = 0; i < 500; i++) await orders.spend('Orders', `other-${i}`)
    clock.set(start)
    const answers = await Promise.all(ids.map((id) => orders.spend('Orders', id)))
    expect(answers.filter(({ allowed }) => allowed)).toEqual([])
  })
})

describe('a scan', () => {
  const moment = { now: instant(0), lived: seconds(0) }
  const keysOf = ({ items }: { readonly items: readonly { readonly key: string }[] }) =>
    items.map(({ key }) => key)

  test('shows each key once, and none that is gone meanwhile', () => {
    const items = memoryItems()
    for (let i = 100; i < 400; i++) items.apply({ key: `k${i}`, value: 'x' }, moment)
    let page = items.scan('', 50)
    const shown = keysOf(page)
    for (let i = 150; i < 350; i++) items.apply({ key: `k${i}` }, moment)
    while (page.next !== undefined) {
      page = items.scan(page.next, 50)
      shown.push(...keysOf(page))
    }
    expect(shown).toEqual([...new Set(shown)])
    expect(shown).toHaveLength(100)
    expect(shown.at(-1)).toBe('k399')
  })

  test('of which more go on than are remembered begins anew', () => {
    const items = memoryItems()
    for (let i = 100; i < 200; i++) items.apply({ key: `k${i}`, value: 'x' }, moment)
    const { next: oldest = '' } = items.scan('', 10)
    const { next: newer = '' } = items.scan('', 10)
    for (let scan = 1; scan < 64; scan++) items.scan('', 1)
    expect(keysOf(items.scan(newer, 2))).toEqual(['k110', 'k111'])
    expect(keysOf(items.scan(oldest, 2))).toEqual(['k100', 'k101'])
  })
})
