/**
 * Whether the clock that decides attempts can be trusted. One that leaps ahead would release attempts
 * that are not due, and once it is set right their domains would be locked until it is that late again.
 *
 * The store's time less the machine's uptime, which counts sleep, stays the same for as long as the
 * machine runs, unless somebody sets the clock: neither an idle signer nor a laptop that slept changes
 * it. That offset is recorded for each boot, and nothing is signed while the clock is off it by more
 * than a minute, or behind the newest record. Judged within the transaction that charges, over the
 * time that it uses: so every shard has a record, written by the same looks, in the partition of the
 * domains that it judges.
 *
 * Not detected: a clock that was wrong when its boot was first recorded, where no time source is given.
 */
import { assert } from '../../core/errors.ts'
import {
  acceptedClock,
  type ClockVerdict,
  type ConfirmClock,
  encodeClock,
  judgeClock,
  lookAtClock,
  type MachineReading,
} from '../../core/machine-clock.ts'
import { answer, type Commit, type Store, type View } from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'
import { lookConfirmed, type TimeSource } from '../../lib/time-sources.ts'
import { audit } from './audit.ts'
import { clockIn, clockKey, MAX_CLOCK_OFF, momentOf } from './clock-record.ts'
import { shardGroups } from './shards.ts'

export interface ClockWatchOptions {
  readonly store: Store
  readonly machine: () => MachineReading
  /** Asked only for a boot that is not recorded yet: more than half must agree with the clock. */
  readonly sources?: readonly TimeSource[]
}

/**
 * Judges the clock and records what it found; to be called at the start and every few seconds. Until
 * the first call of a boot nothing is signed.
 */
export const watchClock = ({ store, machine, sources }: ClockWatchOptions): Promise<ClockVerdict> =>
  lookConfirmed({
    machine,
    sources,
    maxOff: MAX_CLOCK_OFF,
    // The machine is read in the step, beside the store's time: one that slept in between would seem to have leapt.
    look: async (confirm) =>
      worstOf(
        await inAllShards(store, (view, shards) => watchStep(view, shards, machine(), confirm)),
      ),
  })

/** A transaction for each partition, side by side: one, unless the store is a cluster. */
function inAllShards<R>(
  store: Store,
  step: (view: View, shards: readonly string[]) => Commit<R>,
): Promise<readonly R[]> {
  return Promise.all(
    shardGroups(store).map((shards) =>
      store.transact((view) => step(view, shards), shards.map(clockKey)),
    ),
  )
}

function watchStep(
  view: View,
  shards: readonly string[],
  reading: MachineReading,
  confirm: ConfirmClock,
): Commit<ClockVerdict> {
  const looks = shards.map((shard) => watchShard(view, shard, reading, confirm))
  const writes = looks.flatMap(({ writes: own }) => own)
  return { writes, appends: [], result: worstOf(looks.map(({ result }) => result)) }
}

function watchShard(
  view: View,
  shard: string,
  reading: MachineReading,
  confirm: ConfirmClock,
): Commit<ClockVerdict> {
  const { verdict, next } = lookAtClock(clockIn(view, shard), momentOf(view, reading), confirm)
  if (next === undefined) return answer(verdict)
  const writes = [{ key: clockKey(shard), value: encodeClock(next) }]
  return { writes, appends: [], result: verdict }
}

/** What an operator must hear of: the records of all shards agree, unless a look or a repair reached only some. */
function worstOf(verdicts: readonly ClockVerdict[]): ClockVerdict {
  const [first, ...others] = verdicts
  assert(first !== undefined, 'there are shards')
  return others.reduce((worst, each) => (gravity(each) > gravity(worst) ? each : worst), first)
}

const GRAVITY = ['record', 'first', 'sources', 'nothing', 'unconfirmed', 'behind', 'leapt']

const gravity = (verdict: ClockVerdict): number =>
  GRAVITY.indexOf(verdict.trusted ? verdict.basis : verdict.reason)

export interface ClockRepair {
  /** What was found; nothing was changed if it is trusted. */
  readonly found: ClockVerdict
  /** The time that is accepted. */
  readonly now: Instant
}

/**
 * An operator's word that the clock is right as it is now. It goes to the audit streams: one entry for
 * each partition that it mended, in the same commit. One that was interrupted is done by another.
 */
export const repairClock = async ({
  store,
  machine,
}: Omit<ClockWatchOptions, 'sources'>): Promise<ClockRepair> => {
  const repairs = await inAllShards(store, (view, shards) => repairStep(view, shards, machine()))
  const found = worstOf(repairs.map((each) => each.found))
  const worst = repairs.find((each) => each.found === found)
  assert(worst !== undefined, 'the worst is one of them')
  return worst
}

function repairStep(
  view: View,
  shards: readonly string[],
  reading: MachineReading,
): Commit<ClockRepair> {
  const { now } = view
  const moment = momentOf(view, reading)
  const found = worstOf(shards.map((shard) => judgeClock(clockIn(view, shard), moment)))
  if (found.trusted) return answer({ found, now })
  const correction = found.reason === 'unconfirmed' ? {} : { correction: found.offBy }
  const value = encodeClock(acceptedClock(moment))
  const writes = shards.map((shard) => ({ key: clockKey(shard), value }))
  const records = writes.slice(0, 1).map(({ key }) => key)
  const appends = records.map((record) =>
    audit(now, { event: 'clock repaired', record, ...correction }),
  )
  return { writes, appends, result: { found, now } }
}
