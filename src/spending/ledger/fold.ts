/**
 * The books as the ledger tells them: every account that an entry moves, folded entry by entry. What the
 * store keeps beside the ledger is a cache of this.
 */
import { type BudgetState, endHold, NOTHING_SPENT, openAt, withHold } from '../../core/budget.ts'
import type { Key } from '../../core/store.ts'
import { type Instant, instant } from '../../core/time.ts'
import { maxAmount } from '../amount.ts'
import { budgetsReadBy, limitedBudgetsOf, shiftBalances } from '../flow/balances.ts'
import { OUTFLOW, type SpendingKeys } from '../keys.ts'
import { writeMoney } from '../money-json.ts'
import {
  type Funds,
  type Grant,
  inOrderOfUse,
  NO_TERMS,
  sumOf,
  type Terms,
} from '../plans/funds.ts'
import { budgetAccount, type Fold, fundsAccount, planAccount, termsAccount } from './account.ts'
import { amountOf, type LedgerEntry, moved } from './entry.ts'
import { foldBooking, foldHold } from './fold-bookings.ts'
import { foldCalendar, foldLink, foldOnce, foldWindows } from './fold-records.ts'

/** Windows that started before `before` were compacted: nothing is kept of them. */
export const foldEntry = (
  fold: Fold,
  keys: SpendingKeys,
  entry: LedgerEntry,
  before: Instant = instant(0),
): void => {
  foldOwnRecords(fold, keys, entry)
  foldWindows(fold, keys, entry, before)
  foldMoves(fold, keys, entry, before)
  foldFunds(fold, keys, entry)
  foldTerms(fold, keys, entry, before)
  foldBooking(fold, keys, entry, before)
  foldHold(fold, keys, entry, before)
}

export const changeBudget = (
  fold: Fold,
  keys: SpendingKeys,
  budget: string,
  window: Instant,
  next: (state: BudgetState) => BudgetState,
): void => {
  const key = keys.budget(window, budget)
  fold.set(key, budgetAccount(budget, window, next(stateIn(fold, key) ?? NOTHING_SPENT)))
}

const stateIn = (fold: Fold, key: Key): BudgetState | undefined => {
  const known = fold.get(key)
  return known?.form === 'budget' ? known.state : undefined
}

/** The plan's trail, the checkpoint in force and the newest reading: each is what its last entry says. */
function foldOwnRecords(fold: Fold, keys: SpendingKeys, entry: LedgerEntry): void {
  const { party, seq, checkpoint, reading } = entry
  foldOfOperators(fold, keys, entry)
  foldCalendar(fold, keys, entry)
  const plan = party?.plan
  if (plan !== undefined) {
    const face = { kind: 'trail-drift', what: `newest entry of plan ${plan}` } as const
    fold.set(keys.trail(plan), { ...face, form: 'trail', newest: seq })
  }
  if (checkpoint !== undefined) {
    const face = { kind: 'checkpoint-differs', what: 'checkpoint in force' } as const
    fold.set(keys.compacted, { ...face, form: 'checkpoint', checkpoint })
  }
  if (reading !== undefined) foldReading(fold, keys, reading)
}

/** What operators made, as far as entries that outlive compaction tell it. */
export const foldOfOperators = (fold: Fold, keys: SpendingKeys, entry: LedgerEntry): void => {
  foldPlan(fold, keys, entry)
  foldLink(fold, keys, entry)
  foldOnce(fold, keys, entry)
}

/** A plan that was created while Headgate ran, as its last entry leaves it. */
const foldPlan = (fold: Fold, keys: SpendingKeys, { kept }: LedgerEntry): void => {
  if (kept !== undefined) fold.set(keys.plan(kept.id), planAccount(kept.id, writeMoney(kept)))
}

export const foldReading = (
  fold: Fold,
  keys: SpendingKeys,
  reading: NonNullable<LedgerEntry['reading']>,
): void => {
  const face = { kind: 'reading-drift', what: 'reading of the balance' } as const
  fold.set(keys.reading, { ...face, form: 'exact', value: writeMoney(reading) })
}

function foldMoves(fold: Fold, keys: SpendingKeys, entry: LedgerEntry, before: Instant): void {
  const { window, party, paid, expiresAt, at } = entry
  const held = moved(entry, 'to', 'held')
  const freed = moved(entry, 'from', 'held')
  const spent = moved(entry, 'to', 'spent')
  const unspent = moved(entry, 'from', 'spent')
  if (party === undefined) return
  const change = (budget: string, next: (state: BudgetState) => BudgetState): void => {
    if (window < before && budget !== OUTFLOW) return
    changeBudget(fold, keys, budget, window, next)
  }
  const shift = { party, paid, freed, expiresAt, spent, unspent }
  if (freed + spent + unspent > 0n) {
    const stateOf = (budget: string) => stateIn(fold, keys.budget(window, budget))
    const states = new Map(budgetsReadBy(shift).map((name) => [name, stateOf(name)]))
    for (const [name, state] of shiftBalances(states, shift, at)) change(name, () => state)
  }
  if (held === 0n || expiresAt === undefined) return
  for (const budget of limitedBudgetsOf(party)) {
    change(budget, (state) => withHold(openAt(state, at), { expiresAt, amount: held }))
  }
}

/** A plan's grants: given, pinned by holds, unpinned, spent; and the limit that was last written down. */
export const foldFunds = (fold: Fold, keys: SpendingKeys, entry: LedgerEntry): void => {
  const { party, kind, pins, draws, limit, window, grant } = entry
  const plan = party?.plan
  if (plan === undefined) return
  if ((grant ?? pins ?? draws ?? limit) === undefined) return
  const key = keys.funds(plan)
  const known = fold.get(key)
  const funds: Funds = known?.form === 'funds' ? known.funds : { grants: [] }
  const given = kind === 'grant' ? inOrderOfUse([...funds.grants, grantOf(entry)]) : funds.grants
  const grants = given.map((grant) => afterEntry(grant, entry))
  const last = limit === undefined ? funds.last : { window, limit }
  fold.set(key, fundsAccount(plan, { grants, last }))
}

function grantOf({ grant: id = '', priority = 0, expiresAt, ...entry }: LedgerEntry): Grant {
  const amount = entry.moves.reduce((sum, move) => sum + move.amount, 0n)
  const { detail: reason, note } = entry
  return { id, amount, priority, expiresAt, spent: 0n, held: [], reason, actor: note?.actor }
}

function afterEntry(grant: Grant, { pins, draws, ...entry }: LedgerEntry): Grant {
  if (entry.kind === 'void' && entry.grant === grant.id) {
    return { ...grant, expiresAt: entry.at, voided: true }
  }
  const pinned = amountOf(pins, grant.id)
  const drawn = amountOf(draws, grant.id)
  if (pinned + drawn === 0n) return grant
  const { spent, held } = pinnedAfter(grant, entry, pinned)
  return { ...grant, spent: spent + drawn, held }
}

/** A hold keeps aside, all others give back or spend what one kept. */
function pinnedAfter(
  state: BudgetState,
  { kind, expiresAt, at }: Pick<LedgerEntry, 'kind' | 'expiresAt' | 'at'>,
  amount: bigint,
): BudgetState {
  const open = openAt(state, at)
  if (amount === 0n || expiresAt === undefined) return open
  return kind === 'hold'
    ? withHold(open, { expiresAt, amount })
    : endHold(open, { expiresAt, amount })
}

/** What a plan has in a window beside its balance. */
function foldTerms(fold: Fold, keys: SpendingKeys, entry: LedgerEntry, before: Instant): void {
  const { party, window, from } = entry
  const plan = party?.plan
  if (plan === undefined) return
  const change = (start: Instant, next: (terms: Terms) => Terms): void => {
    if (start < before) return
    const key = keys.terms(start, plan)
    const known = fold.get(key)
    fold.set(key, termsAccount(plan, start, next(known?.form === 'terms' ? known.terms : NO_TERMS)))
  }
  if (entry.kind !== 'rollover') {
    change(window, (terms) => termsAfter(terms, entry))
    return
  }
  const [carried, back] = [moved(entry, 'to', 'carried'), moved(entry, 'from', 'carried')]
  const since = entry.since === undefined ? {} : { since: entry.since }
  change(window, (terms) => ({
    ...terms,
    ...since,
    carried: maxAmount(0n, terms.carried + carried - back),
  }))
  if (from === undefined) return
  change(from, (terms) => ({ ...terms, passed: terms.passed + carried - back }))
}

function termsAfter(terms: Terms, entry: LedgerEntry): Terms {
  const { pins = [], draws = [], owed = 0n, limit, kind } = entry
  const pinned = pinnedAfter(terms.granted, entry, sumOf(pins))
  const drawn = sumOf(draws)
  return {
    ...terms,
    ...(limit !== undefined && { limit }),
    owed: terms.owed + owed - (kind === 'grant' ? drawn : 0n),
    granted: { ...pinned, spent: pinned.spent + drawn },
  }
}
