/**
 * A server's own verification: it goes on and on, a bite at a time, feeds the gauge, and tells where the
 * ledger ends. That line of the log, kept elsewhere, is an anchor.
 */
import { hours, minutes, type Span, seconds, type Uptime } from '../../core/time.ts'
import { type Poller, startPoller, type Timers } from '../../lib/poller.ts'
import type { Finding, Spending, Verification } from '../../spending/index.ts'
import type { Log } from '../app/log.ts'

interface AuditorOptions {
  readonly spending: Pick<Spending, 'audit'>
  readonly log: Log
  readonly uptime: Uptime
  /** Called at the end of each round. */
  readonly onRound: (found: Verification) => void
  readonly timers?: Timers
}

/** Between bites: a bite takes some ten milliseconds, so this is a hundredth of one processor. */
const BITE_EVERY = seconds(1)

/** From the end of one round to the next. */
const REST: Span = minutes(1)

/** Entries that were read are not read again; so now and then all of them are. */
const START_OVER: Span = hours(24)

/** How often the head is told, where it has moved. */
const TELL_EVERY: Span = hours(1)

export const startAuditor = (options: AuditorOptions): Poller => {
  const { spending, log, uptime, onRound, timers } = options
  let rounds = spending.audit()
  let started = uptime()
  let rested = -REST
  const tell = teller(log, uptime)
  const startOver = (): void => {
    rounds = spending.audit()
    started = uptime()
  }
  return startPoller({
    ask: async () => {
      if (uptime() - rested < REST) return undefined
      if (uptime() - started >= START_OVER) startOver()
      return (await rounds.next()).value
    },
    every: BITE_EVERY,
    onAnswer: (found) => {
      if (found === undefined) return
      rested = uptime()
      tell(found)
      onRound(found)
    },
    onFault: (err) => {
      // A generator that threw is at its end.
      startOver()
      log.warn({ err }, 'the books were not verified: it is tried again')
    },
    ...(timers && { timers }),
  })
}

function teller(log: Log, uptime: Uptime) {
  let told: { readonly number: number; readonly at: number } | undefined
  let known = ''
  return ({ head, findings }: Verification): void => {
    const moved = head.number !== told?.number
    if (moved && (told === undefined || uptime() - told.at >= TELL_EVERY)) {
      const { payer, number, hash } = head
      log.info({ payer, number, hash }, 'the ledger ends here: keep NUMBER:HASH as an anchor')
      told = { number, at: uptime() }
    }
    const names = JSON.stringify(findings.map(({ kind, what }: Finding) => [kind, what]))
    if (names === known) return
    known = names
    for (const finding of findings.slice(0, MAX_TOLD)) {
      log.error({ ...finding }, 'the books do not agree')
    }
  }
}

/** Findings that go into the log; the verification on demand shows all. */
const MAX_TOLD = 20
