/**
 * Batches across partitions, and operation ids where the memory of them lies in another partition than
 * the buckets: first checks and the claim, side by side; then spends, side by side; and if one of them
 * is refused or fails, a dated give-back of the others. Never admits too much; may for a moment show
 * too little. A leg whose reply was lost stays charged where no operation id remembers it.
 */
import { refuseTwice } from '../../core/decide.ts'
import { StoreError } from '../../core/errors.ts'
import { nameOf } from '../../core/names.ts'
import {
  type Commit,
  type Intent,
  type Store,
  answer as unchanged,
  type View,
} from '../../core/store.ts'
import { oneAtATime } from '../../lib/one-at-a-time.ts'
import {
  type BatchResult,
  charge,
  datedAnswer,
  giveBack,
  nothingReturned,
  plainSpends,
  retoldAnswer,
} from './batch.ts'
import type { Answer, Batch, BucketCharge } from './charge.ts'
import { type ClaimHold, type HoldParts, holdOf } from './claim-hold.ts'
import type { Claimed } from './claims.ts'
import { doLeg, type Leg, type LegSpend, legsOf, spendLeg, takenBack, undoLeg } from './legs.ts'
import {
  askOf,
  type OperationVerb,
  operationNames,
  type ToldOutcome,
  tellOf,
} from './operations.ts'

type Act = (charges: readonly BucketCharge[], view: View) => BatchResult

export interface CrossingCall {
  readonly verb: OperationVerb | 'check'
  readonly batch: Batch
  readonly scope: string
}

export interface Crossing {
  settle(call: CrossingCall, charges: readonly BucketCharge[], act: Act): Promise<Answer>
  /** Claims an id for `work`; calls of one id in this process take turns. */
  claimed<R>(
    verb: OperationVerb,
    id: string,
    call: CrossingCall,
    work: (hold: ClaimHold) => Promise<R>,
  ): Promise<R>
}

/** Three names that share nothing share a partition only where there is one. */
export function isDivided(store: Store): boolean {
  const partitions = ['a', 'b', 'c'].map((tag) => store.partition(nameOf('requests', tag)))
  return new Set(partitions).size > 1
}

/** Calls of one id that wait for each other in one process. */
const MAX_WAITING = { perKey: 1_000, inAll: 100_000 } as const

/** How often a call takes its operation over from calls in other processes that do the same. */
const MAX_ROUNDS = 5

export const crossing = (parts: HoldParts): Crossing => {
  const { store, policy } = parts
  const turns = oneAtATime(MAX_WAITING)

  const claimed: Crossing['claimed'] = (verb, id, call, work) => {
    const names = operationNames(verb, id, call.scope, policy)
    const hold = holdOf(parts, names, verb, id, call.batch)
    return turns.run(names.hash, () => work(hold)) ?? Promise.reject(contended(id))
  }
  return {
    claimed,
    settle: async ({ verb, batch, scope }, charges, act) => {
      // Before any leg: in one alone it would be found when others are done.
      refuseTwice(charges.map(({ key }) => key))
      const id = verb === 'check' ? undefined : batch.operationId
      if (id === undefined || verb === 'check') {
        return verb === 'spend'
          ? spendUnnamed(store, batch, charges)
          : actUnnamed(store, verb, charges, act)
      }
      return claimed(verb, id, { verb, batch, scope }, (hold) =>
        verb === 'spend'
          ? spendNamed(store, hold, id, batch, charges)
          : actNamed(store, hold, charges, act),
      )
    },
  }
}

/** Looks at all legs side by side, as a spend would find them. */
function lookAt(store: Store, legs: readonly Leg[]): Promise<readonly (readonly ToldOutcome[])[]> {
  return Promise.all(
    legs.map((leg) =>
      inBuckets(
        store,
        leg,
        (view) => unchanged(tellOf(charge(leg.charges, view), 'reset')),
        'look',
      ),
    ),
  )
}

async function spendUnnamed(
  store: Store,
  batch: Batch,
  charges: readonly BucketCharge[],
): Promise<Answer> {
  const legs = legsOf(charges, '', isLimited)
  const looked = answerOf(charges, legs, await lookAt(store, legs))
  if (!looked.allowed) return looked
  const settled = await Promise.allSettled(legs.map((leg) => spendUnremembered(store, leg)))
  const spent = settled.map((one) => (one.status === 'fulfilled' ? one.value : UNKNOWN))
  const failure = failureOf(settled)
  const answer = answerOf(
    charges,
    legs,
    spent.map(({ told }) => told),
  )
  if (failure === undefined && answer.allowed) return withDates(batch, legs, answer, spent)
  const charged = legs.flatMap((leg, i) => {
    const { state, told } = spent[i] ?? UNKNOWN
    return state === 'charged' ? [{ leg, back: takenBack(leg.charges, told) }] : []
  })
  await Promise.allSettled(
    charged.map(({ leg, back }) =>
      inBuckets(store, leg, (view) => {
        const { writes } = giveBack(back, view)
        return { writes, appends: [], result: undefined }
      }),
    ),
  )
  if (failure !== undefined) throw failure.reason
  return answer
}

/** By the store's own way for plain spends, where it has one and the leg is nothing else. */
function spendUnremembered(store: Store, leg: Leg): Promise<LegSpend> {
  const step = (view: View): Commit<LegSpend> => {
    const result = charge(leg.charges, view)
    const state = result.answer.allowed ? ('charged' as const) : ('refused' as const)
    return { writes: result.writes, appends: [], result: { state, told: tellOf(result, 'spend') } }
  }
  const spends = store.transactSpends && plainSpends(leg.charges)
  return spends && store.transactSpends
    ? store.transactSpends(step, spends)
    : inBuckets(store, leg, step)
}

/** Checks, resets, and refunds without an operation id: no leg depends on another. */
async function actUnnamed(
  store: Store,
  verb: CrossingCall['verb'],
  charges: readonly BucketCharge[],
  act: Act,
): Promise<Answer> {
  // A reset also fills a bucket whose limit is not in force now.
  const legs = legsOf(charges, '', verb === 'reset' ? () => true : isLimited)
  const intent = verb === 'check' ? 'look' : undefined
  const step = (leg: Leg) => (view: View) => {
    const result = act(leg.charges, view)
    return { writes: result.writes, appends: [], result: tellOf(result, 'reset') }
  }
  const told = await Promise.all(legs.map((leg) => inBuckets(store, leg, step(leg), intent)))
  const asked = verb === 'reset' ? charges.map(asLook) : charges
  const answer = answerOf(asked, legs, told)
  return verb === 'refund' ? nothingReturned(answer, charges) : answer
}

const asLook = (each: BucketCharge): BucketCharge => ({ ...each, cost: 0, mode: 'check' })

/** A reset with an operation id. */
async function actNamed(
  store: Store,
  hold: ClaimHold,
  charges: readonly BucketCharge[],
  act: Act,
): Promise<Answer> {
  const legs = legsOf(charges, hold.names.hash, () => true)
  const claim = await hold.claim(charges.map(askOf))
  const [done] = await Promise.all([
    Promise.all(
      legs.map((leg) =>
        inLeg(store, leg, (view) => doLeg(view, leg.key, claim, () => act(leg.charges, view))),
      ),
    ),
    hold.forget(claim),
  ])
  const told = done.map((leg) => leg.told)
  const answer = answerOf(charges.map(asLook), legs, told)
  return done.every(({ state }) => state === 'replayed') ? { ...answer, replayed: true } : answer
}

/** A spend with an operation id: as often as another process takes it over, but not for ever. */
async function spendNamed(
  store: Store,
  hold: ClaimHold,
  id: string,
  batch: Batch,
  charges: readonly BucketCharge[],
): Promise<Answer> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const answer = await attemptSpend(store, hold, id, batch, charges)
    if (answer !== OVERTAKEN) return answer
  }
  throw contended(id)
}

const OVERTAKEN = 'overtaken'

async function attemptSpend(
  store: Store,
  hold: ClaimHold,
  id: string,
  batch: Batch,
  charges: readonly BucketCharge[],
): Promise<Answer | typeof OVERTAKEN> {
  // Also where no limit is in force: one that is by the time of a retry must not be charged then.
  const legs = legsOf(charges, hold.names.hash, () => true)
  const [claiming, looking] = await Promise.allSettled([
    hold.claim(charges.map(askOf)),
    lookAt(store, legs),
  ])
  if (claiming.status === 'rejected') throw claiming.reason
  const claim = claiming.value
  // Of an operation that was begun before, the legs themselves know what became of it.
  if (claim.isFresh) {
    const looked = looking.status === 'fulfilled' && answerOf(charges, legs, looking.value)
    if (looked === false || !looked.allowed) {
      await Promise.all([hold.release(claim), hold.forget(claim)])
      if (looking.status === 'rejected') throw looking.reason
      if (looked !== false) return looked
    }
  }
  const [settled] = await Promise.all([
    Promise.allSettled(legs.map((leg) => inLeg(store, leg, (view) => spendLeg(view, leg, claim)))),
    hold.forget(claim),
  ])
  const spent = settled.map((one) => (one.status === 'fulfilled' ? one.value : UNKNOWN))
  const all = (...states: readonly LegSpend['state'][]) =>
    spent.every(({ state }) => states.includes(state))
  const answer = answerOf(
    charges,
    legs,
    spent.map(({ told }) => told),
  )
  if (all('charged', 'replayed')) {
    const said = withDates(batch, legs, answer, spent)
    return all('replayed') && !claim.isFresh ? { ...said, replayed: true } : said
  }
  if (spent.some(({ state }) => state === 'charged' || state === 'refused')) {
    await undo(store, hold, legs, claim, spent)
  }
  const failure = failureOf(settled)
  if (failure !== undefined) throw failure.reason
  if (spent.some(({ state }) => state === 'overtaken')) return OVERTAKEN
  if (spent.some(({ state }) => state === 'late'))
    throw contended(id, 'must be charged within 30 s of its claim')
  return answer
}

/** Lets go of the claim only if every leg is known to be uncharged: else a retry must find it. */
async function undo(
  store: Store,
  hold: ClaimHold,
  legs: readonly Leg[],
  claim: Claimed,
  spent: readonly LegSpend[],
): Promise<void> {
  const undone = await Promise.allSettled(
    legs.map((leg, i) => {
      const { state } = spent[i] ?? UNKNOWN
      if (state === 'refused') return undefined
      return inLeg(store, leg, (view) => undoLeg(view, leg, claim, state === 'unknown'))
    }),
  )
  if (undone.every(({ status }) => status === 'fulfilled')) await hold.release(claim)
}

/** What became of a leg whose transaction failed is not known: its reply may have been lost. */
const UNKNOWN: LegSpend = { state: 'unknown', told: [] }

const inLeg = <R>(store: Store, leg: Leg, step: (view: View) => Commit<R>): Promise<R> =>
  store.transact(step, [leg.key, ...leg.charges.map(({ key }) => key)])

const inBuckets = <R>(
  store: Store,
  { charges }: Leg,
  step: (view: View) => Commit<R>,
  intent?: Intent,
): Promise<R> => {
  const guess = charges.map(({ key }) => key)
  return store.transact(step, guess, intent)
}

/** The answer that the legs come to, charge by charge in the order of the batch. */
const answerOf = (
  charges: readonly BucketCharge[],
  legs: readonly Leg[],
  told: readonly (readonly ToldOutcome[])[],
): Answer =>
  retoldAnswer(
    charges,
    spread(charges.length, legs, (leg, i) => told[leg]?.[i]?.decision),
  )

function withDates(
  { dated }: Batch,
  legs: readonly Leg[],
  answer: Answer,
  spent: readonly LegSpend[],
): Answer {
  if (!dated) return answer
  const dates = spread(answer.charges.length, legs, (leg, i) => spent[leg]?.told[i]?.date)
  return datedAnswer(answer, dates)
}

/** From a value for each charge of each leg to one for each charge of the batch. */
function spread<T>(
  count: number,
  legs: readonly Leg[],
  at: (leg: number, charge: number) => T | undefined,
): readonly (T | undefined)[] {
  const values = Array.from<T | undefined>({ length: count })
  legs.forEach(({ positions }, leg) => {
    positions.forEach((position, i) => {
      values[position] = at(leg, i)
    })
  })
  return values
}

function isLimited({ limit }: BucketCharge): boolean {
  return limit !== undefined
}

const failureOf = (
  settled: readonly PromiseSettledResult<unknown>[],
): PromiseRejectedResult | undefined => settled.find((one) => one.status === 'rejected')

function contended(id: string, rule = 'must not be asked for by many at once'): StoreError {
  return new StoreError({ code: 'STORE_CONTENDED', thing: `operationId ${id}`, rule })
}
