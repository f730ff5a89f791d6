/**
 * A step of spending: what it sees of one payer, and how what it decides becomes a commit.
 *
 * A step reads each key once, decodes it once, and encodes each value it writes once: what was read
 * is passed on, never read again. A test counts.
 */
import { createHash } from 'node:crypto'
import { checkOperationId, once } from '../../core/once.ts'
import {
  answer,
  type Commit,
  type Key,
  type Value,
  type View,
  type Write,
} from '../../core/store.ts'
import { after, days, type Instant, type Span } from '../../core/time.ts'
import { keysOf, OUTFLOW, type SpendingKeys } from '../keys.ts'
import type { EntryDraft } from '../ledger/entry.ts'
import { chainEntries } from '../ledger/entry-text.ts'
import { type SpendingErrorCode, spendingMistake } from '../mistake.ts'
import type { PlanCatalog, SpendingSettings } from '../plans/plan.ts'
import { canonicalPlanId, resolvePlan } from '../plans/resolve.ts'
import {
  type Calendar,
  calendarAt,
  decodeCalendar,
  encodeCalendar,
  keptWindow,
  type SpendingWindow,
  windowAt,
} from '../windows/calendar.ts'
import type { CanonicalMatter, CanonicalPurpose } from './ask.ts'
import { budgetsReadBy, type Party, planBudget } from './balances.ts'

/** A store's view, narrowed to one payer. Its `now` is the payer's own time, which never runs back. */
export interface PayerView extends View {
  readonly settings: SpendingSettings
  readonly plans: PlanCatalog
  readonly keys: SpendingKeys
  readonly calendar: Calendar
  /** As it is kept; undefined where nothing was ever written for this payer. */
  readonly stored: Calendar | undefined
}

export interface LedgerChange<R> {
  readonly result: R
  readonly writes: readonly Write[]
  readonly entries: readonly EntryDraft[]
  /** Only where it changes in more than entries and the time. */
  readonly calendar?: Calendar
}

export type SpendingStep<R> = (view: PayerView) => LedgerChange<R>

/** A step, and the keys that it will probably read. */
export interface SpendingAct<R> {
  readonly step: SpendingStep<R>
  readonly guess: Guess
}

/** Longer than requests are remembered: a queue of fees may be replayed after a long weekend. */
export const REMEMBER_FOR: Span = days(7)

export const openPayerView = (
  view: View,
  settings: SpendingSettings,
  plans: PlanCatalog,
): PayerView => {
  const keys = keysOf(settings.payer)
  const [value] = view.read(keys.calendar)
  const stored = value === undefined ? undefined : decodeCalendar(value)
  const calendar = calendarAt(view.now, stored, settings.window)
  return {
    now: calendar.seen,
    read: (...names) => view.read(...names),
    settings,
    plans,
    keys,
    calendar,
    stored,
  }
}

export const unchanged = <R>(result: R): LedgerChange<R> => ({ result, writes: [], entries: [] })

/**
 * The calendar is written with every change: it numbers and chains the entries and keeps the newest time. The
 * first change in a window lists it, so that each balance is found by the window that it is of.
 */
export const toCommit = <R>(view: PayerView, change: LedgerChange<R>): Commit<R> => {
  const { result, writes, entries } = change
  if (writes.length === 0 && entries.length === 0) return answer(result)
  const { keys, stored } = view
  const { calendar = view.calendar } = change
  const isOpen = calendar.window.startsAt === stored?.window.startsAt
  const chained = chainEntries(view, calendar, isOpen ? entries : opening(calendar, entries))
  const opened = isOpen ? [] : [windowListed(view, calendar.window)]
  return {
    writes: [
      ...writes,
      ...opened,
      ...chained.writes,
      { key: keys.calendar, value: encodeCalendar(chained.calendar) },
    ],
    appends: chained.appends,
    result,
  }
}

/** The first of them says which window it is from now on. */
function opening(
  { origin, window, previous }: Calendar,
  [first, ...rest]: readonly EntryDraft[],
): readonly EntryDraft[] {
  return first === undefined ? rest : [{ ...first, opens: { origin, window, previous } }, ...rest]
}

/** With its end: a clock that is repaired may have to find it again. */
export const windowListed = ({ keys }: PayerView, { startsAt, endsAt }: SpendingWindow): Write => ({
  key: keys.window(startsAt),
  value: String(endsAt),
})

/** Of what is older than anything that is remembered, or was compacted, nothing is known: it counts now. */
export const windowToCharge = (
  { calendar, settings, now }: PayerView,
  at: Instant = now,
): SpendingWindow => {
  const { rememberFor = REMEMBER_FOR, compactAfter = rememberFor } = settings
  const known = Math.min(rememberFor, compactAfter)
  const then = now - at < known ? windowAt(calendar, at, settings.window) : calendar.window
  return keptWindow(calendar, then)
}

/** When an answer given now, or a hold that ends then, may be forgotten. */
export const forgetAt = ({ settings, now }: PayerView, end: Instant = now): Instant =>
  after(end > now ? end : now, settings.rememberFor ?? REMEMBER_FOR)

/** How long the id of an operator's act is remembered: its entry says it, since to forget it early does harm. */
export const untilOf = (view: PayerView, id: string | undefined): Instant | undefined =>
  id === undefined ? undefined : forgetAt(view)

/** How an answer is remembered: short, since each operation leaves one behind. */
interface KeptAnswer<R> {
  encode(result: R): Value
  decode(value: Value): R
}

interface OperationAsk extends OnceUnder {
  readonly verb: 'hold' | 'extend' | 'capture' | 'record' | 'reverse' | 'grant' | 'void'
  /** What was asked, canonical and in a fixed order. The same id with another question is a mistake. */
  readonly question: readonly unknown[]
}

/**
 * The step under an operation id: it happens once, and its answer is kept if it `counts`. Answers
 * are forgotten by time only, not by number: forgetting one early would charge a caller twice.
 */
export const underOperationId = <R extends { readonly replayed?: true }>(
  { verb, id, question }: OperationAsk,
  step: SpendingStep<R>,
  kept: () => KeptAnswer<R>,
  counts: (result: R) => boolean = () => true,
): SpendingStep<R> => {
  if (id === undefined) return step
  checkOperationId(id)
  const digest = digestOf(question)
  return (view) =>
    once<R, LedgerChange<R>>(
      view,
      {
        key: view.keys.operation(verb, id),
        digest,
        expiresAt: forgetAt(view),
        counts,
        ...kept(),
        reused: () => reused(verb, id),
      },
      () => step(view),
      (result) => unchanged({ ...result, replayed: true }),
    )
}

function reused(verb: OperationAsk['verb'], id: string) {
  const code: SpendingErrorCode = verb === 'hold' ? 'HOLD_CONFLICT' : 'OPERATION_ID_REUSED'
  const rule = `must name one ${verb} only, asked again in the same words`
  return spendingMistake(code, `operationId ${id}`, rule, `an id that was used for another ${verb}`)
}

function digestOf(question: readonly unknown[]): string {
  const text = JSON.stringify(question, (_, held) =>
    typeof held === 'bigint' ? held.toString() : held,
  )
  return createHash('sha256').update(text).digest('base64url').slice(0, DIGEST_LENGTH)
}

/** 132 bits: it tells a caller's own questions apart. */
const DIGEST_LENGTH = 22
/*
 * Which keys an act will probably read. A store that is far away asks for all of them at once,
 * together with what the act would write; a key that no guess named may cost one more round trip.
 *
 * Only ever a guess: what a process last saw of the calendar names keys here and decides nothing.
 * The step reads the calendar, the links and the hold for itself.
 */

/** What a process knows before it asks the store. */
interface Foresight {
  readonly settings: SpendingSettings
  readonly plans: PlanCatalog
  readonly keys: SpendingKeys
  /** Those that the act may fall under: none yet, one, or two where a window is about to end. */
  readonly calendars: readonly Calendar[]
}

export type Guess = (foresight: Foresight) => readonly Key[]

export const calendarGuess: Guess = ({ keys }) => [keys.calendar]

export const readingGuess: Guess = ({ keys, calendars }) => [
  keys.calendar,
  keys.reading,
  keys.marks,
  ...calendars.map(({ window }) => keys.budget(window.startsAt, OUTFLOW)),
]

/** An act that happens once under its id. */
export interface OnceUnder {
  readonly verb: string
  /** Absent: every call counts. */
  readonly id: string | undefined
}

/** What the id of a hold says of it: whose it is, and in which window. */
export interface HoldTrace {
  readonly startsAt: Instant
  readonly party: Party
}

interface OnHold {
  readonly id: string
  readonly trace: HoldTrace | undefined
  readonly once?: OnceUnder | undefined
  /** What a capture is for, where that is not what the hold is for. */
  readonly paid?: CanonicalMatter | undefined
  /** Another takes its place: then what a hold of now would read is read too. */
  readonly goesOn?: true
}

/** The hold, and what it is entered in by the word of its id: a process need not have seen it. */
export const holdGuess =
  ({ id, trace, once, paid, goesOn }: OnHold): Guess =>
  (foresight) => {
    const { keys, calendars } = foresight
    const names: Key[] = [keys.calendar, keys.marks, keys.hold(id), ...operationKeys(keys, once)]
    if (goesOn) names.push(keys.reading)
    if (trace === undefined) return names
    const { startsAt, party } = trace
    const now = goesOn ? calendars.map(({ window }) => window.startsAt) : []
    const budgets = budgetsReadBy({ party, paid })
    for (const window of new Set([startsAt, ...now])) {
      for (const budget of budgets) names.push(keys.budget(window, budget))
    }
    if (party.plan === undefined) return names
    names.push(keys.plan(party.plan), keys.terms(startsAt, party.plan))
    pushAllowance(names, foresight, party.plan)
    return names
  }

/** Whichever verb the id is of. What it names says the rest, as a hold does. */
export const reversalGuess =
  (id: string, once: OnceUnder): Guess =>
  ({ keys }) => [
    keys.calendar,
    ...operationKeys(keys, once),
    ...['record', 'capture', 'hold'].map((verb) => keys.operation(verb, id)),
  ]

/** The links of address and IP, the plan that pays where there is none, and the budgets on its path. */
export const purposeGuess =
  (
    purpose: CanonicalPurpose,
    budgetsOn: (party: Party) => readonly string[],
    once?: OnceUnder,
    at?: Instant,
  ): Guess =>
  (seen) => {
    const foresight = at === undefined ? seen : foresightAt(seen, at)
    const { keys, settings, plans } = foresight
    if (settings.total === 0n) return [keys.calendar]
    const names: Key[] = [keys.calendar, keys.reading, keys.marks, ...operationKeys(keys, once)]
    const nothingKept = (...asked: readonly Key[]) => {
      names.push(...asked)
      return asked.map(() => undefined)
    }
    const { party } = resolvePlan({ settings, plans, keys, read: nothingKept }, purpose)
    const budgets = budgetsOn(party)
    for (const { window } of foresight.calendars) {
      for (const budget of budgets) names.push(keys.budget(window.startsAt, budget))
    }
    if (party.plan !== undefined) pushAllowance(names, foresight, party.plan)
    return names
  }

/** Of what happened earlier: the windows that it falls in, as far as this process knows. */
function foresightAt(foresight: Foresight, at: Instant): Foresight {
  const { calendars, settings } = foresight
  const then = (calendar: Calendar): Calendar => ({
    ...calendar,
    window: windowAt(calendar, at, settings.window),
  })
  return { ...foresight, calendars: calendars.map(then) }
}

/** A plan by its id, with its balance and what it may spend. */
export const planGuess =
  (id: string, once?: OnceUnder): Guess =>
  (foresight) => {
    const { keys, calendars } = foresight
    const plan = canonicalPlanId(id)
    if (plan === undefined) return [keys.calendar]
    const names = [keys.calendar, ...operationKeys(keys, once), keys.plan(plan)]
    for (const { window } of calendars) names.push(keys.budget(window.startsAt, planBudget(plan)))
    pushAllowance(names, foresight, plan)
    return names
  }

/** A plan, and a member that is to be linked to it or unlinked. */
export const memberGuess =
  (id: string, member: string): Guess =>
  ({ keys }) => {
    const plan = canonicalPlanId(id)
    const ofPlan = plan === undefined ? [] : [keys.plan(plan), keys.trail(plan)]
    return [keys.calendar, keys.link(member), ...ofPlan]
  }

function pushAllowance(names: Key[], { keys, calendars, settings }: Foresight, plan: string): void {
  names.push(keys.funds(plan), keys.trail(plan))
  for (const { window, previous } of calendars) {
    names.push(keys.terms(window.startsAt, plan))
    if (settings.rollover === undefined || previous === undefined) continue
    names.push(keys.budget(previous.startsAt, planBudget(plan)))
    names.push(keys.terms(previous.startsAt, plan))
  }
}

function operationKeys(keys: SpendingKeys, once: OnceUnder | undefined): readonly Key[] {
  return once?.id === undefined ? [] : [keys.operation(once.verb, once.id)]
}
