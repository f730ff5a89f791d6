/**
 * How one value is read: from a field of a document, and from the text of a flag or variable. Each
 * reader also says what an editor may accept, as JSON Schema.
 */
import { resolve } from 'node:path'
import { parseDuration } from '../../core/duration.ts'
import { HeadgateError, quote } from '../../core/errors.ts'
import { type Span, span } from '../../core/time.ts'
import { type Field, readList, refuseField } from '../field.ts'
import { readAll } from '../mistakes.ts'
import type { Node } from '../node.ts'
import {
  DURATION_RULE,
  type Range,
  readBoolean,
  readDuration,
  readOneOf,
  readText,
  readWholeNumber,
} from '../scalars.ts'
import type { SettingsTable } from './table.ts'

export interface Reader<T> {
  fromField(field: Field, context: ReaderContext): T
  readonly schema: JsonSchema
  /** What `schema` refers to as `#/definitions/NAME`. */
  readonly definitions?: Readonly<Record<string, JsonSchema>>
  /** A value as the file would hold it, to show defaults; absent: it is JSON already. */
  toJson?(value: T): unknown
  /** The keys of a value that is a map. */
  readonly keys?: SettingsTable
}

/** A value that a flag or a variable can hold too. */
export interface TextReader<T> extends Reader<T> {
  fromText(given: GivenText, context: ReaderContext): T
}

/** What was given on the command line or in the environment. */
export interface GivenText {
  readonly text: string
  /** `--port` or `HEADGATE_PORT`: the message names what the operator typed. */
  readonly thing: string
  /** The code of the mistake, if the text is refused. */
  readonly code: string
}

/** What surrounds a value, for readers of names that lead elsewhere. */
export interface ReaderContext {
  /** Where relative file names start; absent: they stay as written. */
  readonly folder?: string
  readonly environment?: Environment
}

export type Environment = Readonly<Record<string, string | undefined>>

export type JsonSchema = Readonly<Record<string, unknown>>

export const refuseText = (
  { text, thing, code }: GivenText,
  rule: string,
  finding = quote(text),
): never => {
  throw new HeadgateError({ code, thing, rule, finding })
}

interface TextFormat<T> {
  /** Undefined: the text breaks the rule. */
  parse(text: string, context: ReaderContext): T | undefined
  readonly rule: string
  readonly schema: JsonSchema
  /** Said instead of the text where that may be a secret. */
  readonly finding?: string
}

/** Text of one format: one rule for fields, flags and variables. */
export const formatted = <T>({ parse, rule, schema, finding }: TextFormat<T>): TextReader<T> => ({
  fromField: (field, context) =>
    parse(readText(field), context) ?? refuseField(field, 'FIELD_VALUE', rule, finding),
  fromText: (given, context) => parse(given.text, context) ?? refuseText(given, rule, finding),
  schema: { type: 'string', ...schema },
})

export const wholeNumberIn = (range: Required<Range>): TextReader<number> => {
  const { min, max } = range
  const digits = new RegExp(`^\\d{1,${String(max).length}}$`)
  return {
    fromField: (field) => readWholeNumber(field, range),
    fromText: (given) => {
      const number = digits.test(given.text) ? Number(given.text) : Number.NaN
      if (number >= min && number <= max) return number
      return refuseText(given, `must be a whole number from ${min} to ${max}`)
    },
    schema: { type: 'integer', minimum: min, maximum: max },
  }
}

/** Given as text, it is a switch: present or `true`. */
export const trueOrFalse: TextReader<boolean> = {
  fromField: readBoolean,
  fromText: (given) => {
    if (given.text === 'true' || given.text === 'false') return given.text === 'true'
    return refuseText(given, 'must be true or false')
  },
  schema: { type: 'boolean' },
}

export const oneOf = <const Word extends string>(words: readonly Word[]): TextReader<Word> => ({
  fromField: (field) => readOneOf(field, words),
  fromText: (given) =>
    words.find((word) => word === given.text) ??
    refuseText(given, `must be one of ${words.join(', ')}`),
  schema: { enum: words },
})

export const duration: TextReader<Span> = {
  fromField: readDuration,
  fromText: (given) => {
    const length = parseDuration(given.text)
    return length !== undefined && length > 0 ? length : refuseText(given, DURATION_RULE)
  },
  schema: { $ref: '#/definitions/duration' },
  definitions: {
    duration: {
      description: 'With its unit: 90s, 1h30m, 7d.',
      type: 'string',
      pattern: '^\\+?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h|d|w)',
    },
  },
  toJson: (length) => shortDuration(length),
}

/** The name of a file or folder; `what` is said where it is empty. */
export const pathTo = (what: string): TextReader<string> => {
  const rule = `must name ${what}`
  const from = ({ folder }: ReaderContext, path: string): string =>
    folder === undefined ? path : resolve(folder, path)
  return {
    fromField: (field, context) => {
      const path = readText(field)
      return path === '' ? refuseField(field, 'FIELD_VALUE', rule) : from(context, path)
    },
    fromText: (given, context) =>
      given.text === '' ? refuseText(given, rule, 'nothing') : from(context, given.text),
    schema: { type: 'string', minLength: 1 },
  }
}

export const filePath = pathTo('a file')

export const listOf = <T>(item: Reader<T>, most: number): Reader<readonly T[]> => ({
  fromField: (field, context) => {
    const items = readList(field)
    if (items.length > most) {
      refuseField(field, 'FIELD_VALUE', `must hold at most ${most}`, `${items.length}`)
    }
    return readAll(items, (each) => item.fromField(each, context))
  },
  schema: { type: 'array', maxItems: most, items: item.schema },
  definitions: item.definitions ?? {},
})

/** Left as it is: read later, together with other documents, or only where it is needed. */
export const tree = (
  schema: JsonSchema,
  definitions: Reader<Node>['definitions'] = {},
): Reader<Node> => ({ fromField: ({ node }) => node, schema, definitions })

const UNITS = [
  ['d', 86_400_000_000],
  ['h', 3_600_000_000],
  ['m', 60_000_000],
  ['s', 1_000_000],
  ['ms', 1_000],
  ['us', 1],
] as const

/** `7d` and not `168h0m0s`: in the largest unit that leaves no rest. */
function shortDuration(length: Span): string {
  const [unit, micros] = UNITS.find(([, size]) => length % size === 0) ?? UNITS[5]
  return `${span(length / micros)}${unit}`
}
