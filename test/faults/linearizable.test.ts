/**
 * Several processes, whose clocks are minutes apart and of which one is killed, ask the same buckets and the
 * same plan: what they were told could have come of the same calls one after another. The store's clock decides.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { ServiceKind } from '../../scripts/services.js'
import type { GcraLimit } from '../../src/core/gcra.ts'
import { minutes, seconds } from '../../src/core/time.ts'
import { startChild } from '../support/child.ts'
import { times } from '../support/counts.ts'
import { findFaketime } from '../support/faketime.ts'
import {
  type BucketAsk,
  type BucketTold,
  type BudgetAsk,
  type BudgetTold,
  bucketModel,
  budgetModel,
  type StoreTimed,
} from '../support/history-models.ts'
import { linearize, type TimedCall } from '../support/linearizable.ts'
import { type Random, seeded } from '../support/random.ts'
import { type RemotePlace, remotePlace } from '../support/remote-stores.ts'
import { scratchFile } from '../support/scratch-file.ts'

const setClock = findFaketime()
if (typeof setClock === 'string') console.log(`headgate: all clocks are right here: ${setClock}`)
const CLOCKS = ['-7m', '+0', '+11m']

const LIMIT: GcraLimit = { kind: 'gcra', burst: 12, count: 12, period: seconds(3) }
const AMOUNT = 300n
const HOLD_FOR = seconds(1)
const SETTINGS = {
  payer: '0.0.2',
  unit: { name: 'HBAR', decimals: 8 },
  window: { length: minutes(525_600), align: 'epoch' },
  total: 1_000_000n,
  tiers: { BASIC: AMOUNT, EXTENDED: AMOUNT, PRIVILEGED: AMOUNT },
  linkIp: false,
  holdFor: HOLD_FOR,
  operator: { minBalance: 0n, maxAge: minutes(10), stale: 'ignore' },
}

/** What one process asks, side by side; lane by lane one after another. */
type Lanes<Ask> = readonly (readonly Ask[])[]

interface Faults {
  /** Of the first process, on the way: so many milliseconds after it decided something. */
  readonly killedIn?: number
  readonly isStale?: boolean
}

/** What the processes noted down. What none of them sent did not happen. */
async function record<Ask, Answer>(
  place: RemotePlace,
  processes: readonly Lanes<Ask>[],
  { killedIn, isStale = false }: Faults,
): Promise<readonly TimedCall<Ask & StoreTimed, Answer>[]> {
  await place.clear()
  const started = processes.map((lanes, i) => {
    const [asks, notes] = [scratchFile('asks.json'), scratchFile('notes')]
    // What a script has decided is not known of a process that was killed before it heard of it.
    const options = { script: killedIn === undefined }
    const limit = { burst: LIMIT.burst, count: LIMIT.count, period: '3s' }
    const work = {
      ...{ lanes, limit, settings: SETTINGS, options, isStale },
      ...(i === 0 && { killedIn }),
    }
    writeFileSync(asks, JSON.stringify(work, asDigits))
    const env = typeof setClock === 'string' ? {} : setClock(CLOCKS[i % CLOCKS.length] ?? '+0')
    const args = [place.url, place.name, asks, notes]
    return { child: startChild('test/faults/children/history-client.js', args, env), notes }
  })
  const ends = await Promise.all(started.map(({ child }) => child.ended))
  const asMeant = started.map((_, i) => (i === 0 && killedIn !== undefined ? 'SIGKILL' : 0))
  expect(ends).toEqual(asMeant)
  return started.flatMap(({ notes }) => callsIn<Ask, Answer>(readFileSync(notes, 'utf8')))
}

const asDigits = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? `${value}n` : value

function callsIn<Ask, Answer>(notes: string): readonly TimedCall<Ask & StoreTimed, Answer>[] {
  const calls = new Map<
    string,
    { begin: number; end?: number; now?: StoreTimed['now'] } & Noted<Ask, Answer>
  >()
  for (const line of notes.split('\n').filter((one) => one.endsWith('}'))) {
    const { number, ...noted } = JSON.parse(line)
    calls.set(number, { ...calls.get(number), ...noted })
  }
  return [...calls.values()].flatMap(
    ({ ask, begin, end = Number.POSITIVE_INFINITY, answer, now }) =>
      now === undefined ? [] : [{ ask: { ...ask, now }, begin, end, answer }],
  )
}

interface Noted<Ask, Answer> {
  readonly ask: Ask
  readonly answer?: Answer
}

const many = <T>(count: number, make: (i: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => make(i))

const [PROCESSES, LANES, CALLS] = [3, 2, 14]

type NamedBucket = BucketAsk & { readonly id: string }

/** Few ids, so that processes meet in them; each belongs to one bucket. */
const bucketAsk = (random: Random, verbs: readonly BucketAsk['verb'][]): NamedBucket => {
  const id = random.pick(['a', 'b'])
  const operationId = `${id}${random.below(8)}`
  const verb = random.pick(verbs)
  // The cost is part of the question: an id has one.
  if (verb === 'refund' || (verb === 'spend' && random.below(2) === 0)) {
    return { verb, id, cost: 1 + (operationId.charCodeAt(1) % 3), operationId }
  }
  return { verb, id, cost: 1 + random.below(3) }
}

const bucketLanes = (seed: number, verbs: readonly BucketAsk['verb'][]) => {
  const random = seeded(seed)
  return many(PROCESSES, () => many(LANES, () => many(CALLS, () => bucketAsk(random, verbs))))
}

const budgetLanes = (seed: number): readonly Lanes<BudgetAsk>[] => {
  const random = seeded(seed)
  return many(PROCESSES, (process) =>
    many(LANES, (lane) =>
      many(CALLS / 2, (i) => i).flatMap((i): readonly BudgetAsk[] => {
        const name = `${process}-${lane}-${i}`
        const amount = 20 + random.below(60)
        const [ends, verb] = [random.below(4) > 0, random.pick(['settle', 'release'] as const)]
        const settled = Math.floor(amount / 4)
        const end: readonly BudgetAsk[] = ends ? [{ verb, name, amount: settled }] : []
        return [{ verb: 'hold', name, amount }, ...end]
      }),
    ),
  )
}

/** Every other time one is killed: at once, or when what it sent may have been done. */
const faultsOf = (seed: number): Faults => (seed % 2 === 0 ? { killedIn: (seed / 2) % 4 } : {})

const isUnheard = ({ end }: { readonly end: number }) => end === Number.POSITIVE_INFINITY

const ALL = ['spend', 'spend', 'spend', 'try', 'check', 'refund', 'reset'] as const

for (const kind of ['redis', 'postgres'] as const satisfies readonly ServiceKind[]) {
  const place = await remotePlace(kind)
  describe.skipIf(place === undefined)(kind, () => {
    if (place === undefined) return

    /** By bucket: what holds of each holds of all. */
    const ofBuckets = async (seed: number, verbs: readonly BucketAsk['verb'][], faults: Faults) => {
      const lanes = bucketLanes(seed, verbs)
      const calls = await record<NamedBucket, BucketTold>(place, lanes, faults)
      expect(calls.length).toBeGreaterThan(PROCESSES * LANES)
      if (faults.killedIn === 0) expect(calls.some(isUnheard)).toBe(true)
      for (const { ask } of calls)
        expect(Math.abs(ask.now / 1_000 - Date.now())).toBeLessThan(180_000)
      return ['a', 'b'].map((id) =>
        linearize(
          calls.filter(({ ask }) => ask.id === id),
          bucketModel(LIMIT),
        ),
      )
    }

    test('spends, tries, checks, refunds and resets are as if one came after another', async () => {
      for (let seed = 0; seed < times(2, 20); seed++) {
        const [a, b] = await ofBuckets(seed, ALL, faultsOf(seed))
        expect([a, b], `seed ${seed}`).not.toContain(undefined)
      }
    })

    test('holds of one plan, settled, released or left to expire, are as if one came after another', async () => {
      for (let seed = 0; seed < times(1, 20); seed++) {
        const calls = await record<BudgetAsk, BudgetTold>(place, budgetLanes(seed), faultsOf(seed))
        expect(calls.length).toBeGreaterThan(PROCESSES * LANES)
        expect(linearize(calls, budgetModel(AMOUNT, HOLD_FOR)), `seed ${seed}`).toBeDefined()
      }
    })

    test('a store that looks at what a key once held is found out', async () => {
      const found = await ofBuckets(7, ['spend', 'spend', 'check'], { isStale: true })
      expect(found).toContain(undefined)
    })
  })
}
