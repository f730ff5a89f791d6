/** Durations as text: the grammar and format of Go's `time.Duration`, plus `d` (24 h) and `w` (7 d). */
import { type Span, span } from './time.ts'

const NANOS_PER_UNIT: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n], // U+00B5, micro sign
  ['μs', 1_000n], // U+03BC, Greek mu
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
  ['d', 86_400_000_000_000n],
  ['w', 604_800_000_000_000n],
])

/** Go's range, 64 bits of nanoseconds: about 292 years either way. */
const MAX_NANOS = 2n ** 63n - 1n
const MIN_NANOS = -(2n ** 63n)

/** Longer text is no duration that a person wrote. */
const MAX_TEXT = 100

const TERM = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h|d|w)/y

/**
 * Rounded up to whole microseconds: a longer period never admits more than was configured.
 * Undefined if the text is no duration, or one that a `Span` cannot hold.
 */
export const parseDuration = (text: string): Span | undefined => {
  const nanos = parseNanos(text)
  if (nanos === undefined) return undefined
  const whole = Number(ceilDiv(nanos, 1_000n))
  return Number.isSafeInteger(whole) ? span(whole) : undefined
}

/** Exact, as Go reads it: fractions of a nanosecond are cut off. */
export const parseNanos = (text: string): bigint | undefined => {
  if (text.length > MAX_TEXT) return undefined
  const negative = text.startsWith('-')
  const body = negative || text.startsWith('+') ? text.slice(1) : text
  if (body === '0') return 0n
  const size = sumOfTerms(body)
  if (size === undefined) return undefined
  const nanos = negative ? -size : size
  return nanos > MAX_NANOS || nanos < MIN_NANOS ? undefined : nanos
}

/** Go's form: `168h0m0s`, `1.5s`, `50ms`. */
export const formatDuration = (length: Span): string => formatNanos(BigInt(length) * 1_000n)

export const formatNanos = (nanos: bigint): string => {
  if (nanos < 0n) return `-${formatNanos(-nanos)}`
  if (nanos === 0n) return '0s'
  if (nanos < 1_000n) return `${nanos}ns`
  if (nanos < 1_000_000n) return `${decimal(nanos, 3)}µs`
  if (nanos < 1_000_000_000n) return `${decimal(nanos, 6)}ms`
  const minutes = nanos / 60_000_000_000n
  const seconds = `${decimal(nanos % 60_000_000_000n, 9)}s`
  if (minutes === 0n) return seconds
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`
}

function sumOfTerms(body: string): bigint | undefined {
  if (body === '') return undefined
  let sum = 0n
  for (let at = 0; at < body.length; at = TERM.lastIndex) {
    TERM.lastIndex = at
    const [, whole = '', fraction = '', unit = ''] = TERM.exec(body) ?? []
    const scale = NANOS_PER_UNIT.get(unit)
    if (scale === undefined || whole + fraction === '') return undefined
    sum += BigInt(whole) * scale + fractionOf(scale, fraction)
  }
  return sum
}

/** In doubles, as Go does it: 0.3333333333333333333h is twenty minutes, not a nanosecond less. */
function fractionOf(scale: bigint, digits: string): bigint {
  return BigInt(Math.trunc(Number(digits) * (Number(scale) / 10 ** digits.length)))
}

function decimal(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, '0')
  const fraction = digits.slice(-places).replace(/0+$/, '')
  const whole = digits.slice(0, -places)
  return fraction === '' ? whole : `${whole}.${fraction}`
}

function ceilDiv(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor
  return dividend % divisor > 0n ? quotient + 1n : quotient
}
