/** The operator's balance, read from a mirror node again and again and told to spending. */
import type { MirrorNode } from './mirror-node.ts'
import { type Poller, startPoller, type Timers } from './poller.ts'
import type { BalanceSource } from './settings-draft.ts'
import type { Spending } from './spending.ts'

export interface BalancePollOptions extends Pick<BalanceSource, 'account' | 'every'> {
  readonly mirrorNode: Pick<MirrorNode, 'balance'>
  readonly spending: Pick<Spending, 'pushBalance'>
  /** Told when nobody could be asked, or the store did not take it. The last reading ages meanwhile. */
  readonly onFault: (error: unknown) => void
  readonly timers?: Timers
}

export const startBalancePoll = (options: BalancePollOptions): Poller => {
  const { mirrorNode, account, spending, ...rest } = options
  return startPoller({
    ...rest,
    ask: () => mirrorNode.balance(account),
    // With the network's time, not ours: a mirror node that lags reports an old balance, not a new one.
    onAnswer: async ({ amount, at }) => {
      await spending.pushBalance(amount, at)
    },
  })
}
