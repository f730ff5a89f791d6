/** Strict JSON (RFC 8259) as the same tree that YAML gives: source text with positions, numbers unread. */
import { assert, type Position, quote } from '../core/errors.ts'
import {
  MAX_DEPTH,
  type MapEntry,
  type Node,
  refuseDocument,
  refuseDuplicateKey,
  type ScalarNode,
} from './node.ts'

/** Room for half a million plans. It bounds the values too: each takes two characters at least. */
const MAX_JSON_LENGTH = 64 * 1024 * 1024

/**
 * Unlike `parseDocument` it takes no comments, no trailing commas and no unquoted text. Numbers stay
 * text, so that none is rounded. `file` is only a name for messages.
 */
export const parseJson = (source: string, file: string): Node => {
  const text = source.replace(/^\uFEFF/, '')
  const locate = locator(text, file)
  if (text.length > MAX_JSON_LENGTH) {
    refuseSize(`at most ${MAX_JSON_LENGTH} characters`, `${text.length}`, locate(0))
  }
  const tokens = tokenize(text, locate)
  const tree = readValue(tokens, 0)
  const rest = tokens.next()
  return rest.kind === 'end' ? tree : refuseSyntax('nothing more', rest)
}

interface Token {
  readonly kind: 'text' | 'word' | 'end' | '[' | ']' | '{' | '}' | ',' | ':'
  readonly source: string
  readonly at: Position
}

interface Tokens {
  next(): Token
}

function readValue(tokens: Tokens, depth: number, first = tokens.next()): Node {
  switch (first.kind) {
    case 'text':
    case 'word':
      return scalar(first)
    case '[':
      return { kind: 'list', items: readItems(tokens, nested(depth, first)), at: first.at }
    case '{':
      return { kind: 'map', entries: readPairs(tokens, nested(depth, first)), at: first.at }
    case ']':
    case '}':
    case ',':
    case ':':
    case 'end':
      return refuseSyntax('a value', first)
    default:
      return first.kind satisfies never
  }
}

function readItems(tokens: Tokens, depth: number): Node[] {
  const items: Node[] = []
  let token = tokens.next()
  if (token.kind === ']') return items
  for (;;) {
    items.push(readValue(tokens, depth, token))
    const after = tokens.next()
    if (after.kind === ']') return items
    if (after.kind !== ',') refuseSyntax('a comma or the end of the list', after)
    token = tokens.next()
  }
}

function readPairs(tokens: Tokens, depth: number): MapEntry[] {
  const entries: MapEntry[] = []
  const seen = new Map<string, Position>()
  let token = tokens.next()
  if (token.kind === '}') return entries
  for (;;) {
    if (token.kind !== 'text') refuseSyntax('a key in double quotes', token)
    const key = scalar(token)
    const earlier = seen.get(key.text)
    if (earlier !== undefined) refuseDuplicateKey(key, earlier)
    seen.set(key.text, key.at)
    const colon = tokens.next()
    if (colon.kind !== ':') refuseSyntax('a colon', colon)
    entries.push({ key: key.text, keyAt: key.at, value: readValue(tokens, depth) })
    const after = tokens.next()
    if (after.kind === '}') return entries
    if (after.kind !== ',') refuseSyntax('a comma or the end of the object', after)
    token = tokens.next()
  }
}

const SPACE = /[ \t\n\r]*/y
/** Nothing above it is white space to JSON. */
const LAST_SPACE = 0x20
const WORD = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y
const MARKS: readonly Token['kind'][] = ['[', ']', '{', '}', ',', ':']

function tokenize(text: string, locate: (offset: number) => Position): Tokens {
  let offset = 0
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = offset
    return pattern.exec(text)?.[0]
  }
  const take = (kind: Token['kind'], source: string): Token => {
    const at = locate(offset)
    offset += source.length
    return { kind, source, at }
  }
  return {
    next: () => {
      if (text.charCodeAt(offset) <= LAST_SPACE) offset += match(SPACE)?.length ?? 0
      const first = text[offset]
      if (first === undefined) return take('end', '')
      const mark = MARKS.find((candidate) => candidate === first)
      if (mark !== undefined) return take(mark, first)
      const quoted = first === '"' ? quotedAt(text, offset) : undefined
      if (quoted !== undefined) return take('text', quoted)
      const word = match(WORD)
      return word === undefined
        ? refuseSyntax('JSON', stray(text, offset, locate))
        : take('word', word)
    },
  }
}

/**
 * Looser than JSON: what is between the quotes is left to `JSON.parse`. Undefined if they are not
 * closed. A pattern would run out of stack at millions of escapes.
 */
function quotedAt(text: string, start: number): string | undefined {
  for (let end = start + 1; end < text.length; end += 1) {
    if (text[end] === '"') return text.slice(start, end + 1)
    if (text[end] === '\\') end += 1
  }
  return undefined
}

/** Offsets come in ascending order, so that the text is searched for line breaks once. */
function locator(text: string, file: string): (offset: number) => Position {
  let line = 1
  let lineStart = 0
  let lineEnd = endOfLine(text, 0)
  return (offset) => {
    while (lineEnd < offset) {
      line += 1
      lineStart = lineEnd + 1
      lineEnd = endOfLine(text, lineStart)
    }
    return { file, line, column: offset - lineStart + 1 }
  }
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end < 0 ? text.length : end
}

function scalar(token: Token): ScalarNode {
  const { kind, source, at } = token
  const quoted = kind === 'text'
  return { kind: 'scalar', text: quoted ? unquoted(token) : source, quoted, at }
}

/** Text without escapes: nearly all of it, and three times as fast as `JSON.parse`. */
const PLAIN = /^[^\\\p{Cc}]*$/u

function unquoted(token: Token): string {
  if (PLAIN.test(token.source)) return token.source.slice(1, -1)
  try {
    const text: unknown = JSON.parse(token.source)
    assert(typeof text === 'string', 'what starts with a quote is text')
    return text
  } catch {
    return refuseSyntax('text without line breaks and unknown escapes', token)
  }
}

function nested(depth: number, { at }: Token): number {
  if (depth < MAX_DEPTH) return depth + 1
  return refuseSize(`at most ${MAX_DEPTH} lists and objects in each other`, 'more', at)
}

function stray(text: string, offset: number, locate: (offset: number) => Position): Token {
  const source = /^\S{1,20}/.exec(text.slice(offset, offset + 20))?.[0] ?? ''
  return { kind: 'word', source, at: locate(offset) }
}

const DOCUMENT = 'the document'

const refuseSyntax = (expected: string, { kind, source, at }: Token): never =>
  refuseDocument({
    code: 'DOCUMENT_SYNTAX',
    thing: DOCUMENT,
    rule: `must be JSON, with ${expected} here`,
    finding: kind === 'end' ? 'its end' : quote(source),
    at,
  })

const refuseSize = (most: string, finding: string, at: Position): never =>
  refuseDocument({
    code: 'DOCUMENT_TOO_LARGE',
    thing: DOCUMENT,
    rule: `must hold ${most}`,
    finding,
    at,
  })
