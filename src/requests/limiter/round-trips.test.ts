/** How often each verb asks a remote store: once where its guess is right, and twice at most. */
import { describe, expect, test } from 'vitest'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock, pretendedCluster, remoteStore } from '../../testing/index.ts'
import { limiter } from './typed-limiter.ts'
import type { Limiter } from './verbs.ts'

const LIMITS = {
  Hits: { burst: 50, period: '1h' },
  Pages: { burst: 50, period: '1h' },
  Jobs: { atOnce: 9, heldFor: '1m' },
} as const

/** Two servers over one backend: each has seen only what it asked for itself. */
const servers = (isCluster = false) => {
  const clock = fakeClock()
  const backend = isCluster ? pretendedCluster(memory({ clock })) : memory({ clock })
  const open = () => {
    const store = remoteStore(backend, { clock })
    const gate: Limiter = limiter({ store, limits: LIMITS })
    const trips = async (call: () => Promise<unknown>): Promise<number> => {
      const before = store.trips()
      await call()
      return store.trips() - before
    }
    return { gate, trips }
  }
  return { here: open(), elsewhere: open() }
}

const hits = { limit: 'Hits', id: 'ann' }
const both = { charges: [hits, { limit: 'Pages', id: 'ann' }] }

/** `first` makes what the verb is asked about; then it is asked once more, warm. */
const VERBS: readonly [
  name: string,
  ask: (gate: Limiter, n: number) => Promise<unknown>,
  first?: (gate: Limiter, n: number) => Promise<unknown>,
][] = [
  ['check', (gate) => gate.check(hits)],
  ['spend', (gate) => gate.spend(hits)],
  ['spend of a batch', (gate) => gate.spend(both)],
  ['spend with an operation id', (gate, n) => gate.spend({ ...both, operationId: `${n}` })],
  ['refund, undated', (gate) => gate.refund(hits), (gate) => gate.spend(hits)],
  [
    'refund of what an operation charged, named',
    (gate, n) => gate.refund({ ...both, operationId: `${n}` }),
    (gate, n) => gate.spend({ ...both, operationId: `${n}` }),
  ],
  [
    'refund by bare operation id',
    (gate, n) => gate.refund({ operationId: `${n}` }),
    (gate, n) => gate.spend({ ...both, operationId: `${n}` }),
  ],
  ['reset', (gate) => gate.reset(both)],
  ['reset with an operation id', (gate, n) => gate.reset({ ...both, operationId: `${n}` })],
  ['acquire', (gate, n) => gate.acquire('Jobs', 'ann', { operationId: `${n}` })],
  ['placesLeft', (gate) => gate.placesLeft('Jobs', 'ann')],
  [
    'release',
    (gate, n) => gate.release(`${n}`),
    (gate, n) => gate.acquire('Jobs', 'ann', { operationId: `${n}` }),
  ],
]

describe('within one partition', () => {
  test.each(VERBS)('%s takes one round trip where it knows the keys', async (_, ask, first) => {
    const { here } = servers()
    await first?.(here.gate, 1)
    await ask(here.gate, 1)
    await first?.(here.gate, 2)
    expect(await here.trips(() => ask(here.gate, 2))).toBe(1)
  })

  test.each(VERBS)(
    '%s takes two at most after another server changed them',
    async (_, ask, first) => {
      const { here, elsewhere } = servers()
      await first?.(here.gate, 1)
      await first?.(here.gate, 2)
      await elsewhere.gate.spend({ ...both, operationId: 'other' })
      await elsewhere.gate.acquire('Jobs', 'ann')
      expect(await here.trips(() => ask(here.gate, 1))).toBeLessThanOrEqual(2)
    },
  )

  test.each(VERBS.filter(([, , first]) => first === undefined))(
    '%s takes two at most on a server that has seen nothing',
    async (_, ask) => {
      const { here, elsewhere } = servers()
      for (const n of [1, 2]) await ask(elsewhere.gate, n)
      expect(await here.trips(() => ask(here.gate, 3))).toBeLessThanOrEqual(2)
    },
  )

  test('a replay takes two at most where it was not seen before', async () => {
    const { here, elsewhere } = servers()
    await elsewhere.gate.spend({ ...both, operationId: 'a' })
    expect(
      await here.trips(() => here.gate.spend({ ...both, operationId: 'a' })),
    ).toBeLessThanOrEqual(2)
  })

  test('a release takes two on a server that did not give the place away: the id says where', async () => {
    const { here, elsewhere } = servers()
    const { place } = await elsewhere.gate.acquire('Jobs', 'ann')
    const trips = await here.trips(async () => {
      expect(await here.gate.release(place?.id ?? '')).toBe(true)
    })
    expect(trips).toBe(2)
  })

  test('a refund that names what was charged takes two on a server that did not see the spend', async () => {
    const { here, elsewhere } = servers()
    await elsewhere.gate.spend({ ...both, operationId: 'a' })
    expect(await here.trips(() => here.gate.refund({ ...both, operationId: 'a' }))).toBe(2)
  })

  test('only where an id that a caller chose leads costs a third, on a server that did not see it before', async () => {
    const { here, elsewhere } = servers()
    await elsewhere.gate.spend({ ...both, operationId: 'a' })
    expect(await here.trips(() => here.gate.refund({ operationId: 'a' }))).toBe(3)
    await elsewhere.gate.acquire('Jobs', 'ann', { operationId: 'a' })
    expect(await here.trips(() => here.gate.release('a'))).toBe(3)
  })
})

describe('across partitions', () => {
  /** All charges in partitions of their own: two legs. */
  const legs = { charges: [hits, { limit: 'Hits', id: 'bob' }] }

  test('a batch takes a trip for each leg and phase: what others changed, its checks have seen', async () => {
    const { here, elsewhere } = servers(true)
    await here.gate.spend(legs)
    expect(await here.trips(() => here.gate.spend(legs))).toBe(4)
    await elsewhere.gate.spend(legs)
    expect(await here.trips(() => here.gate.spend(legs))).toBe(4)
    expect(await here.trips(() => here.gate.check(legs))).toBe(2)
  })

  test('an operation id adds its claim', async () => {
    const { here } = servers(true)
    await here.gate.spend({ ...legs, operationId: 'a' })
    expect(await here.trips(() => here.gate.spend({ ...legs, operationId: 'b' }))).toBe(5)
  })

  test('a charge alone is one transaction as ever', async () => {
    const { here } = servers(true)
    await here.gate.spend(hits)
    expect(await here.trips(() => here.gate.spend(hits))).toBe(1)
  })
})
