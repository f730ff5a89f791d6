/**
 * What was really spent: captured from a hold, settled or released with it, or recorded without one.
 *
 * A hold's charge is the larger of its captures' sum and its settlement, so that messages may come
 * in any order, late, or more than once. What was spent is charged whatever the limits say: the
 * money is gone.
 */
import { NOTHING_SPENT } from '../../core/budget.ts'
import type { Write } from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'
import { maxAmount, minAmount, parseAmount } from '../amount.ts'
import { OUTFLOW } from '../keys.ts'
import type { Draw, EntryDraft, EntryFlag } from '../ledger/entry.ts'
import { move, someOf } from '../ledger/entry-text.ts'
import { spendingMistake } from '../mistake.ts'
import { markOutflow } from '../operator/balance.ts'
import { chargePlan, readAllowance, saveAllowance, standingsAfter } from '../plans/allowance.ts'
import { grantIsOver, type HoldPins, pinsOf, sumOf } from '../plans/funds.ts'
import type { Plan } from '../plans/plan.ts'
import { payingPlan, planById, resolvePlan } from '../plans/resolve.ts'
import { takeBack } from '../plans/rollover.ts'
import { keptWindow, type SpendingWindow } from '../windows/calendar.ts'
import { isOff, offAnswer } from './admission.ts'
import type { SpendingCharge, Standings } from './answer.ts'
import {
  type CanonicalMatter,
  type CaptureAsk,
  canonicalPurpose,
  type Note,
  paidFor,
  type RecordAsk,
  type ReleaseAsk,
  type SettleAsk,
  toNote,
  toOperationName,
} from './ask.ts'
import {
  budgetsOf,
  budgetsReadBy,
  type PartyShift,
  planBudget,
  readBalances,
  shiftBalances,
  writeBalances,
} from './balances.ts'
import {
  claimOf,
  type HoldRecord,
  holdClosed,
  keptIdOf,
  onHold,
  readHold,
  unlistHold,
  writeHold,
} from './hold.ts'
import { underBookingId } from './reversal.ts'
import {
  type LedgerChange,
  type PayerView,
  purposeGuess,
  type SpendingAct,
  type SpendingStep,
  unchanged,
  windowListed,
  windowToCharge,
} from './step.ts'

/** Charges part of a hold and keeps the rest. After a settlement that named less, charges the rest of it. */
export const captureAct = (ask: CaptureAsk): SpendingAct<SpendingCharge> => {
  const { holdId, operationId, operation, mode, family } = ask
  const amount = parseAmount(ask.amount, 'amount')
  const note = toNote(ask)
  if (operation !== undefined) toOperationName(operation)
  const question = [keptIdOf(holdId), amount, operation, mode, family]
  const once = { verb: 'capture', id: operationId, question } as const
  const step: Parameters<typeof underBookingId>[1] = (view) => {
    const hold = readHold(view, holdId)
    if (hold.status === 'released') throw holdClosed(hold, 'capture')
    const { claimed, takenBack } = claimOf(hold, amount)
    const next = { ...hold, captured: hold.captured + amount, takenBack }
    const window = keptWindow(view.calendar, hold.window)
    // What was charged to a window that is gone stays there, whatever it was for.
    const found = window === hold.window ? claimed : 0n
    const paid = paidFor(hold.party, ask)
    const how = { ends: false, note, operationId, claimed: found, paid, at: ask.at }
    const made = chargeHold(view, next, how)
    const booked = made.result.charged + found
    const booking = { window, party: { ...hold.party, ...paid }, amount: booked, hold: hold.id }
    return { ...made, result: { ...made.result, booking } }
  }
  return { guess: onHold(holdId, once, { given: ask }), step: underBookingId(once, step) }
}

/** Ends a hold at what was really spent. The same settlement again changes nothing; another one is a conflict. */
export const settleAct = (ask: SettleAsk): SpendingAct<SpendingCharge> => {
  const final = ask.amount === undefined ? 'captured' : parseAmount(ask.amount, 'amount')
  const note = toNote(ask)
  const step: SpendingStep<SpendingCharge> = (view) => {
    const hold = readHold(view, ask.holdId)
    switch (hold.status) {
      case 'released':
        throw holdClosed(hold, 'settle')
      case 'settled':
        if (hold.final === final) return alreadyEnded(view, hold)
        throw spendingMistake(
          'SETTLEMENT_CONFLICT',
          `settlement of hold ${hold.id}`,
          `must be the one that ended it, at ${hold.final}`,
          String(final),
        )
      case 'open':
        return chargeHold(
          view,
          { ...hold, status: 'settled', final },
          { ends: true, note, at: ask.at },
        )
      default:
        return hold.status satisfies never
    }
  }
  return { guess: onHold(ask.holdId), step }
}

/** Ends a hold with nothing more spent: what was captured stays charged, the rest is free again. */
export const releaseAct = (ask: ReleaseAsk): SpendingAct<SpendingCharge> => {
  const note = toNote(ask)
  const step: SpendingStep<SpendingCharge> = (view) => {
    const hold = readHold(view, ask.holdId)
    switch (hold.status) {
      case 'settled':
        throw holdClosed(hold, 'release')
      case 'released':
        return alreadyEnded(view, hold)
      case 'open':
        return chargeHold(view, { ...hold, status: 'released' }, { ends: true, note, at: ask.at })
      default:
        return hold.status satisfies never
    }
  }
  return { guess: onHold(ask.holdId), step }
}

/** Charges what was spent without a hold, in the current window. Without an operation id, twice counts twice. */
export const recordAct = (ask: RecordAsk): SpendingAct<SpendingCharge> => {
  const purpose = canonicalPurpose(ask)
  const amount = parseAmount(ask.amount, 'amount')
  const note = toNote(ask)
  const { operationId } = ask
  const { address, ip, operation, mode, family } = purpose
  const question = [address, ip, operation, mode, amount, family]
  const once = { verb: 'record', id: operationId, question } as const
  const counted = underBookingId(once, (view) => {
    const window = windowToCharge(view, ask.at)
    const late = window.startsAt !== view.calendar.window.startsAt
    const { plan, party, newLinks } = resolvePlan(view, purpose)
    const made = charge(view, { party, plan, window, spent: amount, beyond: amount, ...NO_HOLD })
    const { owed, books } = made
    const entry: EntryDraft = {
      kind: 'capture',
      window: window.startsAt,
      party,
      moves: move('available', 'spent', amount),
      operationId,
      happened: earlier(view, ask.at),
      note,
      flags: someOf([...(late ? LATE : []), ...(owed > 0n ? OVERAGE : [])]),
      ...books,
    }
    const answer = { ...NOTHING_CHARGED, charged: amount, overage: owed, late, ...made.standings }
    return {
      result: { ...answer, booking: { window, party, amount } },
      // Nothing may have been charged there while it lasted, and so it may not be listed.
      writes: [...made.writes, ...newLinks, ...(late ? [windowListed(view, window)] : [])],
      entries: [...made.entries, entry],
    }
  })
  return {
    guess: purposeGuess(purpose, (party) => budgetsReadBy({ party }), once, ask.at),
    step: (view) => (isOff(view) ? unchanged(nothingCharged(view)) : counted(view)),
  }
}

/** Undefined for now: an entry has a time of its own. */
function earlier({ now }: PayerView, at: Instant | undefined): Instant | undefined {
  return at !== undefined && at < now ? at : undefined
}

const NOTHING_CHARGED = { charged: 0n, late: false, overage: 0n, released: 0n } as const

function nothingCharged(view: PayerView): SpendingCharge {
  const { plan, total, window } = offAnswer(view)
  return { ...NOTHING_CHARGED, plan, total, window }
}

/** How a hold is charged. */
interface HoldCharge {
  /** Nothing stays kept aside. */
  readonly ends: boolean
  readonly note: Note
  readonly operationId?: string | undefined
  /** When it happened, if not now. */
  readonly at?: Instant | undefined
  /** What of this capture a settlement had charged already. */
  readonly claimed?: bigint
  /** On what, where that is not what the hold was for. */
  readonly paid?: CanonicalMatter | undefined
}

/** Brings what is charged up to what the hold's captures and settlement now say. */
function chargeHold(
  view: PayerView,
  hold: HoldRecord,
  how: HoldCharge,
): LedgerChange<SpendingCharge> {
  const { party, expiresAt, amount, open } = hold
  const window = keptWindow(view.calendar, hold.window)
  const due = typeof hold.final === 'bigint' ? maxAmount(hold.final, hold.captured) : hold.captured
  const spent = due - hold.charged
  const expired = expiresAt <= view.now
  const fromHold = expired ? 0n : minAmount(spent, open)
  const released = how.ends || expired ? open - fromHold : 0n
  // A hold that was settled keeps nothing aside any more, though it was larger once.
  const beyond = (charged: bigint): bigint => maxAmount(0n, charged - amount)
  const overage = expired ? beyond(due) - beyond(hold.charged) : spent - fromHold
  const pinned = pinsOf(hold, { fromHold, ends: how.ends, expired })
  const plan = payingPlan(view, party)
  const { paid, claimed = 0n } = how
  // A settlement that came before its capture was charged as the hold was for: that is put right.
  const unspent = paid === undefined ? 0n : claimed
  const made = charge(view, {
    party,
    paid,
    plan,
    window,
    expiresAt,
    spent: spent + unspent,
    unspent,
    beyond: spent - fromHold,
    freed: fromHold + released,
    ...pinned,
  })
  const effect = { window, spent, unspent, fromHold, released, overage, expired, made, ...pinned }
  const next = { ...hold, charged: due, open: open - fromHold - released, pins: pinned.kept }
  return {
    result: {
      charged: spent,
      late: expired,
      overage,
      released: expired ? 0n : released,
      ...made.standings,
    },
    writes: [...made.writes, writeHold(view, next), ...(how.ends ? unlistHold(view, hold) : [])],
    entries: [...made.entries, ...entriesOf(hold, { ...how, at: earlier(view, how.at) }, effect)],
  }
}

interface HoldEffect extends HoldPins {
  readonly window: SpendingWindow
  readonly spent: bigint
  /** Of what was charged before, how much was for something else. */
  readonly unspent: bigint
  readonly fromHold: bigint
  readonly released: bigint
  readonly overage: bigint
  readonly expired: boolean
  readonly made: Charged
}

function entriesOf(hold: HoldRecord, how: HoldCharge, effect: HoldEffect): readonly EntryDraft[] {
  const { party, expiresAt } = hold
  const { ends, note, operationId, paid, at: happened } = how
  const { window, spent, unspent, fromHold, released, overage, expired, taken, returned, made } =
    effect
  const flags: EntryFlag[] = []
  if (expired && spent > 0n) flags.push('late')
  if (overage > 0n) flags.push('overage')
  if (expired) flags.push('expired')
  const lost = returned.filter(({ grant }) => made.expiredGrants.has(grant))
  const back = returned.filter(({ grant }) => !made.expiredGrants.has(grant))
  const { draws, owed, limit } = made.books
  // One entry for all that the call did with the hold. Field by field: put together from parts, it
  // took more room and time than all balances of the charge.
  const done: EntryDraft = {
    window: window.startsAt,
    from: window === hold.window ? undefined : hold.window.startsAt,
    party,
    hold: hold.id,
    expiresAt,
    happened,
    note,
    operationId,
    kind: ends ? (hold.status === 'settled' ? 'settle' : 'release') : 'capture',
    paid,
    moves: [
      ...move('held', 'spent', fromHold),
      ...move('available', 'spent', spent - fromHold),
      ...move('spent', 'spent', unspent),
      ...move('held', 'available', released),
    ],
    flags: someOf(flags),
    pins: someOf([...taken, ...back]),
    captured: ends ? undefined : hold.captured,
    final: ends ? hold.final : undefined,
    draws,
    owed,
    limit,
  }
  return lost.length === 0 ? [done] : [done, forfeitWith(done, lost)]
}

function forfeitWith(done: EntryDraft, pins: readonly Draw[]): EntryDraft {
  const { window, party, hold, expiresAt, happened, note, operationId } = done
  const common = { window, party, hold, expiresAt, happened, note, operationId }
  return { ...common, kind: 'forfeit', moves: move('granted', 'forfeited', sumOf(pins)), pins }
}

const LATE: readonly EntryFlag[] = ['late']
const OVERAGE: readonly EntryFlag[] = ['overage']

function alreadyEnded(view: PayerView, hold: HoldRecord): LedgerChange<SpendingCharge> {
  const { party } = hold
  const window = keptWindow(view.calendar, hold.window)
  const balances = readBalances(view, window.startsAt, budgetsOf(party))
  const plan = party.plan === undefined ? undefined : planById(view, party.plan)
  const allowance = plan && readAllowance(view, plan, window.startsAt)
  const standings = standingsAfter(view, allowance, window, balances)
  return unchanged({ ...NOTHING_CHARGED, ...standings, replayed: true })
}

interface SpentMoney extends PartyShift {
  readonly plan: Plan | undefined
  readonly window: SpendingWindow
  /** What of it no hold had kept aside. */
  readonly beyond: bigint
  /** The pins of the part of a hold that ends with it. */
  readonly taken: readonly Draw[]
  readonly returned: readonly Draw[]
}

interface Charged {
  readonly writes: readonly Write[]
  /** That come before the entry of the charge. */
  readonly entries: readonly EntryDraft[]
  /** What the entry of the charge says beside its moves. */
  readonly books: Pick<EntryDraft, 'draws' | 'owed' | 'limit'>
  readonly owed: bigint
  readonly expiredGrants: ReadonlySet<string>
  readonly standings: Standings
}

/** Charges every budget of the party, and grants where the plan's own allowance is used up. */
function charge(view: PayerView, money: SpentMoney): Charged {
  const { plan, window, spent } = money
  const { startsAt } = window
  const before = readBalances(view, startsAt, budgetsReadBy(money))
  const balances = shiftBalances(before, money, view.now)
  const common = [
    ...writeBalances(view, startsAt, balances),
    ...(spent > 0n ? markOutflow(view, before.get(OUTFLOW)) : []),
  ]
  if (plan === undefined) {
    const standings = standingsAfter(view, undefined, window, balances)
    return { ...NOTHING_OF_A_PLAN, writes: common, standings }
  }
  const allowance = readAllowance(view, plan, startsAt)
  const state = balances.get(planBudget(plan.id)) ?? NOTHING_SPENT
  const charged = chargePlan(allowance, state, money, view.now)
  const back =
    startsAt === view.calendar.window.startsAt
      ? { terms: charged.allowance.terms, writes: [], entries: [] }
      : takeBack(view, charged.allowance, state)
  const after = { ...charged.allowance, terms: back.terms }
  const saved = saveAllowance(view, allowance, after)
  const { draws, owed } = charged
  return {
    writes: [...common, ...saved.writes, ...back.writes],
    entries: [...saved.entries, ...back.entries],
    books: {
      draws: someOf(draws),
      owed: owed > 0n ? owed : undefined,
      limit: saved.limit,
    },
    owed,
    expiredGrants: new Set(
      allowance.funds.grants.filter((grant) => grantIsOver(grant, view.now)).map(({ id }) => id),
    ),
    standings: standingsAfter(view, after, window, balances),
  }
}

const NO_HOLD = { freed: 0n, taken: [], returned: [] } as const

const NOTHING_OF_A_PLAN = {
  entries: [],
  books: {},
  owed: 0n,
  expiredGrants: new Set<string>(),
} as const
