/** A document as a small tree: source text with positions, before its meaning is read. */
import {
  clip,
  describePosition,
  type Position,
  quote,
  type ThrowMistake,
  throwMistake,
} from '../core/errors.ts'

export type Node = ScalarNode | ListNode | MapNode

/** Text as the source has it: `007` and `18446744073709551615` are not yet numbers. */
export interface ScalarNode {
  readonly kind: 'scalar'
  readonly text: string
  /** Quoted, a block, or tagged as text: then it is neither a number, nor a boolean, nor null. */
  readonly quoted: boolean
  readonly at: Position
}

interface ListNode {
  readonly kind: 'list'
  readonly items: readonly Node[]
  readonly at: Position
}

interface MapNode {
  readonly kind: 'map'
  /** In the order of the source; no key occurs twice. */
  readonly entries: readonly MapEntry[]
  readonly at: Position
}

export interface MapEntry {
  readonly key: string
  readonly keyAt: Position
  readonly value: Node
}

/** Nothing we read nests beyond six. At some thousands the YAML library takes the process down. */
export const MAX_DEPTH = 64

/** More than 200,000 overrides with comments hold, counted as if aliases were written out. */
export const MAX_NODES = 2_000_000

/** How many values and keys it holds, itself among them. */
export const sizeOf = (node: Node): number => {
  switch (node.kind) {
    case 'scalar':
      return 1
    case 'list':
      return node.items.reduce((sum, item) => sum + sizeOf(item), 1)
    case 'map':
      return node.entries.reduce((sum, { value }) => sum + 1 + sizeOf(value), 1)
    default:
      return node satisfies never
  }
}

const NOTHING: ReadonlySet<string> = new Set(['', '~', 'null', 'Null', 'NULL'])

/** What YAML calls null, an absent value included. */
export const isNothing = (node: Node): boolean =>
  node.kind === 'scalar' && !node.quoted && NOTHING.has(node.text)

/** `- 2602:80a::` was meant as text, but is to YAML a map with the key `2602:80a:` and no value. */
export const isUnquotedText = (node: Node): boolean => {
  if (node.kind !== 'map') return false
  const [first, second] = node.entries
  return first?.key.includes(':') === true && second === undefined && isNothing(first.value)
}

/** How a message names what was found. */
export const describeNode = (node: Node): string => {
  switch (node.kind) {
    case 'list':
      return 'a list'
    case 'map':
      return isUnquotedText(node) ? 'a map (text that ends in a colon needs quotes)' : 'a map'
    case 'scalar':
      if (isNothing(node)) return 'nothing'
      return node.quoted ? `the quoted text ${quote(node.text)}` : clip(node.text)
    default:
      return node satisfies never
  }
}

/** Mistakes in a document, whatever it is about. */
export type DocumentErrorCode =
  | 'DOCUMENT_SYNTAX'
  | 'DOCUMENT_EMPTY'
  | 'DOCUMENT_MULTIPLE'
  | 'DOCUMENT_DUPLICATE_KEY'
  | 'DOCUMENT_ALIAS'
  | 'DOCUMENT_TOO_LARGE'
  | 'FIELD_UNKNOWN'
  | 'FIELD_MISSING'
  | 'FIELD_TYPE'
  | 'FIELD_VALUE'

export const refuseDocument: ThrowMistake<DocumentErrorCode> = throwMistake

export const refuseDuplicateKey = (key: ScalarNode, earlier: Position): never =>
  refuseDocument({
    code: 'DOCUMENT_DUPLICATE_KEY',
    thing: `the key ${quote(key.text)}`,
    rule: 'must occur once in its map',
    finding: `it also at ${describePosition(earlier)}`,
    at: key.at,
  })
