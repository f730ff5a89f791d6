/**
 * The chain of a payer's ledger, as it is kept: each entry carries its number and the hash of the one before
 * it, and the calendar keeps both of the last.
 *
 * An entry is JSON with short names, because every hold and settlement adds some for
 * good. What can be told from the rest is left out. The text is what hashes are made of, so an entry
 * has one text only: `encodeEntry(decodeEntry(text))` is the text.
 */
import { hash } from 'node:crypto'
import type { Append, Write } from '../../core/store.ts'
import { type Instant, instant } from '../../core/time.ts'
import type { Note, SpendingMode } from '../flow/ask.ts'
import type { Party } from '../flow/balances.ts'
import type { PayerView } from '../flow/step.ts'
import { implicitPlanId } from '../keys.ts'
import { readMoney, writeMoneyAfter } from '../money-json.ts'
import type { Tier } from '../plans/plan.ts'
import type { Calendar } from '../windows/calendar.ts'
import type { EntryDraft, EntryKind, LedgerEntry, Move, Pot } from './entry.ts'

/** Fields that are not here keep their names. */
interface ShortEntry
  extends Omit<
    LedgerEntry,
    | 'seq'
    | 'at'
    | 'prev'
    | 'planPrev'
    | 'kind'
    | 'window'
    | 'party'
    | 'moves'
    | 'hold'
    | 'expiresAt'
    | 'operationId'
    | 'note'
  > {
  readonly n: number
  /** Since the start of the window. */
  readonly t: number
  readonly p?: string | undefined
  readonly b?: number | undefined
  readonly k: EntryKind
  readonly w: Instant
  readonly y?: ShortParty | undefined
  readonly m?: string | undefined
  readonly h?: string | undefined
  /** Since the entry was made. */
  readonly e?: number | undefined
  readonly o?: string | undefined
  readonly c?: Note | undefined
}

type Place = Pick<LedgerEntry, 'seq' | 'at' | 'prev' | 'planPrev'>

export const encodeEntry = (entry: LedgerEntry): string => textOf(entry, entry)

/** A draft in its place of the chain. Copied into one entry first, it took twice the time. */
function textOf(draft: EntryDraft, { seq, at, prev, planPrev }: Place): string {
  const { kind, window, party, moves, hold, expiresAt, operationId, note } = draft
  const short = {
    n: seq,
    t: at - window,
    p: prev === '' ? undefined : prev,
    b: planPrev,
    k: kind,
    w: window,
    y: party && shortParty(party),
    m: moves.length === 0 ? undefined : moves.map(shortMove).join(' '),
    h: hold,
    e: expiresAt === undefined ? undefined : expiresAt - at,
    o: operationId,
    c: note !== undefined && Object.values(note).some(isSaid) ? note : undefined,
  } satisfies ShortEntry
  return writeMoneyAfter(short, draft, SHORTENED)
}

/** The fields of an entry that are written by short names. */
const SHORTENED: ReadonlySet<string> = new Set<keyof LedgerEntry>([
  'seq',
  'at',
  'prev',
  'planPrev',
  'kind',
  'window',
  'party',
  'moves',
  'hold',
  'expiresAt',
  'operationId',
  'note',
])

const isSaid = (text: string | undefined): boolean => text !== undefined

/** Throws for a text that is no entry. */
export const decodeEntry = (text: string): LedgerEntry => {
  const { n, t, p, b, k, w, y, m, h, e, o, c, ...rest } = readMoney<ShortEntry>(text)
  const at = instant(w + t)
  return {
    seq: n,
    at,
    prev: p ?? '',
    ...(b !== undefined && { planPrev: b }),
    kind: k,
    window: w,
    ...(y !== undefined && { party: longParty(y) }),
    moves: m === undefined ? [] : m.split(' ').map(longMove),
    ...(h !== undefined && { hold: h }),
    ...(e !== undefined && { expiresAt: instant(at + e) }),
    ...(o !== undefined && { operationId: o }),
    ...(c !== undefined && { note: c }),
    ...rest,
  }
}

/** What the next entry carries, and what an operator keeps as an anchor. */
export const hashOfEntry = (text: string): string => hash('sha256', text, 'base64url')

export const move = (from: Pot, to: Pot, amount: bigint): readonly Move[] =>
  amount === 0n ? [] : [{ from, to, amount }]

/** An empty list is left out of an entry. */
export const someOf = <T>(list: readonly T[]): readonly T[] | undefined =>
  list.length === 0 ? undefined : list

const POTS: Readonly<Record<Pot, string>> = {
  available: 'a',
  held: 'h',
  spent: 's',
  issued: 'i',
  granted: 'g',
  carried: 'c',
  forfeited: 'f',
}

const ALL_POTS: readonly Pot[] = [
  'available',
  'held',
  'spent',
  'issued',
  'granted',
  'carried',
  'forfeited',
]

const shortMove = ({ from, to, amount }: Move): string => `${POTS[from]}${POTS[to]}${amount}`

function longMove(text: string): Move {
  return { from: potOf(text.charAt(0)), to: potOf(text.charAt(1)), amount: BigInt(text.slice(2)) }
}

function potOf(letter: string): Pot {
  const pot = ALL_POTS.find((name) => POTS[name] === letter)
  if (pot === undefined) throw new SyntaxError(`no pot is called ${letter}`)
  return pot
}

export interface ShortParty extends Omit<Party, 'plan' | 'tier' | 'member' | 'operation' | 'mode'> {
  readonly p?: string | undefined
  readonly t?: Tier | undefined
  readonly m?: string | undefined
  readonly o: string
  readonly d?: SpendingMode | undefined
}

/** A member's own plan is named after it, BASIC is the usual tier and TRANSACTION the usual mode. */
export const shortParty = (party: Party): ShortParty => {
  const { plan, tier, member, operation, mode, ip, family } = party
  const own = member !== undefined && plan === implicitPlanId(member)
  return {
    p: own ? undefined : plan,
    t: tier === 'BASIC' ? undefined : tier,
    m: member,
    o: operation,
    d: mode === 'TRANSACTION' ? undefined : mode,
    ip,
    family,
  }
}

export const longParty = ({ p, t, m, o, d, ip, family }: ShortParty): Party => {
  const plan = p ?? (m === undefined ? undefined : implicitPlanId(m))
  return {
    plan,
    tier: plan === undefined ? undefined : (t ?? 'BASIC'),
    member: m,
    ip,
    family,
    operation: o,
    mode: d ?? 'TRANSACTION',
  }
}

interface Chained {
  readonly appends: readonly Append[]
  /** Where each plan's history now ends. */
  readonly writes: readonly Write[]
  readonly calendar: Calendar
}

/** Gives drafts their numbers and their links. */
export const chainEntries = (
  view: Pick<PayerView, 'read' | 'keys'>,
  calendar: Calendar,
  drafts: readonly EntryDraft[],
): Chained => {
  const { keys } = view
  const trails = new Map<string, number | undefined>()
  let { entries: seq, head } = calendar
  const appends = drafts.map((draft) => {
    seq += 1
    const plan = draft.party?.plan
    const planPrev = plan === undefined ? undefined : trailOf(view, trails, plan)
    if (plan !== undefined) trails.set(plan, seq)
    const entry = textOf(draft, { seq, at: calendar.seen, prev: head, planPrev })
    head = hashOfEntry(entry)
    return { stream: keys.ledger, entry }
  })
  const writes = Array.from(trails, ([plan, last]) => ({
    key: keys.trail(plan),
    value: String(last),
  }))
  return { appends, writes, calendar: { ...calendar, entries: seq, head } }
}

function trailOf(
  { read, keys }: Pick<PayerView, 'read' | 'keys'>,
  trails: ReadonlyMap<string, number | undefined>,
  plan: string,
): number | undefined {
  if (trails.has(plan)) return trails.get(plan)
  const [value] = read(keys.trail(plan))
  return value === undefined ? undefined : Number(value)
}
