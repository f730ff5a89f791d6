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
 * microsecond. Nothing here loops or calls: an expression costs what its text is long.
 */
import { type Span, span } from '../core/index.ts'
import { unitSpan } from './delay-text.ts'
import { type DelayToken, delayTokens } from './delay-tokens.ts'
import { refuseSecret } from './secrets-mistake.ts'

/** Undefined where the delay is negative or too long to be exact: then no attempt follows. */
export type DelayExpression = (i: number, previous: Span) => Span | undefined

/** Expressions are written by people; nobody nests deeper and still knows what it says. */
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

/** What is not exact is nothing: it poisons all that is made of it. */
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
  const finding =
    token === undefined
      ? JSON.stringify(text)
      : `${JSON.stringify(token.text)} in ${JSON.stringify(text)}`
  return refuseSecret({ code: 'EXPRESSION_INVALID', thing: 'delay', rule, finding })
}
