/** What batches across partitions keep to, whatever order their legs happen in and whatever is lost. */
import { expect, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { type Random, seeded } from '../../../test/support/random.ts'
import { scheduler } from '../../../test/support/scheduled-store.ts'
import { seconds, span } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock, pretendedCluster } from '../../testing/index.ts'
import type { Answer, Ask } from './charge.ts'
import { limiter } from './typed-limiter.ts'

const BURST = 5
const WHO = ['ann', 'bob', 'cid'] as const
const LIMITS = { Hits: { burst: BURST, count: 1, period: '10s' } } as const

interface Operation {
  readonly id: string
  readonly charges: readonly Ask[]
}

/** An id stands for one question throughout: a retry is the same call again. */
const operations = (random: Random, count: number): readonly Operation[] =>
  Array.from({ length: count }, (_, n) => ({
    id: `op-${n}`,
    charges: WHO.filter((_, i) => i === n % 3 || random.below(2) === 0).map((id, i) => ({
      limit: 'Hits',
      id,
      cost: 1 + random.below(3),
      ...(i > 0 && random.below(6) === 0 ? { mode: 'try' as const } : {}),
    })),
  }))

/** Servers that come, ask, and sometimes stop in the middle, over one store that loses some calls. */
const world = (seed: number, isWell = false) => {
  const random = seeded(seed)
  const clock = fakeClock()
  const mishaps = {
    lostCalls: random.below(12),
    lostReplies: random.below(12),
    lateCalls: random.below(12),
  }
  const play = scheduler(pretendedCluster(memory({ clock })), random, mishaps)
  if (isWell) play.heal()
  const open = () => {
    const { store, stop } = play.server()
    return { gate: limiter({ store, limits: LIMITS }), stop }
  }
  return { random, clock, play, open }
}

const costOf = ({ charges }: Operation, who: string, answer: Answer): number => {
  const at = charges.findIndex(({ id }) => id === who)
  return answer.charges[at]?.allowed ? (charges[at]?.cost ?? 0) : 0
}

/** Asks for all at once, some of them twice, and lets a server stop now and then. */
const turmoil = async (seed: number) => {
  const { random, clock, play, open } = world(seed)
  const asked = operations(random, 4 + random.below(5))
  const admitted = new Map<string, Answer>()
  const calls: Promise<void>[] = []
  // No two claims are made at one time, and no bucket gains by it.
  const tick = () => clock.advance(span(1))
  for (let n = 0; n < 12; n++) {
    const { gate, stop } = open()
    const operation = random.pick(asked)
    const call = gate
      .spend({ charges: operation.charges, operationId: operation.id })
      .then((answer) => {
        if (answer.allowed) admitted.set(operation.id, answer)
      })
      .catch(() => undefined)
    if (random.below(4) === 0) setImmediate(stop)
    else calls.push(call)
    if (random.below(3) === 0) await play.drain(tick)
  }
  await play.drain(tick)
  await Promise.all(calls)
  return { random, clock, play, open, asked, admitted }
}

test('an operation charges every bucket once or none, once it has been asked for without mishap', async () => {
  for (let seed = 1; seed <= times(300, 6_000); seed++) {
    const { clock, play, open, asked, admitted } = await turmoil(seed)
    play.heal()
    const { gate } = open()
    const last = new Map<string, Answer>()
    for (const operation of asked) {
      const call = gate.spend({ charges: operation.charges, operationId: operation.id })
      await play.drain()
      const answer = await call
      last.set(operation.id, answer)
      // Whoever was let in once was let in.
      if (admitted.has(operation.id)) expect([seed, answer.allowed]).toEqual([seed, true])
    }
    // What is given back is less what time forgave: the microseconds of the ticks, made up for here.
    clock.advance(seconds(1))
    for (const who of WHO) {
      const charged = asked.reduce((sum, operation) => {
        const answer = last.get(operation.id)
        return answer?.allowed ? sum + costOf(operation, who, answer) : sum
      }, 0)
      const check = gate.check({ limit: 'Hits', id: who, cost: 0 })
      await play.drain()
      expect([seed, who, (await check).remaining]).toEqual([seed, who, BURST - charged])
    }
  }
})

test('never more is admitted than burst and rate allow, while time passes and spends are given back', async () => {
  for (let seed = 1; seed <= times(300, 6_000); seed++) {
    const { random, clock, play, open } = world(seed)
    const start = clock()
    const asked = operations(random, 8)
    const admitted = new Map<string, Map<string, number>>()
    const unnamed = new Map<string, number>()
    const refunded = new Set<string>()
    const tick = () => {
      if (random.below(3) === 0) clock.advance(seconds(random.below(6)))
    }
    for (let n = 0; n < 30; n++) {
      const { gate, stop } = open()
      const operation = random.pick(asked)
      const { charges, id } = operation
      const turn = random.below(10)
      const call =
        turn < 6
          ? gate.spend({ charges, operationId: id }).then((answer) => {
              if (!answer.allowed) return
              const costs = WHO.map((who) => [who, costOf(operation, who, answer)] as const)
              admitted.set(id, new Map(costs))
            })
          : turn < 8
            ? gate.spend({ charges }).then((answer) => {
                if (!answer.allowed) return
                for (const who of WHO) {
                  unnamed.set(who, (unnamed.get(who) ?? 0) + costOf(operation, who, answer))
                }
              })
            : gate.refund({ operationId: id }).then(() => undefined)
      // Whether it was answered or not, it may have given back.
      if (turn >= 8) refunded.add(id)
      void call.catch(() => undefined)
      if (random.below(6) === 0) setImmediate(stop)
      if (random.below(2) === 0) await play.drain(tick)
    }
    await play.drain(tick)
    const passed = Math.floor((clock() - start) / seconds(10))
    for (const who of WHO) {
      let sum = unnamed.get(who) ?? 0
      for (const [id, costs] of admitted) if (!refunded.has(id)) sum += costs.get(who) ?? 0
      expect([seed, who, Math.max(sum, BURST + passed)]).toEqual([seed, who, BURST + passed])
    }
  }
})

test('without operation ids too, batches at once charge every bucket or none', async () => {
  for (let seed = 1; seed <= times(200, 5_000); seed++) {
    const { random, play, open } = world(seed, true)
    const asked = operations(random, 8)
    const calls = asked.map((operation) => ({
      operation,
      answer: open().gate.spend({ charges: operation.charges }),
    }))
    await play.drain()
    for (const who of WHO) {
      let charged = 0
      for (const { operation, answer } of calls) {
        const said = await answer
        if (said.allowed) charged += costOf(operation, who, said)
      }
      const check = open().gate.check({ limit: 'Hits', id: who, cost: 0 })
      await play.drain()
      expect([seed, who, (await check).remaining]).toEqual([seed, who, BURST - charged])
    }
  }
})
