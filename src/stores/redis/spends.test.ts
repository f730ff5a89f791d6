import { describe, expect, onTestFinished, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { everything } from '../../../test/support/everything.ts'
import { type Random, seeded } from '../../../test/support/random.ts'
import { remotePlace } from '../../../test/support/remote-stores.ts'
import { vectors } from '../../../test/support/vectors.ts'
import { type Charge, decideAll } from '../../core/decide.ts'
import { emissionInterval, type GcraLimit } from '../../core/gcra.ts'
import type { Item, Step, Store } from '../../core/store.ts'
import { type Instant, instant, millis, minutes, span } from '../../core/time.ts'
import { limiter } from '../../requests/limiter/typed-limiter.ts'
import { type FakeClock, fakeClock } from '../../testing/index.ts'
import { lastSeen } from '../remote/last-seen.ts'
import { openLine } from '../remote/line.ts'
import type { OptimistSettings } from '../remote/optimist.ts'
import { redisNames } from './names.ts'
import { withScriptedSpends } from './spends.ts'

/** What two servers make of the same buckets; for a while they disagree on one of them. */
const OLD = {
  Hits: { burst: 5, count: 1, period: '10s' },
  Days: { burst: 12, period: '1h' },
} as const
const NEW = { ...OLD, Hits: { burst: 9, count: 2, period: '10s' } } as const

type Gate = ReturnType<typeof open>
const open = (store: Store, limits: typeof OLD | typeof NEW) => limiter({ store, limits })

/** A moment: spends of one or two buckets at once, and now and then another verb. */
async function moment(gates: readonly Gate[], random: Random): Promise<readonly unknown[]> {
  const gate = random.pick(gates)
  const id = `id${random.below(3)}`
  const cost = random.below(4)
  const charges = [
    { limit: 'Hits', id, cost },
    { limit: 'Days', id },
  ] as const
  const verbs = [
    () => gate.spend({ charges: [{ limit: 'Hits', id, mode: 'try' }] }),
    () => gate.check('Hits', id, { cost }),
    () => gate.spend({ charges, operationId: `${random.below(10)}-${id}-${cost}` }),
    () => gate.refund('Hits', id, { cost }),
    () => gate.reset('Hits', id),
    // In a cluster, of two slots.
    () => gate.spend({ charges: [charges[0], { limit: 'Days', id: 'elsewhere' }], dated: true }),
  ]
  if (random.below(3) === 0) return [await random.pick(verbs)()]
  const spends = Array.from({ length: 1 + random.below(6) }, () => {
    const one = { limit: 'Hits' as const, id: `id${random.below(3)}`, cost: random.below(3) }
    const batch = { charges: [one, { ...one, limit: 'Days' as const }], dated: random.below(2) > 0 }
    return random.below(2) === 0 ? gate.spend(batch) : gate.spend(one)
  })
  return Promise.all(spends)
}

/** The same questions at the same times, whoever keeps the state; the clock steps both ways. */
async function history(store: Store, clock: FakeClock, seed: number): Promise<readonly unknown[]> {
  const random = seeded(seed)
  const gates = [open(store, OLD), open(store, OLD), open(store, NEW)].slice(0, 2 + (seed % 2))
  const answers: unknown[] = []
  for (let i = 0; i < 40; i++) {
    answers.push(await moment(gates, random))
    if (random.below(3) === 0) clock.advance(millis(random.below(8_000)))
    if (random.below(8) === 0) clock.set(instant(clock() + random.below(20_000_000) - 10_000_000))
  }
  return answers
}

async function bucketsOf(store: Store): Promise<readonly Item[]> {
  const items = await everything(store)
  // What remembers operations also names calls, by chance.
  return items.filter(({ key }) => key.startsWith('requests/'))
}

for (const kind of ['redis', 'cluster'] as const) {
  const place = await remotePlace(kind)
  describe.skipIf(place === undefined)(`on ${kind}, spends by the script`, () => {
    const start = async (clock: FakeClock, script = true) => {
      if (place === undefined) throw new Error('not run')
      await place.clear()
      const sums = { groups: 0, calls: 0, left: 0 }
      const onGroup = ({ calls, conflicts }: { calls: number; conflicts: number }) => {
        sums.groups += 1
        sums.calls += calls
        sums.left += conflicts
      }
      const store = place.open({ clock, uptime: clock.uptime, onGroup, script })
      onTestFinished(() => store.close())
      return { store, sums }
    }

    test('answer every history as the plain way does, in every field, and leave the same behind', async () => {
      let moved = 0
      let left = 0
      for (let seed = 0; seed < times(8, 300); seed++) {
        const [plainly, quickly] = [fakeClock(), fakeClock()]
        const plain = await start(plainly, false)
        expect(plain.store.transactSpends).toBeUndefined()
        const expected = await history(plain.store, plainly, seed)
        const kept = await bucketsOf(plain.store)
        const quick = await start(quickly)
        expect(await history(quick.store, quickly, seed), `seed ${seed}`).toEqual(expected)
        expect(await bucketsOf(quick.store), `seed ${seed}`).toEqual(kept)
        moved += quick.sums.calls - quick.sums.left
        left += quick.sums.left
      }
      // Both ways were gone: servers that disagree on a limit leave buckets that the script passes by.
      expect(moved).toBeGreaterThan(left)
      expect(left).toBeGreaterThan(0)
    })

    test('are refused by a fence, and go on once it is gone', async () => {
      const { store } = await start(fakeClock())
      const gate = open(store, OLD)
      expect((await gate.spend('Hits', 'ann')).remaining).toBe(4)
      await store.moving?.fence('of a test')
      await expect(gate.spend('Hits', 'ann')).rejects.toMatchObject({ code: 'STORE_FENCED' })
      await store.moving?.fence(undefined)
      expect((await gate.spend('Hits', 'ann')).remaining).toBe(3)
    })

    test('give the answers and TATs of the recorded traces', async () => {
      const clock = fakeClock()
      const { store } = await start(clock)
      for (const { id, limit, steps } of traces.slice(0, times(25, 300))) {
        const name = `requests/{${id}}/trace`
        for (const [i, step] of steps.entries()) {
          clock.set(instant(step.now))
          const found = await play(store, name, limit, step)
          if (found === undefined) continue
          expect(found.decision, `${id} step ${i}`).toMatchObject(step.expect ?? {})
          const tat = (n: number | null) => Math.max(n ?? 0, step.now)
          expect(tat(found.tat), `${id} step ${i}`).toBe(tat(step.tatAfter))
        }
      }
    })

    test('that are long between them travel apart, each answered as if it were alone', async () => {
      const { store, sums } = await start(fakeClock())
      const limit: GcraLimit = { kind: 'gcra', burst: 1, count: 1, period: minutes(1) }
      const spendAll = (batch: number) => {
        const keys = upTo(40).map((i) => `requests/{long}/${'x'.repeat(1_900)}${batch}-${i}`)
        const charges = keys.map((key): Charge => ({ key, limit, cost: 1, mode: 'spend' }))
        const interval = emissionInterval(limit)
        const spends = keys.map((key) => ({ key, cost: 1, burst: 1, interval }))
        return store.transactSpends?.(admit(charges), spends)
      }
      const twice = [...upTo(30), ...upTo(30)].map(spendAll)
      const answers = await Promise.all(twice)
      expect(answers).toEqual([...upTo(30).map(() => true), ...upTo(30).map(() => false)])
      expect(sums.groups).toBeGreaterThanOrEqual(5)
      expect(sums).toMatchObject({ calls: 60, left: 0 })
    })

    test('are never so quick that a spend with an operation id starves beside them', async () => {
      if (place === undefined) throw new Error('not run')
      await place.clear()
      const stores = [place.open(), place.open({ patience: minutes(2) })]
      onTestFinished(async () => {
        await Promise.all(stores.map((store) => store.close()))
      })
      const [near, far] = stores.map((store) =>
        limiter({ store, limits: { All: { burst: 50_000, count: 1, period: '24h' } } }),
      )
      let isOver = false
      let turns = 0
      const lanes = Array.from({ length: 4 }, async () => {
        while (!isOver) {
          const answer = await near?.spend('All', 'one')
          if (answer?.allowed) turns += 1
        }
      })
      for (let i = 0; i < 10; i++) await far?.spend('All', 'one', { operationId: `${i}` })
      isOver = true
      await Promise.all(lanes)
      const { remaining } = (await far?.check('All', 'one', { cost: 0 })) ?? {}
      expect(50_000 - Number(remaining)).toBe(turns + 10)
    })
  })
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

/** Whether all of the charges are admitted. */
const admit =
  (charges: readonly Charge[]): Step<boolean> =>
  (view) => {
    const { decision, kept } = decideAll(charges, view)
    const writes = kept.filter((write) => write !== undefined)
    return { writes, appends: [], result: decision.allowed }
  }

interface Trace {
  readonly id: string
  readonly limit: { burst: number; count: number; periodMicros: number }
  readonly steps: readonly {
    op: 'spend' | 'check' | 'refund' | 'reset'
    now: number
    cost: number
    tatAfter: number | null
    expect: { allowed: boolean; remaining: number; retryIn: number; resetIn: number } | null
  }[]
}
const { traces } = vectors<{ traces: readonly Trace[] }>('gcra/traces.json')

async function play(
  store: Store,
  key: string,
  { burst, count, periodMicros }: Trace['limit'],
  { op, cost }: Trace['steps'][number],
) {
  if (op === 'reset') {
    await store.transact(() => ({ writes: [{ key }], appends: [], result: undefined }))
    return undefined
  }
  const limit: GcraLimit = { kind: 'gcra', burst, count, period: span(periodMicros) }
  const charges: readonly Charge[] = [{ key, limit, cost, mode: op }]
  const step: Step<{ decision: unknown; tat: number }> = (view) => {
    const { decisions, kept } = decideAll(charges, view)
    const [decision] = decisions
    const value = kept[0]?.value ?? view.read(key)[0] ?? '0 0'
    const [seen = 0, used = 0] = value.split(' ').map(Number)
    const writes = kept.filter((write) => write !== undefined)
    return { writes, appends: [], result: { decision, tat: seen + used } }
  }
  const spend = { key, cost, burst, interval: emissionInterval(limit) }
  if (op === 'spend' && store.transactSpends) return store.transactSpends(step, [spend])
  return store.transact(step, [key])
}

const NOW: Instant = instant(1_700_000_000_000_000)
const AFTER = `${NOW} 30000000 0 2 30000000`
const AGREED = ['1700000000', '0', '1', null, AFTER]

/** Spends one of two on a server that answers what it is told to. */
function serverThat(run: () => Promise<unknown>, settings: OptimistSettings = {}) {
  const ordinary = {
    transact: async <R>(step: Step<R>) =>
      step({ now: NOW, read: (...keys) => keys.map(() => undefined) }).result,
    drained: async () => {},
  }
  const masters = async () => []
  const link = { call: run, run, masters, subscribe: () => () => {}, close: async () => {} }
  const thing = 'the store'
  const line = openLine({ thing, isAnswer: () => true })
  const names = redisNames('')
  const seen = lastSeen()
  const calls = withScriptedSpends({ ...settings, thing, link, line, names, seen, ordinary })
  const limit: GcraLimit = { kind: 'gcra', burst: 2, count: 2, period: minutes(1) }
  const step = admit([{ key: 'k', limit, cost: 1, mode: 'spend' }])
  const spend = { key: 'k', cost: 1, burst: 2, interval: emissionInterval(limit) }
  return () => calls.transactSpends?.(step, [spend])
}

describe('a script and a step', () => {
  const answering = (reply: unknown) => serverThat(async () => reply)()

  test('that agree answer', async () => {
    expect(await answering(AGREED)).toBe(true)
  })

  test.each([
    ['what was written', ['1700000000', '0', '1', null, `${NOW} 29999999 0 2 30000000`]],
    ['whether anything was', ['1700000000', '0', '0', null, null]],
    ['whether anything was to be', ['1700000000', '0', '1', AFTER.replace('30', '60'), AFTER]],
    ['the time', ['1700000000', '1', '1', null, AFTER]],
  ])('that disagree on %s answer nobody', async (_, reply) => {
    await expect(answering(reply)).rejects.toThrow('the script of spends and core/gcra.ts disagree')
  })

  test('of which the script leaves the call to the other answer by the ordinary way', async () => {
    expect(await answering(['1700000000', '0', '-', 'other', null])).toBe(true)
  })
})

describe('a spend that waits for its turn', () => {
  test('for longer than its patience is told so, and is not made', async () => {
    let runs = 0
    let release = (_: unknown) => {}
    const held = new Promise<unknown>((resolve) => {
      release = resolve
    })
    let running = 0
    const spend = serverThat(
      () => {
        runs += 1
        return held
      },
      { uptime: () => span(running), patience: millis(100) },
    )
    const first = spend()
    await new Promise(setImmediate)
    const second = spend()
    running += millis(100)
    release(AGREED)
    expect(await first).toBe(true)
    await expect(second).rejects.toMatchObject({ code: 'STORE_CONTENDED' })
    expect(runs).toBe(1)
  })
})
