/**
 * An operator's word that the clock is right as it is now. Where a fast one had moved the calendar, let
 * windows go or dropped grants, all of that is put right with it, as one entry.
 */
import { formatDuration } from '../core/duration.ts'
import { quote } from '../core/errors.ts'
import {
  acceptedClock,
  type ClockMoment,
  type ClockVerdict,
  encodeClock,
  type UntrustedClock,
} from '../core/machine-clock.ts'
import { itemOf } from '../core/names.ts'
import { answer, type Commit, type Store, type View, type Write } from '../core/store.ts'
import { type Instant, instant, span } from '../core/time.ts'
import { type Note, toNote } from './flow/ask.ts'
import { type PayerView, toCommit } from './flow/step.ts'
import type { Fold } from './ledger/account.ts'
import { type Checkpoint, readCompacted, writeCompacted } from './ledger/checkpoint.ts'
import { foldGrantsThen, readGrantsThen } from './ledger/checkpoint-grants.ts'
import { letGo } from './ledger/compaction.ts'
import { foldFunds } from './ledger/fold.ts'
import { readIndex, readStream } from './ledger/pages.ts'
import { entryIn } from './ledger/walk.ts'
import { spendingMistake } from './mistake.ts'
import { readMoney, writeMoney } from './money-json.ts'
import { type Funds, type Grant, inOrderOfUse, NO_FUNDS, stillUseful } from './plans/funds.ts'
import { type Calendar, calendarSetBack, type SpendingWindow } from './windows/calendar.ts'

export interface SpendingClockRepair {
  /** What was found; nothing was changed if it is trusted. */
  readonly found: ClockVerdict
  /** The time that is accepted. */
  readonly now: Instant
}

export interface ClockRepairAsk extends Note {
  /** Kept with the entry. */
  readonly reason?: string | undefined
}

export type OpenPayer = (view: View) => PayerView

interface JudgedClock {
  readonly moment: ClockMoment
  readonly found: ClockVerdict
}

export const repairedClock = async (
  store: Store,
  open: OpenPayer,
  ask: ClockRepairAsk,
  judge: (view: View, payer: PayerView) => JudgedClock,
): Promise<SpendingClockRepair> => {
  const [note, reason] = [toNote(ask), toReason(ask.reason)]
  for (;;) {
    const windows = await windowsToReturnTo(store, open)
    const record = await grantsOnRecord(store, open)
    const repaired = await store.transact((view) => {
      const payer = open(view)
      return repairStep(payer, judge(view, payer), { note, reason, windows, record })
    })
    if (repaired !== undefined) return repaired
  }
}

/**
 * Every window in which anything was written. What a checkpoint lets go is gone first: once it is lowered,
 * nothing would say that these balances count no more.
 */
async function windowsToReturnTo(
  store: Store,
  open: OpenPayer,
): Promise<readonly SpendingWindow[]> {
  const { keys, compacted } = await store.transact((view) => {
    const { keys } = open(view)
    return answer({ keys, compacted: readCompacted(view, keys) })
  })
  if (compacted.through > 0) await letGo(store, keys, compacted)
  const windows: SpendingWindow[] = []
  for await (const { key, value } of readIndex(store, keys.windows)) {
    const [startsAt, endsAt] = [instant(Number(itemOf(key))), instant(Number(value))]
    windows.push({ startsAt, endsAt })
  }
  return windows
}

interface Vouched {
  readonly note: Note
  readonly reason: string | undefined
  /** In the order of their starts. */
  readonly windows: readonly SpendingWindow[]
  readonly record: GrantsOnRecord
}

/** Undefined where the ledger has grown since it was read: then it is read again. */
function repairStep(
  payer: PayerView,
  { moment, found }: JudgedClock,
  { note, reason, windows, record }: Vouched,
): Commit<SpendingClockRepair | undefined> {
  const { now } = moment
  if (found.trusted) return answer({ found, now })
  if (payer.calendar.entries !== record.entries) return answer(undefined)
  const calendar = calendarSetBack(payer.calendar, now, payer.settings.window, windows)
  const lowered = checkpointLowered(payer, calendar)
  const entry = {
    kind: 'adjust',
    window: calendar.window.startsAt,
    moves: [],
    note,
    detail: `clock accepted: ${describeRepair(found)}${reason === undefined ? '' : `; ${reason}`}`,
    checkpoint: lowered.checkpoint,
  } as const
  const accepted = { key: payer.keys.clock, value: encodeClock(acceptedClock(moment)) }
  const writes = [accepted, ...lowered.writes, ...putBack(payer, record, now)]
  const view = { ...payer, now: calendar.seen, calendar }
  return toCommit(view, { result: { found, now }, writes, entries: [entry], calendar })
}

/** Where a fast clock had windows compacted that are still to come, the checkpoint says from now on that they are not. */
function checkpointLowered(
  payer: PayerView,
  { compacted: before }: Calendar,
): { readonly checkpoint?: Checkpoint; readonly writes: readonly Write[] } {
  if (before === undefined || before === payer.calendar.compacted) return { writes: [] }
  const next = { ...readCompacted(payer, payer.keys), before }
  const { position: _, ...checkpoint } = next
  return { checkpoint, writes: [writeCompacted(payer.keys, next)] }
}

const REASON = /^[^\p{Cc}\p{Surrogate}]{1,256}$/u

function toReason(text: string | undefined): string | undefined {
  if (text === undefined || REASON.test(text)) return text
  const rule = 'must be 1 to 256 characters without control characters'
  throw spendingMistake('NOTE_INVALID', 'reason', rule, quote(text))
}

function describeRepair(found: UntrustedClock): string {
  if (found.reason === 'unconfirmed') return 'of a boot that was not recorded'
  const { reason, offBy } = found
  const length = formatDuration(span(Math.abs(offBy)))
  if (reason === 'behind') return `${length} behind the newest record`
  return `${length} ${offBy < 0 ? 'behind' : 'ahead of'} the record of its boot`
}

/*
 * Grants that a fast clock let expire were dropped by whoever charged the plan meanwhile, though they can
 * still be used. The ledger has them.
 */

interface GrantsOnRecord {
  /** How many entries there were: what was read of a longer ledger is not all. */
  readonly entries: number
  /** By plan. */
  readonly grants: ReadonlyMap<string, readonly Grant[]>
}

/** Reads the whole ledger: a clock is repaired seldom, and by hand. */
async function grantsOnRecord(store: Store, open: OpenPayer): Promise<GrantsOnRecord> {
  const { keys, entries, through } = await store.transact((view) => {
    const { keys, stored } = open(view)
    const { through } = readCompacted(view, keys)
    return answer({ keys, entries: stored?.entries ?? 0, through })
  })
  const fold: Fold = new Map()
  foldGrantsThen(fold, keys, await readGrantsThen(store, keys))
  const plans = new Set<string>()
  for await (const { entry: text } of readStream(store, keys.ledger)) {
    const entry = entryIn(text)
    if (entry === undefined || entry.seq <= through) continue
    if (entry.seq > entries) break
    foldFunds(fold, keys, entry)
    if (entry.party?.plan !== undefined) plans.add(entry.party.plan)
  }
  const grants = new Map<string, readonly Grant[]>()
  for (const plan of plans) {
    const account = fold.get(keys.funds(plan))
    if (account?.form === 'funds') grants.set(plan, account.funds.grants)
  }
  return { entries, grants }
}

/** Those that can be used at that time and are not kept. Only plans that were charged can have lost any. */
function putBack(
  { read, keys }: PayerView,
  { grants }: GrantsOnRecord,
  now: Instant,
): readonly Write[] {
  const usable = [...grants].flatMap(([plan, given]) => {
    const useful = stillUseful(given, now)
    return useful.length === 0 ? [] : [{ key: keys.funds(plan), useful }]
  })
  const values = read(...usable.map(({ key }) => key))
  return usable.flatMap(({ key, useful }, i) => {
    const value = values[i]
    const funds = value === undefined ? NO_FUNDS : readMoney<Funds>(value)
    const lost = useful.filter(({ id }) => funds.grants.every((grant) => grant.id !== id))
    if (lost.length === 0) return []
    const all = inOrderOfUse([...funds.grants, ...lost])
    return [{ key, value: writeMoney({ ...funds, grants: all }) }]
  })
}
