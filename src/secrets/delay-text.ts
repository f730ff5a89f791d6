/** A delay as people write it: "1 day", "90 seconds", or Go's form, "1h30m". */
import { parseDuration, type Span, span } from '../core/index.ts'

/** Rounded to nothing: a whole number of a unit is exact in microseconds. Undefined if it is no delay. */
export const parseDelay = (text: string): Span | undefined => {
  const [, count, unit] = /^(0|[1-9]\d{0,14}) ([a-z]+?)s?$/.exec(text) ?? []
  const length =
    count === undefined || unit === undefined ? parseDuration(text) : times(Number(count), unit)
  return length !== undefined && length >= 0 ? length : undefined
}

/** The unit's length; undefined if it is none. Months and years have no fixed length. */
export const unitSpan = (unit: string): Span | undefined => UNITS.get(unit)

const UNITS: ReadonlyMap<string, Span> = new Map([
  ['second', span(1_000_000)],
  ['minute', span(60_000_000)],
  ['hour', span(3_600_000_000)],
  ['day', span(86_400_000_000)],
  ['week', span(604_800_000_000)],
])

function times(count: number, unit: string): Span | undefined {
  const length = unitSpan(unit)
  const product = length === undefined ? Number.NaN : count * length
  return Number.isSafeInteger(product) ? span(product) : undefined
}
