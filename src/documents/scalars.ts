/** Single values of a document: text, whole numbers, booleans, durations, words. */
import { parseDuration } from '../core/duration.ts'
import { quote } from '../core/errors.ts'
import type { Span } from '../core/time.ts'
import { type Field, refuseField } from './field.ts'
import { describeNode, isNothing, type ScalarNode } from './node.ts'

/** Longer text is not configuration. The longest we expect is a set of a hundred domain names. */
const MAX_TEXT_LENGTH = 32_768

/** Source text, whatever it looks like: `12345678` and `true` are text too. Nothing is not. */
export const readText = (field: Field): string => {
  const { text } = scalarOf(field, 'must be text')
  if (text.length > MAX_TEXT_LENGTH) {
    const rule = `must be at most ${MAX_TEXT_LENGTH} characters long`
    return refuseField(field, 'FIELD_VALUE', rule, `${text.length}`)
  }
  return text
}

export interface Range {
  readonly min: number
  /** If absent, the largest number that is exact. */
  readonly max?: number
}

/** Decimal, `0x`, or a fraction that is none (`20.0`, `1e3`). What readers disagree about is refused. */
export const readWholeNumber = (
  field: Field,
  { min, max = Number.MAX_SAFE_INTEGER }: Range,
): number => {
  const rule = `must be a whole number of at least ${min}`
  const { text, quoted } = scalarOf(field, rule)
  if (quoted) return refuseField(field, 'FIELD_TYPE', rule)
  if (!isWhole(text)) {
    return refuseField(field, 'FIELD_TYPE', rule, `${describeNode(field.node)}${whyNoNumber(text)}`)
  }
  const value = Number(text)
  if (value < min) return refuseField(field, 'FIELD_VALUE', rule)
  // Digits beyond 2^53 would be rounded on reading: the range catches them before that.
  if (value > max) return refuseField(field, 'FIELD_VALUE', `must be at most ${max}`)
  return value
}

export const readPositive = (field: Field): number => readWholeNumber(field, { min: 1 })

export const readBoolean = (field: Field): boolean => {
  const rule = 'must be true or false'
  const { text, quoted } = scalarOf(field, rule)
  if (quoted || (text !== 'true' && text !== 'false')) return refuseField(field, 'FIELD_TYPE', rule)
  return text === 'true'
}

/** Longer than nothing. Zero is refused: no rule of ours means anything over no time. */
export const readDuration = (field: Field): Span => {
  const length = parseDuration(scalarOf(field, DURATION_RULE).text)
  if (length === undefined || length <= 0) return refuseField(field, 'FIELD_VALUE', DURATION_RULE)
  return length
}

export const DURATION_RULE =
  'must be a duration above zero with its unit (90s, 1h30m, 7d), below 285 years'

export const readOneOf = <Word extends string>(field: Field, words: readonly Word[]): Word => {
  const rule = `must be one of ${words.join(', ')}`
  const { text } = scalarOf(field, rule)
  const word = words.find((candidate) => candidate === text)
  return word ?? refuseField(field, 'FIELD_VALUE', rule, quote(text))
}

const DECIMAL = /^[-+]?(0|[1-9]\d*)(?:\.(\d*))?(?:[eE]([-+]?\d{1,3}))?$/

/** By its digits: as a double, `1.00000000000000000001` would pass for 1. */
function isWhole(text: string): boolean {
  if (/^0x[0-9a-fA-F]+$/.test(text)) return true
  const [written, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? []
  if (written === undefined) return false
  const digits = `${whole}${fraction}`.replace(/0+$/, '')
  const places = digits.length - whole.length
  return digits.replace(/^0+/, '') === '' || places <= Number(exponent)
}

const scalarOf = (field: Field, rule: string): ScalarNode => {
  const { node } = field
  if (node.kind !== 'scalar' || isNothing(node)) return refuseField(field, 'FIELD_TYPE', rule)
  return node
}

const whyNoNumber = (text: string): string => {
  if (/^[-+]?0\d+$/.test(text)) return ' (a leading zero, which some read as octal)'
  if (/^[-+]?\d[\d_]*$/.test(text) && text.includes('_')) return ' (underscores)'
  if (/^[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?$/.test(text)) return ' (a fraction)'
  return ''
}
