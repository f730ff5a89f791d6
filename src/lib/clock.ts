/** The only reader of real time in Headgate: everything else is handed a clock. */
import { type Clock, instant, span, type Uptime } from '../core/time.ts'

/**
 * Wall time, not `performance.now()`: several processes on one file must agree on it, also across
 * restarts. It may step back; then each bucket waits at its newest time, and says so in `retryIn`.
 */
export const systemClock: Clock = () => instant(Date.now() * 1_000)

/** How long this process has run. For patience and for forgetting, never for a decision. */
export const uptime: Uptime = () => span(Math.floor(performance.now() * 1_000))
