/**
 * Delays as expressions ("ODIS RateLimit Structures", "Potential Future Extensions"): lengths of
 * time over `i`, the number of the batch, and `d[i-1]`, the delay before it.
 *
 *     sum     = product { ("+" | "-") product }
 *     product = factor { "*" factor }
 *     factor  = atom [unit]
 *     atom    = whole number | "1h30m" | "i" | "d[i-1]" | "(" sum ")" | ("min" | "max") "(" sum "," sum ")"
 *     unit    = "second" | "minute" | "hour" | "day" | "week", or its plural
 *
 * Lengths and numbers are kept apart, so that `d[i-1] + i` without a unit is a mistake, not a
 * microsecond. Nothing loops or calls: an expression costs time in proportion to its length.
 */
import { parseDuration } from '../../core/duration.ts'
import { quote } from '../../core/errors.ts'
import { type Span, span } from '../../core/time.ts'
import { refuseSecret } from '../mistake.ts'

/** Undefined where the delay is negative or too long to be exact: then no attempt follows. */
export type DelayExpression = (i: number, previous: Span) => Span | undefined

/** People write these; deeper than this no one can read one. */
const MAX_NESTING = 16

export const parseDelayExpression = (text: string): DelayExpression => {
  const tokens = delayTokens(text)
  const whole = parseSum({ text, tokens, next: 0 }, 0)
  if (whole.next < tokens.length) refuse(text, 'must end here', tokens[whole.next])
  if (whole.kind === 'number') refuse(text, 'must be a length of time; give its numbers a unit')
  return (i, previous) => {
    const micros = whole.value(i, previous)
    return Number.isSafeInteger(micros) && micros >= 0 ? span(micros) : undefined
  }
}

interface Cursor {
  readonly text: string
  readonly tokens: readonly DelayToken[]
  readonly next: number
}

/** A literal 0 is both: no number and no time. */
type Kind = 'number' | 'length' | 'nothing'

interface Part extends Cursor {
  readonly kind: Kind
  readonly value: (i: number, previous: number) => number
}

function parseSum(cursor: Cursor, depth: number): Part {
  let left = parseProduct(cursor, depth)
  for (let sign = symbol(left); sign === '+' || sign === '-'; sign = symbol(left)) {
    const right = parseProduct(advance(left), depth)
    const kind = commonKind(left, right, `${sign} needs two lengths or two numbers`)
    const factor = sign === '+' ? 1 : -1
    left = combine(left, right, kind, (a, b) => a + factor * b)
  }
  return left
}

function parseProduct(cursor: Cursor, depth: number): Part {
  let left = parseFactor(cursor, depth)
  while (symbol(left) === '*') {
    const right = parseFactor(advance(left), depth)
    if (left.kind === 'length' && right.kind === 'length') {
      refuse(left.text, 'may not multiply two lengths')
    }
    const kind = left.kind === 'number' ? right.kind : left.kind
    left = combine(left, right, kind, (a, b) => a * b)
  }
  return left
}

function parseFactor(cursor: Cursor, depth: number): Part {
  const atom = parseAtom(cursor, depth)
  const token = atom.tokens[atom.next]
  const unit = token?.kind === 'word' ? unitSpan(token.text.replace(/s$/, '')) : undefined
  if (unit === undefined) return atom
  if (atom.kind === 'length') refuse(atom.text, 'may give a unit to a number only', token)
  const { value } = atom
  return {
    ...advance(atom),
    kind: 'length',
    value: (i, previous) => exact(value(i, previous) * unit),
  }
}

function parseAtom(cursor: Cursor, depth: number): Part {
  const token = cursor.tokens[cursor.next]
  const after = advance(cursor)
  switch (token?.kind) {
    case 'number': {
      const { value } = token
      return { ...after, kind: value === 0 ? 'nothing' : 'number', value: () => value }
    }
    case 'length': {
      const { value } = token
      return { ...after, kind: 'length', value: () => value }
    }
    case 'index':
      return { ...after, kind: 'number', value: (i) => i }
    case 'previous':
      return { ...after, kind: 'length', value: (_, previous) => previous }
    case 'word':
      return token.text === 'min' || token.text === 'max'
        ? parseChoice(after, token.text, depth)
        : refuse(cursor.text, 'may name only i, d[i-1], min, max and units', token)
    case 'symbol':
    case undefined:
      return token?.text === '(' ? closed(parseSum(after, deeper(cursor, depth))) : missing(cursor)
    default:
      return token satisfies never
  }
}

function parseChoice(cursor: Cursor, name: 'min' | 'max', depth: number): Part {
  const left = parseSum(expectSymbol(cursor, '('), deeper(cursor, depth))
  const right = parseSum(expectSymbol(left, ','), deeper(cursor, depth))
  const kind = commonKind(left, right, `${name} needs two lengths or two numbers`)
  return closed(combine(left, right, kind, name === 'min' ? Math.min : Math.max))
}

function combine(
  left: Part,
  right: Part,
  kind: Kind,
  join: (a: number, b: number) => number,
): Part {
  const [a, b] = [left.value, right.value]
  return { ...right, kind, value: (i, previous) => exact(join(a(i, previous), b(i, previous))) }
}

function commonKind(left: Part, right: Part, rule: string): Kind {
  if (left.kind === 'nothing') return right.kind
  if (right.kind === 'nothing' || left.kind === right.kind) return left.kind
  return refuse(left.text, rule)
}

/** NaN for a number that is not exact, and so for all that is computed from it. */
function exact(value: number): number {
  return Number.isSafeInteger(value) ? value : Number.NaN
}

function symbol({ tokens, next }: Cursor): string | undefined {
  const token = tokens[next]
  return token?.kind === 'symbol' ? token.text : undefined
}

function advance<C extends Cursor>(cursor: C): C {
  return { ...cursor, next: cursor.next + 1 }
}

function expectSymbol(cursor: Cursor, text: string): Cursor {
  if (symbol(cursor) === text) return advance(cursor)
  return refuse(cursor.text, `must have ${text} here`, cursor.tokens[cursor.next])
}

function closed(part: Part): Part {
  return { ...part, next: expectSymbol(part, ')').next }
}

function deeper({ text }: Cursor, depth: number): number {
  return depth < MAX_NESTING ? depth + 1 : refuse(text, `may nest at most ${MAX_NESTING} deep`)
}

function missing({ text, tokens, next }: Cursor): never {
  return refuse(text, 'must have a number, a length, i, d[i-1] or ( here', tokens[next])
}

function refuse(text: string, rule: string, token?: DelayToken): never {
  const finding = token === undefined ? quote(text) : `${quote(token.text)} in ${quote(text)}`
  return refuseSecret({ code: 'EXPRESSION_INVALID', thing: 'delay', rule, finding })
}

type DelayToken =
  | { readonly kind: 'number' | 'length'; readonly text: string; readonly value: number }
  | { readonly kind: 'index' | 'previous' | 'word' | 'symbol'; readonly text: string }

/** Longer than any rule that a person can check by reading it. */
const MAX_EXPRESSION = 200

const delayTokens = (text: string): readonly DelayToken[] => {
  if (text.length > MAX_EXPRESSION) {
    refuseToken(`must be at most ${MAX_EXPRESSION} characters long`, `${text.length}`)
  }
  const tokens: DelayToken[] = []
  for (let at = skipSpace(text, 0); at < text.length; ) {
    const token = tokenAt(text, at)
    tokens.push(token)
    at = skipSpace(text, at + token.text.length)
  }
  return tokens
}

const LENGTH = /(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h|d|w))+(?![a-z\d.])/y
const NUMBER = /(?:0|[1-9]\d{0,14})(?![\d.])/y
const PREVIOUS = /d\[i-1\]/y
const WORD = /[a-z]+/y
const SYMBOL = /[-+*(),]/y

function tokenAt(text: string, at: number): DelayToken {
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0]
  }
  const length = match(LENGTH)
  if (length !== undefined) {
    const value = parseDuration(length) ?? refuseToken('must be a length of time', length)
    return { kind: 'length', text: length, value }
  }
  const number = match(NUMBER)
  if (number !== undefined) return { kind: 'number', text: number, value: Number(number) }
  const previous = match(PREVIOUS)
  if (previous !== undefined) return { kind: 'previous', text: previous }
  const word = match(WORD)
  if (word !== undefined) return { kind: word === 'i' ? 'index' : 'word', text: word }
  const symbol = match(SYMBOL)
  if (symbol !== undefined) return { kind: 'symbol', text: symbol }
  return refuseToken(
    'may hold whole numbers, lengths, i, d[i-1], + - * and parentheses',
    text.slice(at, at + 10),
  )
}

function skipSpace(text: string, at: number): number {
  let next = at
  while (text[next] === ' ') next += 1
  return next
}

function refuseToken(rule: string, finding: string): never {
  return refuseSecret({
    code: 'EXPRESSION_INVALID',
    thing: 'delay',
    rule,
    finding: quote(finding),
  })
}

/**
 * A plain delay: "1 day", "90 seconds", or a duration such as "1h30m". Never rounded: a whole number of
 * a unit is exact in microseconds. Undefined if it is no delay.
 */
export const parseDelay = (text: string): Span | undefined => {
  const [, count, unit] = /^(0|[1-9]\d{0,14}) ([a-z]+?)s?$/.exec(text) ?? []
  const length =
    count === undefined || unit === undefined ? parseDuration(text) : times(Number(count), unit)
  return length !== undefined && length >= 0 ? length : undefined
}

/** The unit's length; undefined if it is none. Months and years have no fixed length. */
const unitSpan = (unit: string): Span | undefined => UNITS.get(unit)

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
