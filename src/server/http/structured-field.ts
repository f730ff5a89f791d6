/** The few structured fields that we write: RFC 9651, strings and integers. */
import { assert } from '../../core/errors.ts'

/** The largest integer that the format allows: fifteen digits. */
export const MAX_FIELD_INTEGER = 999_999_999_999_999

/** Only ASCII has a place in a string; the rest would need the display form, which nobody asks for. */
export const fieldString = (text: string): string => {
  if (PLAIN.test(text)) return `"${text}"`
  assert(PRINTABLE.test(text), 'a structured string is printable ASCII')
  return `"${text.replace(SPECIAL, '\\$&')}"`
}

/** Larger numbers become the largest: a quota beyond it binds nobody. */
export const fieldInteger = (value: number): number => Math.min(value, MAX_FIELD_INTEGER)

/** Every name of a limit is plain. */
const PLAIN = /^[\w.-]*$/
const PRINTABLE = /^[\x20-\x7e]*$/
const SPECIAL = /["\\]/g
