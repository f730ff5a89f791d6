/** Keeps the audit stream of a running signer as long as it is told to, and no longer. */
import { type Span, type Store, seconds } from '../../core/index.ts'
import { trimAudit } from '../../secrets/index.ts'
import { type Poller, startPoller, type Timers } from '../../spending/poller.ts'
import type { Log } from '../log.ts'

export interface AuditKeeperOptions {
  readonly store: Store
  readonly keep: Span
  readonly log: Log
  readonly timers?: Timers
}

/** With 10,000 entries a time that is 1,000 a second: as many as the default outer limit lets in. */
const LOOK_EVERY = seconds(10)

/** Looks at once, then again and again; what is under way ends before `stop` resolves. */
export const startAuditKeeper = ({ store, keep, log, timers }: AuditKeeperOptions): Poller =>
  startPoller({
    ask: () => trimAudit(store, keep),
    every: LOOK_EVERY,
    // Under load there is something to forget each time: not worth a line in the log.
    onAnswer: () => {},
    onFault: (err) => log.warn({ err }, 'old audit entries were not forgotten yet'),
    ...(timers && { timers }),
  })
