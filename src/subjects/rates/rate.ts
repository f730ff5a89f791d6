/** A rate: the number set for a subject, when, by what right and why. Seed: "w3 Rate Limit Protocol". */
import { quote } from '../../core/errors.ts'
import type { Value } from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'
import { refuseSubject } from '../mistake.ts'
import { checkSubject, isKeepable } from './subject.ts'

/** By what right something was done. */
export interface Actor {
  /** A DID, or the name of another interface. */
  readonly issuer: string
  /**
   * The delegations used, from the invocation's proof up to the provider's own. By the fingerprint of
   * what was signed: a holder can give its proof any number of CIDs.
   */
  readonly chain: readonly string[]
}

/** What a caller sets. The subject and the rate are kept as given; only look-up normalises. */
export interface RateDraft {
  readonly subject: string
  /** 0 or less blocks. What else it means is up to its readers. */
  readonly rate: number
  /** From here on the rate is as if it had been removed. */
  readonly expiresAt?: Instant | undefined
  readonly reason?: string | undefined
  /** Whose rate it is, such as "fraud" or "billing": `set` replaces by it. */
  readonly label?: string | undefined
}

export interface Rate extends RateDraft {
  /** Opaque, and never used twice. */
  readonly id: string
  readonly at: Instant
  readonly by: Actor
  /** The fingerprint of the invocation that set it. */
  readonly cause?: string | undefined
}

/** A rate that applies to a subject, and the form of the subject that it was found under. */
export interface AppliedRate {
  readonly rate: Rate
  readonly subject: string
  readonly form: string
}

/** A subject's rates are read whole: a longer reason belongs in a ticket. */
const MAX_REASON = 1_024
const MAX_LABEL = 128
const MAX_RATE_ID = 128

/** Beyond this, a caller adds in a loop instead of replacing by label. */
export const MAX_RATES_PER_SUBJECT = 100

/** Of them, by anyone but the provider itself: it must always be able to block. */
export const MAX_DELEGATED_RATES = 80

/** Of them, through one delegation of the provider, whoever it was handed on to. */
export const MAX_RATES_PER_GRANT = 20

export const isBlock = ({ rate }: Pick<Rate, 'rate'>): boolean => rate <= 0

export const isLive = ({ expiresAt }: Pick<Rate, 'expiresAt'>, now: Instant): boolean =>
  expiresAt === undefined || expiresAt > now

/**
 * The rates of one form that can ever decide, in as few bytes as most need: 0 is a block without end,
 * a number below it a block that ends at that moment, one above it a rate without end. All else is a
 * list of rates and their ends by turns, where a block is a rate of 0, and an end of 0 is none.
 */
export type Effect = number | readonly number[]

/** Undefined: there are no rates. */
export const effectOf = (
  rates: readonly Pick<Rate, 'rate' | 'expiresAt'>[],
): Effect | undefined => {
  const rising = rates
    .map(({ rate, expiresAt }) => ({
      rate: isBlock({ rate }) ? 0 : rate,
      end: expiresAt ?? ENDLESS,
    }))
    .sort((one, other) => one.rate - other.rate || (one.end < other.end ? 1 : -1))
  const deciding: number[] = []
  let [blockEnds, ends] = [0, 0]
  for (const { rate, end } of rising) {
    // A rate counts only after all smaller ones have ended. Blocks and rates are asked for apart.
    if (end <= (rate === 0 ? blockEnds : ends)) continue
    if (rate === 0) blockEnds = end
    else ends = end
    deciding.push(rate, end === ENDLESS ? 0 : end)
  }
  const [rate, end = 0] = deciding
  if (rate === undefined) return undefined
  if (deciding.length > 2 || (rate > 0 && end > 0)) return deciding
  return end === 0 ? rate : -end
}

const ENDLESS = Number.POSITIVE_INFINITY

export const encodeEffect = (effect: Effect): Value => JSON.stringify(effect)
export const decodeEffect = (value: Value): Effect => (value === '0' ? 0 : JSON.parse(value))

export const checkDraft = (draft: RateDraft): RateDraft => {
  checkSubject(draft.subject)
  if (!Number.isFinite(draft.rate)) {
    const rule = 'must be a finite number'
    return refuseSubject({ code: 'RATE_INVALID', thing: 'rate', rule, finding: `${draft.rate}` })
  }
  if (draft.reason !== undefined) checkNote('reason', draft.reason, MAX_REASON)
  if (draft.label !== undefined) checkNote('label', draft.label, MAX_LABEL)
  return draft
}

export const checkRateId = (id: string): string => {
  if (id !== '' && id.length <= MAX_RATE_ID && isKeepable(id)) return id
  const rule = `must be 1 to ${MAX_RATE_ID} characters without control characters`
  return refuseSubject({ code: 'RATE_ID_INVALID', thing: 'id', rule, finding: quote(id) })
}

/** Notes are values, not keys: only what a store's text cannot hold is refused. */
function checkNote(thing: 'reason' | 'label', text: string, longest: number): void {
  if (text !== '' && text.length <= longest && !/\p{Surrogate}|\0/u.test(text)) return
  const rule = `must be 1 to ${longest} characters of Unicode text`
  refuseSubject({ code: 'RATE_NOTE_INVALID', thing, rule, finding: quote(text) })
}
