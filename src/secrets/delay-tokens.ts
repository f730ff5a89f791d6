/** The words of a delay expression. */
import { parseDuration } from '../core/index.ts'
import { refuseSecret } from './secrets-mistake.ts'

export type DelayToken =
  | { readonly kind: 'number' | 'length'; readonly text: string; readonly value: number }
  | { readonly kind: 'index' | 'previous' | 'word' | 'symbol'; readonly text: string }

/** Room for any rule that a person can check by reading it. */
export const MAX_EXPRESSION = 200

export const delayTokens = (text: string): readonly DelayToken[] => {
  if (text.length > MAX_EXPRESSION) {
    refuse(`must be at most ${MAX_EXPRESSION} characters long`, `${text.length}`)
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
    const value = parseDuration(length) ?? refuse('must be a length of time', length)
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
  return refuse(
    'may hold whole numbers, lengths, i, d[i-1], + - * and parentheses',
    text.slice(at, at + 10),
  )
}

function skipSpace(text: string, at: number): number {
  let next = at
  while (text[next] === ' ') next += 1
  return next
}

function refuse(rule: string, finding: string): never {
  return refuseSecret({
    code: 'EXPRESSION_INVALID',
    thing: 'delay',
    rule,
    finding: JSON.stringify(finding),
  })
}
