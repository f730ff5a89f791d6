/**
 * What spending answers: whether, why not, which budget refuses, what is left, and when to try again. And how
 * what was granted or charged is remembered under its operation id: as one line, word by word.
 */
import { type Instant, instant, span, type Wait } from '../../core/time.ts'
import type { Allowance, Tier } from '../plans/plan.ts'
import type { SpendingWindow } from '../windows/calendar.ts'

/** What of one budget is spent, held and left. */
export interface Standing {
  readonly limit: Allowance
  readonly spent: bigint
  readonly held: bigint
  /** Below zero where more was recorded than there was. */
  readonly remaining: Allowance
}

export interface PlanStanding extends Standing {
  readonly id: string
  readonly tier: Tier
  /** Nothing was charged to it in this window yet. */
  readonly fresh: boolean
}

/** What every answer shows. All null while the store is down. */
export interface Standings {
  /** Null where no plan was asked: spending is off, no caller was named, or an earlier budget refused. */
  readonly plan: PlanStanding | null
  readonly total: Standing | null
  readonly window: SpendingWindow | null
}

/**
 * Why spending is refused: the reason of the first budget on the path that does not cover it.
 *
 * - `TOTAL_BUDGET`: the payer's budget of this window.
 * - `OPERATOR_BALANCE`: what the payer has, less the floor; `OPERATOR_BALANCE_STALE`: not known.
 * - `CATEGORY_LIMIT`: the operation's budget for everyone; `PLAN_CATEGORY_LIMIT`: for this plan.
 * - `PLAN_INACTIVE`: the plan was switched off.
 * - `IP_LIMIT`: the ceiling over all BASIC users behind one address.
 * - `PLAN_LIMIT`: the plan's allowance, its grants included.
 * - `STORE_UNAVAILABLE`: what was spent is not known, so nothing more is.
 * - `CLOCK_UNTRUSTED`: which window it is, and which holds have ended, is not known.
 */
export type SpendingReason =
  | 'TOTAL_BUDGET'
  | 'OPERATOR_BALANCE'
  | 'OPERATOR_BALANCE_STALE'
  | 'CATEGORY_LIMIT'
  | 'PLAN_INACTIVE'
  | 'IP_LIMIT'
  | 'PLAN_CATEGORY_LIMIT'
  | 'PLAN_LIMIT'
  | 'STORE_UNAVAILABLE'
  | 'CLOCK_UNTRUSTED'

/** To a check or a hold. */
export interface SpendingAnswer extends Standings {
  readonly allowed: boolean
  readonly reason: SpendingReason | null
  /** The first budget on the path that does not cover the estimate. */
  readonly budget: string | null
  readonly retryIn: Wait
  /** Names the hold to capture, settle or release; only a hold that was granted has one. */
  readonly holdId?: string
  /** When the hold ends by itself. */
  readonly expiresAt?: Instant
  /** This operation id was answered before; this is the answer it got. */
  readonly replayed?: true
}

/** What a capture, settlement, release or record charged. */
export interface SpendingCharge extends Standings {
  /** What this call charged. */
  readonly charged: bigint
  /** The hold had expired, or the window ended; what was charged counts in it all the same. */
  readonly late: boolean
  /** How much of it was more than was still held; of a record, more than its plan had left. */
  readonly overage: bigint
  /** What this call gave back of the hold. */
  readonly released: bigint
  readonly replayed?: true
}

/** Only of a hold that was granted: a refusal is not remembered. `own` is what the question itself names. */
export const heldText = (own: string | undefined) => ({
  encode: (answer: SpendingAnswer): string =>
    [answer.holdId ?? NONE, answer.expiresAt ?? NONE, standingsText(answer, own)].join(' '),
  decode: (text: string): SpendingAnswer => {
    const [holdId = '', expiresAt = '', ...words] = takenBackOf(text).answer.split(' ')
    return {
      allowed: true,
      reason: null,
      budget: null,
      retryIn: span(0),
      ...standingsIn(words, own),
      holdId,
      expiresAt: instant(Number(expiresAt)),
    }
  },
})

export const chargeText = {
  encode: ({ charged, late, overage, released, ...standings }: SpendingCharge): string =>
    [charged, late ? 1 : 0, overage, released, standingsText(standings)].join(' '),
  decode: (text: string): SpendingCharge => {
    const [charged = '', late, overage = '', released = '', ...words] = text.split(' ')
    return {
      charged: BigInt(charged),
      late: late === '1',
      overage: BigInt(overage),
      released: BigInt(released),
      ...standingsIn(words),
    }
  },
}

/** What was taken back of a booking stands before its answer; nothing, where nothing was. */
export const withTakenBack = (sum: bigint, answer: string): string =>
  `${TAKEN_BACK}${sum} ${answer}`

export const takenBackOf = (text: string): { readonly sum: bigint; readonly answer: string } => {
  if (!text.startsWith(TAKEN_BACK)) return { sum: 0n, answer: text }
  const end = text.indexOf(' ')
  return { sum: BigInt(text.slice(TAKEN_BACK.length, end)), answer: text.slice(end + 1) }
}

/** No id of a hold begins so, and no amount. */
const TAKEN_BACK = '~'

const NONE = '-'

/** The plan's name comes last: it may hold spaces. */
function standingsText({ plan, total, window }: Standings, own?: string): string {
  const start = window === null ? [NONE, NONE] : [window.startsAt, window.endsAt]
  const rest =
    plan === null
      ? []
      : [...standingText(plan), plan.fresh ? 1 : 0, plan.tier, planNameOf(plan, own)]
  return [...start, ...standingText(total), ...rest].join(' ')
}

/** What remains is left out where limit, spent and held say it. */
function standingText(standing: Standing | null): readonly (string | bigint)[] {
  if (standing === null) return [NONE, NONE, NONE, NONE]
  const { limit, spent, held, remaining } = standing
  return [limit, spent, held, remaining === plainRest(limit, spent, held) ? NONE : remaining]
}

const plainRest = (limit: Allowance, spent: bigint, held: bigint): Allowance =>
  limit === 'unlimited' ? limit : limit - spent - held

/** No plan has an empty name; one may be called by a dash. */
const OWN = ''

const planNameOf = ({ id }: PlanStanding, own: string | undefined) => (id === own ? OWN : id)

function standingsIn(words: readonly string[], own = OWN): Standings {
  const [startsAt = NONE, endsAt = NONE] = words
  const [fresh, tier, ...names] = words.slice(10)
  const name = names.join(' ')
  const id = name === OWN ? own : name
  const standing = standingIn(words.slice(6, 10))
  return {
    plan:
      standing === null || !isTier(tier) ? null : { id, tier, ...standing, fresh: fresh === '1' },
    total: standingIn(words.slice(2, 6)),
    window:
      startsAt === NONE
        ? null
        : { startsAt: instant(Number(startsAt)), endsAt: instant(Number(endsAt)) },
  }
}

function standingIn([limit = NONE, spent = '', held = '', rest = '']: readonly string[]) {
  if (limit === NONE) return null
  const sums = { limit: allowanceIn(limit), spent: BigInt(spent), held: BigInt(held) }
  const remaining = rest === NONE ? plainRest(sums.limit, sums.spent, sums.held) : allowanceIn(rest)
  return { ...sums, remaining }
}

const allowanceIn = (text: string): Allowance => (text === 'unlimited' ? text : BigInt(text))

const isTier = (text: string | undefined): text is Tier =>
  text === 'BASIC' || text === 'EXTENDED' || text === 'PRIVILEGED'
