/** Accounts: values that the store should keep, as the entries of a ledger come to them; and how they differ. */
import { type BudgetState, decodeBudget, NOTHING_SPENT, openAt } from '../../core/budget.ts'
import { answerIn } from '../../core/once.ts'
import type { Key, Value } from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'
import type { Party } from '../flow/balances.ts'
import { decodeHold, type HoldRecord } from '../flow/hold.ts'
import { holdMadeAt } from '../flow/open-holds.ts'
import { type Booking, keptBooking } from '../flow/reversal.ts'
import { type OpenHoldName, OUTFLOW, TERMS } from '../keys.ts'
import { readMoney } from '../money-json.ts'
import {
  decodeTerms,
  type Funds,
  type Grant,
  NO_TERMS,
  stillUseful,
  type Terms,
} from '../plans/funds.ts'
import { isMadeLink, madeLink } from '../plans/resolve.ts'
import { type Calendar, decodeCalendar, type SpendingWindow } from '../windows/calendar.ts'
import type { Checkpoint, Compacted } from './checkpoint.ts'
import type { BookingVerb, LedgerEntry, OpenedWindow } from './entry.ts'
import type { Finding, FindingKind } from './finding.ts'

interface AccountFace {
  /** What it is called when what is kept differs. */
  readonly kind: FindingKind
  readonly what: string
  readonly window?: Instant | undefined
}

/** What entries say of a hold. The window's end and how long it is remembered are not in them. */
export type HoldAccount = Omit<HoldRecord, 'id' | 'window' | 'rememberedUntil'> & {
  readonly window: Instant
}

/** What entries say of what is kept under an operation id, and of how much was taken back of it. */
export interface BookingAccount {
  readonly verb: BookingVerb
  readonly reversed: bigint
  readonly hold?: string | undefined
  /** Of a record or a capture. */
  readonly booking?: (Omit<Booking, 'window' | 'hold'> & { readonly window: Instant }) | undefined
}

/** What entries say of the calendar, beside its count and head. */
export type CalendarAccount = Omit<Calendar, 'entries' | 'head'>

export type Account = AccountFace &
  (
    | { readonly form: 'budget'; readonly state: BudgetState }
    | { readonly form: 'exact'; readonly value: Value | undefined }
    /** The number of a plan's newest entry. */
    | { readonly form: 'trail'; readonly newest: number }
    | { readonly form: 'checkpoint'; readonly checkpoint: Checkpoint }
    | { readonly form: 'terms'; readonly terms: Terms }
    /** Without `last` where only entries that were compacted say it. */
    | { readonly form: 'funds'; readonly funds: Funds }
    | { readonly form: 'hold'; readonly hold: HoldAccount }
    /** Where a hold is listed while it is open. */
    | ({ readonly form: 'listing' } & HoldListing)
    | { readonly form: 'booking'; readonly booked: BookingAccount }
    /** Remembered under an operation id, whatever was answered. */
    | { readonly form: 'once'; readonly until: Instant }
    | { readonly form: 'calendar'; readonly calendar: CalendarAccount }
    /** That it is listed. */
    | { readonly form: 'window' }
    /** The plan that an operator linked a member to; those that charges make by themselves do not count. */
    | { readonly form: 'link'; readonly plan: string | undefined }
    /** What an entry goes by, and no entry made. */
    | { readonly form: 'groundless'; readonly by: number }
  )

interface HoldListing {
  readonly open: boolean
  readonly madeAt: Instant
  readonly expiresAt: Instant
}

/** By the key that the value is kept under. */
export type Fold = Map<Key, Account>

export const budgetAccount = (budget: string, window: Instant, state = NOTHING_SPENT): Account => ({
  kind: 'balance-drift',
  what: budget,
  window: budget === OUTFLOW ? undefined : window,
  form: 'budget',
  state,
})

export const termsAccount = (plan: string, window: Instant, terms = NO_TERMS): Account => ({
  kind: 'rollover-drift',
  what: `terms of plan ${plan}`,
  window,
  form: 'terms',
  terms,
})

export const fundsAccount = (plan: string, funds: Funds = { grants: [] }): Account => ({
  kind: 'grant-drift',
  what: `grants of plan ${plan}`,
  form: 'funds',
  funds,
})

/** The value is what `writeKeptPlan` wrote; undefined: no entry speaks of such a plan. */
export const planAccount = (plan: string, value: Value | undefined): Account => ({
  kind: 'plan-drift',
  what: `plan ${plan}`,
  form: 'exact',
  value,
})

export const linkAccount = (member: string, plan: string | undefined): Account => ({
  kind: 'link-drift',
  what: `link of ${member}`,
  form: 'link',
  plan,
})

export const groundless = (face: AccountFace, { seq }: Pick<LedgerEntry, 'seq'>): Account => ({
  ...face,
  form: 'groundless',
  by: seq,
})

/** `window` is that of an open hold; undefined where no entry speaks of one. */
export const listingAccount = (hold: OpenHoldName, window: Instant | undefined): Account => ({
  kind: 'hold-drift',
  what: `hold ${hold.id} in the list of open ones`,
  window,
  form: 'listing',
  open: window !== undefined,
  madeAt: holdMadeAt(hold.id),
  expiresAt: hold.expiresAt,
})

export const NO_READING: Account = {
  kind: 'reading-drift',
  what: 'reading of the balance',
  form: 'exact',
  value: undefined,
}

/** What a window's list shows and no entry speaks of. */
export const unspokenAccount = (item: string, window: Instant): Account =>
  item.startsWith(TERMS)
    ? termsAccount(item.slice(TERMS.length), window)
    : budgetAccount(item, window)

/** Undefined where the value that is kept is the one that the entries come to. */
export const driftOf = (
  account: Account,
  value: Value | undefined,
  now: Instant,
): Finding | undefined => {
  const { kind, what, window } = account
  const { ledger, kept } = sidesOf(account, value, now)
  return ledger === kept ? undefined : { kind, what, window, ledger, kept }
}

interface Sides {
  readonly ledger: string
  readonly kept: string
}

const NOTHING = 'nothing'
const LISTED = 'listed'

function sidesOf(account: Account, value: Value | undefined, now: Instant): Sides {
  const sides = <T>(expected: T, decode: (text: Value) => T, none: T | undefined, say: Say<T>) => ({
    ledger: say(expected, now),
    kept: keptSide(value, decode, none, (held) => say(held, now)),
  })
  switch (account.form) {
    case 'budget':
      return sides(account.state, decodeBudget, NOTHING_SPENT, describeBudget)
    case 'trail':
      return { ledger: String(account.newest), kept: value ?? NOTHING }
    case 'exact':
      return { ledger: account.value ?? NOTHING, kept: value ?? NOTHING }
    case 'checkpoint':
      return sides(account.checkpoint, readMoney<Compacted>, undefined, describeCheckpoint)
    case 'terms':
      return sides(account.terms, decodeTerms, NO_TERMS, describeTerms)
    case 'funds': {
      const { last } = account.funds
      const decode = (text: Value): Funds => {
        const kept = readMoney<Funds>(text)
        return { ...kept, last: last && kept.last }
      }
      return sides(account.funds, decode, { grants: [] }, describeFunds)
    }
    case 'hold':
      return holdSides(account.hold, value, now)
    case 'listing':
      return listingSides(account, value, now)
    case 'booking':
      return bookingSides(account.booked, value)
    case 'once':
      return onceSides(account.until, value, now)
    case 'calendar':
      return sides(account.calendar, decodeCalendar, undefined, describeCalendar)
    case 'window':
      return { ledger: LISTED, kept: value === undefined ? NOTHING : LISTED }
    case 'link': {
      const made = value === undefined || !isMadeLink(value) ? NOTHING : value
      return { ledger: account.plan === undefined ? NOTHING : madeLink(account.plan), kept: made }
    }
    case 'groundless':
      return { ledger: NOTHING, kept: `what entry ${account.by} goes by` }
    default:
      return account satisfies never
  }
}

type Say<T> = (held: T, now: Instant) => string

/** A value that was tampered with may be no value at all. */
function keptSide<T>(
  value: Value | undefined,
  decode: (text: Value) => T,
  none: T | undefined,
  say: (held: T) => string,
): string {
  if (value === undefined) return none === undefined ? NOTHING : say(none)
  try {
    return say(decode(value))
  } catch {
    return `unreadable: ${value.slice(0, 64)}`
  }
}

/** A hold that has ended may be forgotten, each store in its own time. */
function holdSides(hold: HoldAccount, value: Value | undefined, now: Instant): Sides {
  const ledger = describeHold(hold)
  if (value === undefined && hold.expiresAt <= now) return { ledger, kept: ledger }
  const decode = (text: Value): HoldAccount => {
    const { window, ...kept } = decodeHold('', text)
    return { ...kept, window: window.startsAt }
  }
  return { ledger, kept: keptSide(value, decode, undefined, describeHold) }
}

/** From its end on a hold is passed over, listed or not. */
function listingSides(
  { open, expiresAt }: HoldListing,
  value: Value | undefined,
  now: Instant,
): Sides {
  const kept = value === undefined ? NOTHING : LISTED
  if (expiresAt <= now) return { ledger: kept, kept }
  return { ledger: open ? LISTED : NOTHING, kept }
}

/** An answer may be forgotten after its time, which no entry says: one that is gone can take nothing back. */
function bookingSides(booked: BookingAccount, value: Value | undefined): Sides {
  const ledger = describeBooking(booked)
  if (value === undefined) return { ledger, kept: ledger }
  const decode = (text: Value): BookingAccount => {
    const { verb } = booked
    const { reversed, holdId, booking } = keptBooking(verb, answerIn(text))
    if (booking === undefined) return { verb, reversed, hold: holdId }
    const { window, hold, ...rest } = booking
    return { verb, reversed, hold, booking: { ...rest, window: window.startsAt } }
  }
  return { ledger, kept: keptSide(value, decode, undefined, describeBooking) }
}

/** Forgotten early, an act of an operator could be done again under its id. */
function onceSides(until: Instant, value: Value | undefined, now: Instant): Sides {
  const ledger = `remembered until ${until}`
  if (until <= now) return { ledger, kept: ledger }
  return { ledger, kept: value === undefined ? NOTHING : `remembered until ${value.split(' ')[1]}` }
}

function describeCalendar({ origin, window, previous, seen, compacted }: CalendarAccount): string {
  const windows = describeWindows({ origin, window, previous })
  return `${windows}, seen ${seen}, compacted before ${compacted ?? 'none'}`
}

function describeWindows({ origin, window, previous }: OpenedWindow): string {
  const told = ({ startsAt, endsAt }: SpendingWindow): string => `${startsAt} to ${endsAt}`
  const before = previous === undefined ? 'none' : told(previous)
  return `since ${origin}, window ${told(window)}, before it ${before}`
}

/** Holds that have ended by then count no more, whether or not they are still kept. */
function describeBudget(state: BudgetState, now: Instant): string {
  const { spent, held } = openAt(state, now)
  const open = held.filter(({ amount }) => amount > 0n)
  const holds = open.map((hold) => `${hold.amount} held until ${hold.expiresAt}`)
  return [`spent ${spent}`, ...holds].join(', ')
}

function describeTerms(terms: Terms, now: Instant): string {
  const { limit = 'none', carried, since = 'none', passed, owed, granted } = terms
  const own = `limit ${limit}, carried ${carried} since ${since}, passed ${passed}, owed ${owed}`
  return `${own}, from grants ${describeBudget(granted, now)}`
}

function describeFunds({ grants, last }: Funds, now: Instant): string {
  const limit = last === undefined ? [] : [`limit ${last.limit} in ${last.window}`]
  const useful = stillUseful(grants, now).map((grant) => describeGrant(grant, now))
  return [...useful, ...limit].join('; ') || NOTHING
}

function describeGrant(grant: Grant, now: Instant): string {
  const { id, amount, priority, expiresAt = 'never', actor = '-', reason = '-', voided } = grant
  const end = voided ? `voided at ${expiresAt}` : `until ${expiresAt}`
  const face = `${id}: ${amount}, priority ${priority}, ${end}, by ${actor}: ${reason}`
  return `${face}, ${describeBudget(grant, now)}`
}

function describeHold(hold: HoldAccount): string {
  const { party, window, expiresAt, amount, open, pins, captured, charged, status, final } = hold
  const { takenBack } = hold
  const pinned = pins.map((pin) => `${pin.amount} of ${pin.grant}`).join(' and ') || NOTHING
  const sums = `${amount} held, ${open} open, ${captured} captured, ${charged} charged, ${takenBack} taken back`
  return `${status}, ${sums}, settled at ${final ?? '-'}, pinned ${pinned}, until ${expiresAt}, window ${window}, ${describeParty(party)}`
}

function describeBooking({ reversed, hold = 'none', booking }: BookingAccount): string {
  const back = `hold ${hold}, ${reversed} taken back`
  if (booking === undefined) return back
  const { amount, window, party } = booking
  return `${amount} booked, ${back}, window ${window}, ${describeParty(party)}`
}

const describeParty = ({ plan, tier, member, ip, operation, mode, family }: Party): string =>
  [plan, tier, member, ip, operation, mode, family].map((name) => name ?? '-').join(' ')

function describeCheckpoint(checkpoint: Checkpoint): string {
  const { through, hash, before, spent, archived, archive, reading, grants, calendar } = checkpoint
  const first = `up to entry ${through}, ${hash}, windows before ${before}, ${spent} spent`
  const read = reading && `${reading.amount} read at ${reading.at} after ${reading.spentThen}`
  const granted = `grants of ${grants.plans} plans, ${grants.hash || 'no hash'}`
  const opened = calendar && describeWindows(calendar)
  return [first, `${archived} archived, ${archive || 'no hash'}`, read, opened, granted].join(', ')
}
