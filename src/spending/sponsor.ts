/**
 * Paying for others, once: hold, do the paid work, settle at what it cost.
 *
 * What is promised: the work runs only under a hold, so no more than the limits is ever under way;
 * what it cost is charged, also beyond the estimate; and under an operation id it is not run a second
 * time unless it is known that the first paid nothing, or the caller says that it may.
 */
import { HeadgateError, type Mistake, quote, StoreError } from '../core/errors.ts'
import { suggestion } from '../documents/field.ts'
import { refuseDocument } from '../documents/node.ts'
import { digestText } from '../lib/digest.ts'
import { parseAmount } from './amount.ts'
import type { SpendingAnswer, SpendingCharge } from './flow/answer.ts'
import { HOLD_FIELDS, type HoldAsk, type SettleAsk } from './flow/ask.ts'
import type { HoldRecord } from './flow/hold.ts'
import { spendingMistake } from './mistake.ts'

export interface SponsorAsk extends HoldAsk {
  readonly estimate: bigint
  /**
   * The work pays once however often it runs, such as a signed transaction that is submitted again.
   * Then it is run again where an earlier run neither settled nor failed.
   */
  readonly idempotent?: boolean
}

/** What the work cost, and what this call charged for it. */
export interface SponsorPayment extends SpendingCharge {
  readonly allowed: true
  readonly reason: null
  readonly fee: bigint
}

/** Nothing was held, and the work was not run. */
export interface SponsorRefusal extends SpendingAnswer {
  readonly allowed: false
}

export type SponsorAnswer = SponsorPayment | SponsorRefusal

/** Returns the fee. A throw leaves the hold to expire, as it may have paid; see `nothingPaid`. */
export type PaidWork = () => Promise<bigint>

/** What the work throws where it is sure that it paid nothing. */
class NothingPaid extends Error {
  override readonly name = 'NothingPaid'
}

/**
 * Marks an error as one before any payment: `sponsor` gives the hold back at once, and throws the
 * error itself.
 *
 * @example
 * import { memory } from 'headgate'
 * import { nothingPaid, spending } from 'headgate/spending'
 *
 * const money = spending({ store: memory(), total: 1_000n, tiers: { BASIC: 300n } })
 * const ask = { from: '0xB1', estimate: 300n, operationId: 'tx-1' }
 * const sign = async (): Promise<string> => Promise.reject(new Error('no key'))
 * const paid = money.sponsor(ask, async () => {
 *   const signed = await sign().catch((error: unknown) => { throw nothingPaid(error) })
 *   return BigInt(signed.length)
 * })
 * await paid.catch(({ message }) => console.log(message))
 */
export const nothingPaid = (error: unknown): Error =>
  new NothingPaid('the work failed before it paid anything', { cause: error })

export type SponsorErrorCode = 'PAYMENT_UNSETTLED' | 'PAYMENT_UNKNOWN'

/** The work was paid, or may have been: its hold is still to be settled or released. */
export class SponsorError extends HeadgateError<SponsorErrorCode> {
  override readonly name = 'SponsorError'
  readonly holdId: string
  /** What the work cost, where that is known. */
  readonly fee: bigint | undefined

  constructor(
    { code, rule, finding }: Pick<Mistake<SponsorErrorCode>, 'code' | 'rule' | 'finding'>,
    holdId: string,
    fee?: bigint,
    options?: ErrorOptions,
  ) {
    super({ code, thing: `hold ${holdId}`, rule, finding }, options)
    this.holdId = holdId
    this.fee = fee
  }
}

const unsettledError = (holdId: string, fee: bigint, cause: StoreError): SponsorError => {
  const rule = `was paid and must be settled at ${fee}`
  const finding = 'a store that did not answer'
  return new SponsorError({ code: 'PAYMENT_UNSETTLED', rule, finding }, holdId, fee, { cause })
}

const unknownError = (holdId: string): SponsorError => {
  const rule = 'must be settled or released before its work runs again, unless it is idempotent'
  const finding = 'an earlier run that did not say how it ended'
  return new SponsorError({ code: 'PAYMENT_UNKNOWN', rule, finding }, holdId)
}

/** The verbs that it is made of. */
interface SponsorVerbs {
  hold(ask: HoldAsk): Promise<SpendingAnswer>
  settle(ask: SettleAsk): Promise<SpendingCharge>
  release(ask: { readonly holdId: string }): Promise<SpendingCharge>
  /** As it is kept. */
  find(holdId: string): Promise<HoldRecord>
}

export type Sponsor = (ask: SponsorAsk, work: PaidWork) => Promise<SponsorAnswer>

/** Attempts of one operation that paid nothing. Beyond it, a caller retries in a loop. */
const MAX_ATTEMPTS = 16

/** Fees of this process that a store that was down has not taken yet. */
const MAX_UNSETTLED = 10_000

export const createSponsor = (verbs: SponsorVerbs): Sponsor => {
  // By hold: what this process knows and the store does not.
  const running = new Map<string, Promise<SponsorPayment>>()
  const unsettled = new Map<string, bigint>()

  const settle = async (holdId: string, fee: bigint): Promise<SponsorPayment> => {
    try {
      const charge = await verbs.settle({ holdId, amount: fee })
      unsettled.delete(holdId)
      return { ...charge, ...paid(fee) }
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      unsettled.set(holdId, fee)
      const [oldest] = unsettled.size > MAX_UNSETTLED ? unsettled.keys() : []
      if (oldest !== undefined) unsettled.delete(oldest)
      throw unsettledError(holdId, fee, error)
    }
  }

  const run = async (holdId: string, work: PaidWork): Promise<SponsorPayment> => {
    try {
      return await settle(holdId, parseAmount(await work(), 'fee'))
    } catch (error) {
      if (!(error instanceof NothingPaid)) throw error
      // If that fails too, the hold expires by itself.
      await verbs.release({ holdId }).catch(() => {})
      throw causeOf(error)
    }
  }

  /** So that a second call with the same operation id, meanwhile, gets the same answer. */
  const runShared = (holdId: string, work: PaidWork): Promise<SponsorPayment> => {
    const payment = run(holdId, work).finally(() => running.delete(holdId))
    running.set(holdId, payment)
    return payment
  }

  /** The operation id was used before: only what is known to have paid nothing is run again. */
  const resume = async (
    holdId: string,
    ask: SponsorAsk,
    work: PaidWork,
  ): Promise<SponsorPayment | 'released'> => {
    const payment = running.get(holdId)
    if (payment !== undefined) return replayed(await payment)
    const fee = unsettled.get(holdId)
    if (fee !== undefined) return { ...(await settle(holdId, fee)), replayed: true }
    const hold = await verbs.find(holdId)
    switch (hold.status) {
      case 'settled':
        return { ...(await verbs.settle(settlementOf(hold))), ...paid(feeOf(hold)) }
      case 'released':
        return 'released'
      case 'open':
        // Another call may have begun while this one looked.
        if (running.has(holdId) || unsettled.has(holdId)) return resume(holdId, ask, work)
        if (ask.idempotent === true) return runShared(holdId, work)
        throw unknownError(holdId)
      default:
        return hold.status satisfies never
    }
  }

  return async ({ idempotent = false, ...ask }, work) => {
    refuseUnknown(ask)
    let held: SpendingAnswer
    for (let attempt = 1; ; attempt++) {
      held = await verbs.hold(attempt === 1 ? ask : { ...ask, operationId: retryId(ask, attempt) })
      const { holdId, replayed: again } = held
      if (!held.allowed) return { ...held, allowed: false }
      if (holdId === undefined) return uncounted(held, work)
      if (again !== true) return runShared(holdId, work)
      const found = await resume(holdId, { ...ask, idempotent }, work)
      if (found !== 'released') return found
      if (attempt === MAX_ATTEMPTS) throw tooManyAttempts(ask)
    }
  }
}

/** Charged once: by the call that ran the work. */
const replayed = (payment: SponsorPayment): SponsorPayment => ({
  ...payment,
  charged: 0n,
  replayed: true,
})

const paid = (fee: bigint) => ({ allowed: true, reason: null, fee }) as const

/** A hold that was given back cannot be used again: the next attempt has one of its own. */
const retryId = ({ operationId = '' }: HoldAsk, attempt: number): string =>
  // By its digest: `x/2` may be another's own id, and an id may be as long as ids can be.
  `sponsor-retry/${digestText(operationId)}/${attempt}`

/** A misspelt `operationId` would let a retry pay again. */
function refuseUnknown(ask: HoldAsk): void {
  const known = Object.keys(HOLD_FIELDS)
  const unknown = Object.keys(ask).find((name) => !known.includes(name))
  if (unknown === undefined) return
  refuseDocument({
    code: 'FIELD_UNKNOWN',
    thing: 'sponsor',
    rule: `may hold only ${[...known, 'idempotent'].join(', ')}`,
    finding: `${quote(unknown)}${suggestion(unknown, known)}`,
  })
}

function tooManyAttempts({ operationId }: HoldAsk) {
  const rule = `may fail at most ${MAX_ATTEMPTS} times`
  return spendingMistake('HOLD_CLOSED', `operationId ${operationId}`, rule, `${MAX_ATTEMPTS}`)
}

function feeOf({ final, captured }: HoldRecord): bigint {
  return typeof final === 'bigint' ? final : captured
}

/** The one that ended it: another would be a conflict. */
const settlementOf = ({ id: holdId, final }: HoldRecord): SettleAsk =>
  typeof final === 'bigint' ? { holdId, amount: final } : { holdId }

/** Spending is off: the work is run, and nothing is counted. */
async function uncounted(held: SpendingAnswer, work: PaidWork): Promise<SponsorPayment> {
  const { plan, total, window } = held
  const fee = await work().catch((error: unknown) => {
    throw causeOf(error)
  })
  const nothing = { charged: 0n, late: false, overage: 0n, released: 0n }
  return { ...nothing, plan, total, window, ...paid(parseAmount(fee, 'fee')) }
}

const causeOf = (error: unknown): unknown =>
  error instanceof NothingPaid ? (error.cause ?? error) : error
