/** The only reader of real time in Headgate: everything else is handed a clock. */
import { type Clock, instant, type Span, span } from '../core/time.ts'

/**
 * Wall time, not `performance.now()`: several processes on one file must agree on it, also across
 * restarts. It may step back; core/ cuts what a step back would otherwise lock up.
 */
export const systemClock: Clock = () => instant(Date.now() * 1_000)

/** How long this process has run. Never steps back; for patience only, never for a decision. */
export const uptime = (): Span => span(Math.floor(performance.now() * 1_000))
