/** Holds: money kept aside under a durable id until it is captured, settled or released, or expires. */
import { formatDuration } from '../../core/duration.ts'
import { quote } from '../../core/errors.ts'
import type { Write } from '../../core/store.ts'
import { days, type Instant, instant, type Span, seconds } from '../../core/time.ts'
import { minAmount, parseAmount } from '../amount.ts'
import { implicitPlanId } from '../keys.ts'
import type { Draw, EntryDraft } from '../ledger/entry.ts'
import { longParty, move, type ShortParty, shortParty, someOf } from '../ledger/entry-text.ts'
import { spendingMistake } from '../mistake.ts'
import { NOTHING_SAVED, saveAllowance } from '../plans/allowance.ts'
import { TIERS } from '../plans/plan.ts'
import { resolvePlan } from '../plans/resolve.ts'
import type { SpendingWindow } from '../windows/calendar.ts'
import { admit, isOff, offAnswer, type SpendingAdmission } from './admission.ts'
import { heldText, type SpendingAnswer } from './answer.ts'
import {
  type CanonicalPurpose,
  canonicalPurpose,
  FAMILIES,
  type HoldAsk,
  type Matter,
  MODES,
  type Note,
  paidFor,
  toNote,
} from './ask.ts'
import { budgetsReadBy, type Party, writeBalances } from './balances.ts'
import {
  calendarGuess,
  forgetAt,
  type Guess,
  type HoldTrace,
  holdGuess,
  type LedgerChange,
  type OnceUnder,
  type PayerView,
  purposeGuess,
  type SpendingAct,
  type SpendingStep,
  unchanged,
  underOperationId,
} from './step.ts'

export interface HoldRecord {
  readonly id: string
  readonly window: SpendingWindow
  readonly party: Party
  readonly expiresAt: Instant
  readonly amount: bigint
  /** What of it is still kept aside, unless it has expired. */
  readonly open: bigint
  /** What of that is kept aside in grants; the rest, in the window's own allowance, is used first. */
  readonly pins: readonly Draw[]
  /** The sum of all captures. */
  readonly captured: bigint
  /** The larger of the captures and the settlement, in whatever order they come. */
  readonly charged: bigint
  /** What was taken back, by the hold's own operation id, of what its settlement charged beyond its captures. */
  readonly takenBack: bigint
  readonly status: 'open' | 'settled' | 'released'
  /** What a settlement named; `captured` where it named nothing. */
  readonly final?: bigint | 'captured' | undefined
  /** Written with it: from then on it is not known any more. */
  readonly rememberedUntil?: Instant
}

/**
 * Keeps the estimate aside in every budget of the path, or refuses and changes nothing. `nonce` is
 * chance, drawn by the caller: a step that runs again must make the same hold.
 */
export const holdAct = (ask: HoldAsk, nonce: string): SpendingAct<SpendingAnswer> => {
  const purpose = canonicalPurpose(ask)
  const estimate = parseAmount(ask.estimate ?? 0n, 'estimate')
  const note = toNote(ask)
  const { operationId } = ask
  const { address, ip, operation, mode, family } = purpose
  const holdFor = checkLifetime(ask.holdFor)
  const question = [address, ip, operation, mode, estimate, family, holdFor]
  const grant: SpendingStep<SpendingAnswer> = (view) => {
    const lifetime = holdFor ?? view.settings.holdFor
    const admission = admit(view, resolvePlan(view, purpose), estimate, lifetime)
    return openHold(view, admission, { estimate, nonce, operationId, note })
  }
  const once = { verb: 'hold', id: operationId, question } as const
  const counted = underOperationId(
    once,
    grant,
    () => heldAnswer(purpose),
    ({ allowed }) => allowed,
  )
  return {
    // Also those that only its settlement will read: then that one asks once too.
    guess: purposeGuess(purpose, (party) => budgetsReadBy({ party }), once),
    step: (view) => (isOff(view) ? unchanged(offAnswer(view)) : counted(view)),
  }
}

interface Opening {
  readonly estimate: bigint
  readonly nonce: string
  readonly operationId: string | undefined
  readonly note: Note
  readonly detail?: string
  readonly flags?: EntryDraft['flags']
}

/** Writes a hold that was admitted down; one that was refused changes nothing. */
export const openHold = (
  view: PayerView,
  admission: SpendingAdmission,
  opening: Opening,
): LedgerChange<SpendingAnswer> => {
  const { answer, allowance, pinned } = admission
  if (!answer.allowed) return unchanged(answer)
  const hold = newHold(view, admission, opening)
  const saved =
    allowance === undefined || pinned === undefined
      ? NOTHING_SAVED
      : saveAllowance(view, allowance, pinned)
  return {
    result: { ...answer, holdId: holdIdOf(hold), expiresAt: hold.expiresAt },
    writes: [
      ...writeBalances(view, hold.window.startsAt, admission.held),
      ...saved.writes,
      ...admission.newLinks,
      writeHold(view, hold),
      listHold(view, hold),
    ],
    entries: [...saved.entries, openingEntry(hold, opening, saved.limit)],
  }
}

/** Longer ones would keep money aside that nobody may come back for. */
export const MAX_LIFETIME = days(1)

export const checkLifetime = (holdFor: Span | undefined): Span | undefined => {
  if (holdFor === undefined || (holdFor >= seconds(1) && holdFor <= MAX_LIFETIME)) return holdFor
  const rule = 'must be from a second to a day'
  throw spendingMistake('HOLD_LIFETIME_INVALID', 'holdFor', rule, formatDuration(holdFor))
}

export const readHold = ({ read, keys, now }: PayerView, holdId: string): HoldRecord => {
  const id = keptIdOf(holdId)
  const [value] = id === undefined ? [] : read(keys.hold(id))
  const hold = id === undefined || value === undefined ? undefined : decodeHold(id, value)
  // By its own word: the store may go on showing what it may forget.
  if (hold?.rememberedUntil !== undefined && hold.rememberedUntil > now) return hold
  const rule = 'must name a hold that was granted and is still remembered'
  throw spendingMistake('HOLD_NOT_FOUND', `hold ${quote(holdId)}`, rule, 'none')
}

/** What an act on a hold reads. `given` is what a capture says it is for. */
export const onHold =
  (
    holdId: string,
    once?: OnceUnder,
    more: { readonly given?: Matter; readonly goesOn?: true } = {},
  ): Guess =>
  (foresight) => {
    const id = keptIdOf(holdId)
    if (id === undefined) return calendarGuess(foresight)
    const { given, ...rest } = more
    const trace = traceOf(holdId)
    const paid = trace && given && paidFor(trace.party, given)
    return holdGuess({ id, trace, once, paid, ...rest })(foresight)
  }

export const findHold = (id: string): SpendingAct<HoldRecord> => ({
  guess: onHold(id),
  step: (view) => unchanged(readHold(view, id)),
})

/** Remembered beyond its end, for settlements that come late and messages that come twice. */
export const writeHold = (view: PayerView, hold: HoldRecord): Write => {
  const expiresAt = forgetAt(view, hold.expiresAt)
  const value = encodeHold(hold, expiresAt)
  return { key: view.keys.hold(hold.id), value, expiresAt }
}

/** Where people find it while it is open. Decisions never look there. */
const listHold = ({ keys }: PayerView, hold: HoldRecord): Write => ({
  key: keys.openHold(hold),
  value: '',
  expiresAt: hold.expiresAt,
})

/** One that ends before its time; the others leave the list by themselves. */
export const unlistHold = ({ keys, now }: PayerView, hold: HoldRecord): readonly Write[] =>
  hold.expiresAt <= now ? [] : [{ key: keys.openHold(hold) }]

/** As it is kept: short, since each hold is remembered for a while. Its key has the id. */
interface ShortHold {
  readonly w: Instant
  /** How long the window is, and when after its start the hold ends and is forgotten. */
  readonly l: readonly [number, number, number]
  readonly y: ShortParty
  /** Amount, open, captured and charged. */
  readonly a: readonly [string, string, string, string]
  readonly g?: readonly (readonly [string, string])[] | undefined
  readonly s?: HoldRecord['status'] | undefined
  readonly f?: string | undefined
  readonly r?: string | undefined
}

const encodeHold = (hold: HoldRecord, until: Instant): string => {
  const { window, party, expiresAt, amount, open, captured, charged, pins, status, final } = hold
  const { takenBack } = hold
  const { startsAt } = window
  const short: ShortHold = {
    w: startsAt,
    l: [window.endsAt - startsAt, expiresAt - startsAt, until - startsAt],
    y: shortParty(party),
    a: [`${amount}`, `${open}`, `${captured}`, `${charged}`],
    g: someOf(pins.map((pin) => [pin.grant, `${pin.amount}`] as const)),
    s: status === 'open' ? undefined : status,
    f: final?.toString(),
    r: takenBack === 0n ? undefined : `${takenBack}`,
  }
  return JSON.stringify(short)
}

export const decodeHold = (id: string, value: string): HoldRecord => {
  const { w, l, y, a, g = [], s, f, r = '0' }: ShortHold = JSON.parse(value)
  const [length, end, until] = l
  const [amount, open, captured, charged] = a
  return {
    id,
    window: { startsAt: w, endsAt: instant(w + length) },
    party: longParty(y),
    expiresAt: instant(w + end),
    amount: BigInt(amount),
    open: BigInt(open),
    captured: BigInt(captured),
    charged: BigInt(charged),
    takenBack: BigInt(r),
    pins: g.map(([grant, pinned]) => ({ grant, amount: BigInt(pinned) })),
    status: s ?? 'open',
    ...(f !== undefined && { final: f === 'captured' ? f : BigInt(f) }),
    rememberedUntil: instant(w + until),
  }
}

/** What a capture finds charged already: by a settlement that came before it. */
interface Claim {
  /** What of it is the capture's from now on: to be moved to what it was for, and taken back by its id. */
  readonly claimed: bigint
  /** Of the hold, afterwards: what was taken back of the settlement is not charged, and so not claimed. */
  readonly takenBack: bigint
}

/** Of a capture of so much; `before` is the hold without it. */
export const claimOf = (
  { charged, captured, takenBack }: Pick<HoldRecord, 'charged' | 'captured' | 'takenBack'>,
  amount: bigint,
): Claim => {
  const settled = charged - captured
  const covered = minAmount(amount, settled)
  const claimed = minAmount(covered, settled - takenBack)
  return { claimed, takenBack: takenBack - (covered - claimed) }
}

export const holdClosed = ({ id, status }: HoldRecord, verb: string) => {
  const finding = `a hold that was ${status}`
  return spendingMistake('HOLD_CLOSED', `hold ${id}`, `must be open to ${verb}`, finding)
}

/*
 * A hold is kept under a time and chance, and the ledger calls it so. Callers get these and, after a tilde, a
 * trace: in which window it is and for whom, so that a process that has never seen the hold knows which
 * balances it is entered in. A trace decides nothing; a forged one costs its forger a round trip.
 */

/** In bytes. Names that come to more go without: escaped, they would be longer than a key may be. */
const MAX_TRACE = 512

/** As text, with the trace. */
const MAX_HOLD_ID = 1_024

/** Undefined for a text that no hold is called. */
export const keptIdOf = (holdId: string): string | undefined =>
  holdId.length > MAX_HOLD_ID ? undefined : HOLD_ID.exec(holdId)?.[1]

const HOLD_ID = /^([\w.-]{1,128})(?:~([\w-]*))?$/

export const holdIdOf = ({
  id,
  window,
  party,
}: Pick<HoldRecord, 'id' | 'window' | 'party'>): string => {
  const { p, t, m, o, d, ip, family } = shortParty(party)
  const words = [window.startsAt.toString(36), o, m, ip, p, t, d, family]
  const trace = Buffer.from(words.join('\n').trimEnd())
  return trace.length > MAX_TRACE ? id : `${id}~${trace.toString('base64url')}`
}

/**
 * A hold's answer as it is kept: without the trace where question and answer tell it, which is where most
 * of its length is. A bare tilde stands for it.
 */
function heldAnswer({ address, operation, mode, family }: CanonicalPurpose) {
  const text = heldText(address && implicitPlanId(address))
  const traced = (id: string, { plan, window }: SpendingAnswer): string =>
    window === null
      ? id
      : holdIdOf({
          id,
          window,
          party: { plan: plan?.id, tier: plan?.tier, member: address, operation, mode, family },
        })
  return {
    encode: (answer: SpendingAnswer): string => {
      const { holdId = '' } = answer
      const id = keptIdOf(holdId)
      const isTold = id !== undefined && id !== holdId && traced(id, answer) === holdId
      return text.encode(isTold ? { ...answer, holdId: `${id}${TOLD}` } : answer)
    },
    decode: (value: string): SpendingAnswer => {
      const answer = text.decode(value)
      const { holdId = '' } = answer
      if (!holdId.endsWith(TOLD)) return answer
      return { ...answer, holdId: traced(holdId.slice(0, -TOLD.length), answer) }
    },
  }
}

const TOLD = '~'

/** In no name that we make a trace of; some stores refuse it in a key. */
const STRANGE = /[^\n\P{Cc}]/u

/** Undefined where there is none, or one that we did not make. */
function traceOf(holdId: string): HoldTrace | undefined {
  const text = HOLD_ID.exec(holdId)?.[2]
  if (text === undefined) return undefined
  const trace = Buffer.from(text, 'base64url').toString()
  if (Buffer.byteLength(trace) > MAX_TRACE || STRANGE.test(trace)) return undefined
  const words = trace.split('\n').map((word) => word || undefined)
  const [start = '', o, m, ip, p, tier, mode, known] = words
  const startsAt = Number.parseInt(start, 36)
  if (o === undefined || !Number.isSafeInteger(startsAt)) return undefined
  const t = TIERS.find((name) => name === tier)
  const d = MODES.find((name) => name === mode)
  const family = FAMILIES.find((name) => name === known)
  return { startsAt: instant(startsAt), party: longParty({ o, m, ip, p, t, d, family }) }
}

function newHold(
  { now, calendar }: PayerView,
  { party, expiresAt, pins }: SpendingAdmission,
  { estimate: amount, nonce }: Opening,
): HoldRecord {
  const { window } = calendar
  return {
    id: newHoldId(now, nonce),
    window,
    party,
    expiresAt,
    amount,
    open: amount,
    pins,
    captured: 0n,
    charged: 0n,
    takenBack: 0n,
    status: 'open',
  }
}

/** The time comes first: holds of one moment are neighbours on the disk. `nonce` makes it unguessable. */
const newHoldId = (now: Instant, nonce: string): string => `${now.toString(36)}.${nonce}`

function openingEntry(
  { id, window, party, expiresAt, amount, pins }: HoldRecord,
  { operationId, note, detail, flags }: Opening,
  limit: EntryDraft['limit'],
): EntryDraft {
  return {
    kind: 'hold',
    window: window.startsAt,
    party,
    moves: move('available', 'held', amount),
    hold: id,
    expiresAt,
    pins: someOf(pins),
    operationId,
    note,
    flags,
    detail,
    limit,
  }
}
