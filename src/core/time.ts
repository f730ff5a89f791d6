/** Time as integer microseconds: exact in a double until the year 2255, which nanoseconds are not. */

declare const instantBrand: unique symbol
declare const spanBrand: unique symbol

/** A point in time: microseconds since the Unix epoch. */
export type Instant = number & { readonly [instantBrand]: true }

/** A length of time in microseconds. */
export type Span = number & { readonly [spanBrand]: true }

/** A span, or the knowledge that no waiting helps. */
export type Wait = Span | 'never'

/** Where a store takes its time from. Tests pass their own; nothing in core/ reads one. */
export type Clock = () => Instant

/**
 * How long something has been running: grows with real time whatever the clock is set to. A store
 * forgets only by this, so that a clock which leaps and returns empties nothing.
 */
export type Uptime = () => Span

export const instant = (micros: number): Instant => wholeMicros(micros) as Instant
export const span = (micros: number): Span => wholeMicros(micros) as Span

export const millis = (n: number): Span => span(Math.ceil(n * 1_000))
export const seconds = (n: number): Span => span(Math.ceil(n * 1_000_000))
export const minutes = (n: number): Span => seconds(n * 60)
export const hours = (n: number): Span => seconds(n * 3_600)
export const days = (n: number): Span => seconds(n * 86_400)

/** Rounded up: waiting this long is always long enough. */
export const toMillis = (length: Span): number => Math.ceil(length / 1_000)

/** The same of a wait, for JSON, which has no infinity: null means that no waiting helps. */
export const waitMillis = (wait: Wait): number | null => (wait === 'never' ? null : toMillis(wait))

/** Rounded up, for headers that count whole seconds. */
export const toSeconds = (length: Span): number => Math.ceil(length / 1_000_000)

export const after = (point: Instant, length: Span): Instant => instant(point + length)

/** How long from `earlier` to `later`; negative if they come the other way round. */
export const between = (earlier: Instant, later: Instant): Span => span(later - earlier)

function wholeMicros(micros: number): number {
  if (!Number.isSafeInteger(micros)) throw new RangeError(`not whole microseconds: ${micros}`)
  return micros
}
