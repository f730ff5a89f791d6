/**
 * A refund by operation id where the store has partitions: the claim of the spend names its buckets,
 * and each leg gives back what its own memory says was charged. No leg can refuse, so none is undone:
 * a retry after a crash gives back what is left.
 */

import type { Key, View } from '../../core/store.ts'
import { answer as unchanged } from '../../core/store.ts'
import type { Crossing, CrossingCall } from './across.ts'
import { type BatchResult, giveBack, nothingReturned } from './batch.ts'
import { type Answer, type BucketCharge, toAnswer } from './charge.ts'
import type { HoldParts } from './claim-hold.ts'
import { type OperationClaim, readClaim } from './claims.ts'
import { doLeg, type Leg, type LegDone, legKey, legsOf, recallLeg, writeLeg } from './legs.ts'
import {
  askOf,
  chargesOf,
  isOn,
  lessRefunded,
  operationNames,
  retell,
  type Told,
  undoing,
  unknownOperation,
} from './operations.ts'

export interface RefundCall extends CrossingCall {
  readonly id: string
  /** What of the spend to give back; undefined: all of it. */
  readonly named: readonly BucketCharge[] | undefined
}

export const refundAcross = (
  parts: HoldParts,
  { claimed }: Crossing,
  call: RefundCall,
): Promise<Answer> => {
  const { store, policy, bucketOf } = parts
  const { id, named, scope } = call
  const spend = operationNames('spend', id, scope, policy)
  const find = (key: Key) =>
    store.transact((view) => unchanged(readClaim(view, key)), [key], 'look')

  return claimed('refund', id, call, async (hold) => {
    const [spent, begun] = await Promise.all([find(spend.key), find(hold.names.key)])
    const asks = begun?.asks ?? named?.map(askOf) ?? spent?.asks
    if (asks === undefined || (spent === undefined && begun === undefined)) {
      throw unknownOperation(id)
    }
    const charges = chargesOf(bucketOf, asks)
    const legs = legsOf(charges, hold.names.hash, () => true)
    const source = { spent, hash: spend.hash }
    const [claiming, checking] = await Promise.allSettled([
      hold.claim(asks),
      named && spent && checkNamed(parts, legs, source, begun),
    ])
    if (claiming.status === 'rejected') throw claiming.reason
    const claim = claiming.value
    if (checking.status === 'rejected') {
      await hold.release(claim)
      throw checking.reason
    }
    const refundLeg = (leg: Leg) =>
      store.transact(
        (view) =>
          doLeg(view, leg.key, claim, () =>
            backFrom(view, parts, leg, source, named !== undefined),
          ),
        [leg.key, spentLeg(leg, source), ...leg.charges.map(({ key }) => key)],
      )
    const [done] = await Promise.all([Promise.all(legs.map(refundLeg)), hold.forget(claim)])
    if (done.every(({ told }) => told.length === 0)) {
      await hold.release(claim)
      throw unknownOperation(id)
    }
    const answer = refundAnswer(parts, charges, done)
    if (!answer.allowed) await hold.release(claim)
    return answer
  })
}

/** Where the legs of the spend are remembered. */
interface SpendSource {
  readonly spent: OperationClaim | undefined
  readonly hash: string
}

const spentLeg = ({ charges }: Leg, { hash }: SpendSource): Key =>
  legKey(charges[0]?.bucket.tag ?? '', hash)

/**
 * Before anything is given back: no more may be named than was charged. Where a leg has given back under
 * this claim, that was found before. A claim alone says nothing: its reply may have been lost.
 */
async function checkNamed(
  { store, bucketOf }: HoldParts,
  legs: readonly Leg[],
  source: SpendSource,
  begun: OperationClaim | undefined,
): Promise<void> {
  const check = (leg: Leg) => {
    const key = spentLeg(leg, source)
    return store.transact(
      (view) => {
        if (begun && recallLeg(view, leg.key, begun)?.told !== undefined) return unchanged(true)
        undoing(bucketOf, toldBy(view, key, source.spent), leg.charges)
        return unchanged(false)
      },
      [key, leg.key],
      'look',
    )
  }
  const checked = await Promise.allSettled(legs.map(check))
  if (checked.some((one) => one.status === 'fulfilled' && one.value)) return
  const refused = checked.find((one) => one.status === 'rejected')
  if (refused !== undefined) throw refused.reason
}

function toldBy(view: View, key: Key, spent: OperationClaim | undefined): readonly Told[] {
  return (spent && recallLeg(view, key, spent)?.told) ?? []
}

function backFrom(
  view: View,
  { bucketOf }: HoldParts,
  leg: Leg,
  source: SpendSource,
  isNamed: boolean,
): BatchResult {
  const key = spentLeg(leg, source)
  const held = source.spent && recallLeg(view, key, source.spent)
  const told = held?.told ?? []
  const back = undoing(bucketOf, told, isNamed ? leg.charges : undefined)
  const result = giveBack(back, view)
  // A leg that was never charged, or is fenced off, must not look as if it had been.
  if (held?.told === undefined || source.spent === undefined) return NOTHING
  if (!result.answer.allowed) return result
  const { generation, until } = source.spent
  const owner = { generation, until, attempt: held.attempt }
  const rest = writeLeg(key, owner, lessRefunded(told, back))
  return { ...result, writes: [...result.writes, rest] }
}

const NOTHING: BatchResult = {
  charges: [],
  verdict: undefined,
  answer: { ...toAnswer([], undefined), allowed: false, reason: 'NOTHING_TO_RETURN' },
  writes: [],
}

/** In the order in which the spend, or the refund, named the buckets. */
function refundAnswer(
  { bucketOf }: HoldParts,
  charges: readonly BucketCharge[],
  done: readonly LegDone[],
): Answer {
  const all = done.flatMap(({ told }) => told)
  const inOrder = charges.flatMap(({ bucket }) => all.find((one) => isOn(one, bucket)) ?? [])
  const answer = retell(bucketOf, inOrder, false)
  const said = nothingReturned(answer, chargesOf(bucketOf, inOrder))
  const isReplay = done.some(({ state }) => state === 'replayed')
  return isReplay && done.every(({ state }) => state !== 'done')
    ? { ...said, replayed: true }
    : said
}
