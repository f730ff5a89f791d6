/** Where a signer keeps what it recorded of the clock: in each shard, beside the domains that it judges. */
import {
  type ClockMoment,
  type ClockRecord,
  decodeClock,
  judgeClock,
  type MachineReading,
  retryAfterClock,
} from '../../core/machine-clock.ts'
import { answer, type Commit, type Key, type View } from '../../core/store.ts'
import { minutes, type Span } from '../../core/time.ts'
import { type SignerRefusal, signerRefusal } from './response.ts'
import { secretName } from './shards.ts'

/** Off by this much is no longer a small correction: no delay is cut short by more than twice as much. */
export const MAX_CLOCK_OFF: Span = minutes(1)

export const clockKey = (shard: string): Key => secretName(shard, 'clock')

export const momentOf = ({ now }: View, reading: MachineReading): ClockMoment => ({
  now,
  reading,
  maxOff: MAX_CLOCK_OFF,
})

/** Undefined if the clock is trusted in this shard; else what to answer instead of signing. Reads one key. */
export const clockRefusal = (
  view: View,
  shard: string,
  reading: MachineReading,
): Commit<SignerRefusal> | undefined => {
  const verdict = judgeClock(clockIn(view, shard), momentOf(view, reading))
  if (verdict.trusted) return undefined
  const retryIn = retryAfterClock(verdict)
  return answer(
    signerRefusal('CLOCK_UNTRUSTED', 'the signer does not trust its clock', { retryIn }),
  )
}

export function clockIn(view: View, shard: string): ClockRecord | undefined {
  const [value] = view.read(clockKey(shard))
  return value === undefined ? undefined : decodeClock(value)
}
