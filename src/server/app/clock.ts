/** The clock that a server or a signer decides by: time sources for it, and the watch over it while it runs. */
import { type ClockVerdict, describeClock } from '../../core/machine-clock.ts'
import { type Instant, instant, seconds, toMillis } from '../../core/time.ts'
import { type Poller, startPoller, type Timers } from '../../lib/poller.ts'
import type { TimeSource } from '../../lib/time-sources.ts'
import type { Log } from './log.ts'

/** A server that takes longer tells an old time. */
const SOURCE_TIMEOUT = seconds(3)

/**
 * The `Date` of whatever a server answers, and the `Age` of an answer out of a cache. To the second,
 * which is enough to find a minute.
 */
export const httpTime =
  (url: string, ask: typeof fetch = fetch): TimeSource =>
  async () => {
    const { headers, body } = await ask(url, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(toMillis(SOURCE_TIMEOUT)),
    })
    await body?.cancel()
    return dateOf(headers)
  }

function dateOf(headers: Headers): Instant {
  const [date, age] = [headers.get('date') ?? '', headers.get('age') ?? '0']
  const millis = Date.parse(date)
  if (Number.isNaN(millis) || !/^\d{1,9}$/.test(age)) throw new Error('an answer without a date')
  return instant((millis + Number(age) * 1_000) * 1_000)
}

export interface ClockWatch {
  /** Of the newest look. Undefined: the store has not answered yet. */
  verdict(): ClockVerdict | undefined
  stop(): Promise<void>
}

interface ClockWatchSettings {
  /** Judges the clock and records what it found. */
  readonly look: () => Promise<ClockVerdict>
  /** What follows while it is not trusted: `nothing is signed`. */
  readonly consequence: string
  /** What names time sources: a flag, or a key of the configuration. */
  readonly sources: string
  readonly log: Log
  /** Called after each look. */
  readonly onVerdict: (verdict: ClockVerdict) => void
  readonly timers?: Timers
}

/** So often is the clock looked at while nothing is asked; each request looks for itself. */
const WATCH_EVERY = seconds(10)

/** Has looked once when it resolves. Changes are logged, not every look. */
export const startClockWatch = async (settings: ClockWatchSettings): Promise<ClockWatch> => {
  const { look, log, onVerdict, timers } = settings
  let newest: ClockVerdict | undefined
  const tell = (verdict: ClockVerdict): void => {
    logClock(settings, verdict, newest)
    newest = verdict
    onVerdict(verdict)
  }
  const onFault = (err: unknown) => log.warn({ err }, 'the clock could not be looked at')
  await look().then(tell, onFault)
  const poller: Poller = startPoller({
    ask: look,
    every: WATCH_EVERY,
    onAnswer: tell,
    onFault,
    ...(timers && { timers }),
  })
  return { verdict: () => newest, stop: poller.stop }
}

function logClock(
  { log, consequence, sources }: ClockWatchSettings,
  verdict: ClockVerdict,
  before: ClockVerdict | undefined,
): void {
  const wasWrong = before?.trusted === false ? before.reason : undefined
  if (!verdict.trusted) {
    if (verdict.reason === wasWrong) return
    const facts = { code: 'CLOCK_UNTRUSTED', ...verdict }
    log.error(facts, `${consequence}: ${describeClock(verdict)}`)
  } else if (verdict.basis === 'nothing') {
    const hint = `after a reboot the clock is taken as it is: ${sources} would confirm it`
    log.warn({ code: 'CLOCK_UNCONFIRMED' }, hint)
  } else if (wasWrong !== undefined) log.info({}, 'the clock is trusted again')
}
