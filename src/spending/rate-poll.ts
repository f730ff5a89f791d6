/** The exchange rate, kept as fresh as a mirror node has it; the last good one while it has none. */
import type { Span } from '../core/time.ts'
import type { StatedRate } from './exchange-rate.ts'
import type { MirrorNode } from './mirror-node.ts'
import { type Poller, startPoller, type Timers } from './poller.ts'

export interface RatePoll extends Poller {
  /** Undefined until the first answer. May be past its expiry: an old price is better than none. */
  current(): StatedRate | undefined
}

export interface RatePollOptions {
  readonly mirrorNode: Pick<MirrorNode, 'exchangeRate'>
  readonly every: Span
  readonly onFault: (error: unknown) => void
  readonly timers?: Timers
}

export const startRatePoll = ({ mirrorNode, ...rest }: RatePollOptions): RatePoll => {
  let latest: StatedRate | undefined
  const { stop } = startPoller({
    ...rest,
    ask: () => mirrorNode.exchangeRate(),
    onAnswer: (rate) => {
      latest = rate
    },
  })
  return { stop, current: () => latest }
}
