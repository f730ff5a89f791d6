/**
 * Whether spending trusts the clock. A fast one would open a window that is not due, end the holds of
 * others, and leave the payer in the future when it is set right, as its time never runs back.
 *
 * Judged within the transaction that charges, over the time that it uses: while the store's time is
 * off the record of this boot by more than five seconds, or behind what was recorded, nothing is
 * spent, no window is moved and nothing is written. The record is the payer's own, in its partition.
 */
import { StoreError } from '../core/errors.ts'
import {
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
import { answer, type Commit, type Key, type Store, type View } from '../core/store.ts'
import { instant, type Span, seconds, span } from '../core/time.ts'
import { lookConfirmed, type TimeSource } from '../lib/time-sources.ts'
import {
  type ClockRepairAsk,
  type OpenPayer,
  repairedClock,
  type SpendingClockRepair,
} from './clock-repair.ts'
import type { PayerView } from './flow/step.ts'
import type { SpendingKeys } from './keys.ts'

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
    repair: async (ask = {}) =>
      repairedClock(store, open, ask, (view, payer) => {
        const moment = momentOf(view, machine())
        return { moment, found: judgeClock(recordOf(payer), moment) }
      }),
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
