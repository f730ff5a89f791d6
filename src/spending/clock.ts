/**
 * Whether spending trusts the clock. A fast one would open a window that is not due, end the holds of
 * others, and leave the payer in the future when it is set right, as its time never runs back.
 *
 * Judged within the transaction that charges, over the time that it uses: while the store's time is
 * off the record of this boot by more than five seconds, or behind what was recorded, nothing is
 * spent, no window is moved and nothing is written. The record is the payer's own, in its partition.
 */
import { formatDuration } from '../core/duration.ts'
import { quote, StoreError } from '../core/errors.ts'
import {
  acceptedClock,
  type ClockMoment,
  type ClockRecord,
  type ClockVerdict,
  type ConfirmClock,
  decodeClock,
  describeClock,
  encodeClock,
  judgeClock,
  lookAtClock,
  type MachineReading,
  NOTHING_YET,
  retryAfterClock,
  type UntrustedClock,
} from '../core/machine-clock.ts'
import { itemOf } from '../core/names.ts'
import { answer, type Commit, type Key, type Store, type View, type Write } from '../core/store.ts'
import { type Instant, instant, type Span, seconds, span } from '../core/time.ts'
import { lookConfirmed, type TimeSource } from '../lib/time-sources.ts'
import { type Note, toNote } from './flow/ask.ts'
import { type PayerView, toCommit } from './flow/step.ts'
import type { SpendingKeys } from './keys.ts'
import { type Checkpoint, readCompacted, writeCompacted } from './ledger/checkpoint.ts'
import { letGo } from './ledger/compaction.ts'
import { type GrantsOnRecord, grantsOnRecord, putBack } from './ledger/lost-grants.ts'
import { readIndex } from './ledger/pages.ts'
import { spendingMistake } from './mistake.ts'
import { type Calendar, calendarSetBack, type SpendingWindow } from './windows/calendar.ts'

/** Holds live for minutes: what a hold can lose to a clock must be small beside that. */
const MAX_CLOCK_OFF: Span = seconds(5)

export interface ClockWitness {
  readonly store: Store
  /**
   * The machine whose clock the store reads. Absent: the clock is not judged, as it need not be where
   * the store has one of its own that all processes share.
   */
  readonly machine?: (() => MachineReading) | undefined
  /** Asked after a reboot: more than half must agree with the clock. None: it is taken as it is. */
  readonly timeSources?: readonly TimeSource[] | undefined
}

export class UntrustedClockError extends StoreError {
  readonly verdict: UntrustedClock
  readonly retryIn: Span

  constructor(verdict: UntrustedClock) {
    super({
      code: 'CLOCK_UNTRUSTED',
      thing: 'the clock',
      rule: 'must run as the machine does, or nothing is spent',
      finding: `that ${describeClock(verdict)}`,
    })
    this.verdict = verdict
    this.retryIn = retryAfterClock(verdict)
  }
}

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

interface SpendingClock {
  /** A payer's view for an act: throws `UntrustedClockError`. */
  open(view: View): PayerView
  /** The same for whoever only reads: a boot that nobody has looked at yet is no reason to refuse. */
  read(view: View): PayerView
  /** Looks once where the act finds a boot that is new, and then runs it again. */
  confirmed<R>(act: () => Promise<R>): Promise<R>
  look(): Promise<ClockVerdict>
  repair(ask?: ClockRepairAsk): Promise<SpendingClockRepair>
  guess(keys: SpendingKeys): readonly Key[]
}

type OpenPayer = (view: View) => PayerView

export const spendingClock = (witness: ClockWitness, open: OpenPayer): SpendingClock => {
  const { store, machine, timeSources: sources } = witness
  if (machine === undefined) return unjudged(store, open)
  const judged = (view: View, isFine: (verdict: ClockVerdict) => boolean): PayerView => {
    const payer = open(view)
    const verdict = judgeClock(recordOf(payer), momentOf(view, machine()))
    if (!verdict.trusted && !isFine(verdict)) throw new UntrustedClockError(verdict)
    return payer
  }
  // The machine is read in the step, beside the store's time: one that slept in between would seem to have leapt.
  const look = () =>
    lookConfirmed({
      machine,
      sources,
      maxOff: MAX_CLOCK_OFF,
      look: (confirm) =>
        store.transact((view) => lookStep(open(view), momentOf(view, machine()), confirm)),
    })
  return {
    open: (view) => judged(view, () => false),
    read: (view) => judged(view, isNew),
    confirmed: async (act) => {
      try {
        return await act()
      } catch (error) {
        if (!(error instanceof UntrustedClockError) || !isNew(error.verdict)) throw error
        const verdict = await look()
        if (!verdict.trusted) throw new UntrustedClockError(verdict)
        return act()
      }
    },
    look,
    repair: async (ask = {}) => {
      const vouched = { note: toNote(ask), reason: toReason(ask.reason) }
      for (;;) {
        const windows = await windowsToReturnTo(store, open)
        const record = await grantsOnRecord(store, open)
        const repaired = await store.transact((view) =>
          repairStep(open(view), momentOf(view, machine()), { ...vouched, windows, record }),
        )
        if (repaired !== undefined) return repaired
      }
    },
    guess: ({ clock }) => [clock],
  }
}

/** The store's clock is taken as it is. */
function unjudged(store: Store, open: OpenPayer): SpendingClock {
  const found: ClockVerdict = { trusted: true, offBy: span(0), basis: 'nothing' }
  return {
    open,
    read: open,
    confirmed: (act) => act(),
    look: async () => found,
    repair: () => store.transact(({ now }) => answer({ found, now })),
    guess: () => [],
  }
}

const isNew = (verdict: ClockVerdict): boolean =>
  !verdict.trusted && verdict.reason === 'unconfirmed'

const momentOf = ({ now }: View, reading: MachineReading): ClockMoment => ({
  now,
  reading,
  maxOff: MAX_CLOCK_OFF,
})

/** The calendar is a record too: it keeps the newest time at which anything was written for this payer. */
function recordOf({ keys, stored, read }: PayerView): ClockRecord | undefined {
  const [value] = read(keys.clock)
  const record = value === undefined ? undefined : decodeClock(value)
  if (stored === undefined) return record
  const { newest, boots } = record ?? NOTHING_YET
  return { boots, newest: instant(Math.max(newest, stored.seen - MAX_CLOCK_OFF)) }
}

function lookStep(
  payer: PayerView,
  moment: ClockMoment,
  confirm: ConfirmClock,
): Commit<ClockVerdict> {
  const { verdict, next } = lookAtClock(recordOf(payer), moment, confirm)
  if (next === undefined) return answer(verdict)
  const writes = [{ key: payer.keys.clock, value: encodeClock(next) }]
  return { writes, appends: [], result: verdict }
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
  moment: ClockMoment,
  { note, reason, windows, record }: Vouched,
): Commit<SpendingClockRepair | undefined> {
  const { now } = moment
  const found = judgeClock(recordOf(payer), moment)
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
