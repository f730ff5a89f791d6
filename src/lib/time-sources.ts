/** Looking at a clock that time sources may have to confirm first: those of a boot that is new. */
import {
  type ClockVerdict,
  type ConfirmClock,
  confirmedBy,
  type MachineReading,
} from '../core/machine-clock.ts'
import { type Instant, type Span, span } from '../core/time.ts'

/** Rejects if it has no answer. */
export type TimeSource = () => Promise<Instant>

export interface ConfirmingOptions {
  readonly machine: () => MachineReading
  /** Asked only for a boot that is not recorded yet. None: a new boot is believed as it is. */
  readonly sources?: readonly TimeSource[] | undefined
  readonly maxOff: Span
  /** Judges and records, in a transaction of its own. */
  readonly look: (confirm: ConfirmClock) => Promise<ClockVerdict>
}

export const lookConfirmed = async (options: ConfirmingOptions): Promise<ClockVerdict> => {
  const { machine, sources = [], maxOff, look } = options
  if (sources.length === 0) return look(() => 'nothing')
  const found = await look(() => undefined)
  if (found.trusted || found.reason !== 'unconfirmed') return found
  const told = await Promise.allSettled(
    sources.map(async (ask) => span((await ask()) - machine().uptime)),
  )
  const offsets = told.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  return look(confirmedBy(offsets, sources.length, maxOff))
}
