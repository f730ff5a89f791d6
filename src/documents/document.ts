/** Strict reading of one YAML 1.2 or JSON document: what is doubtful is refused, with its place. */
import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  Parser,
  Scalar,
  type YAMLError,
  type YAMLMap,
} from 'yaml'
import { assert, HeadgateError, type Position } from '../core/errors.ts'
import { parseJson } from './json.ts'
import { gathering } from './mistakes.ts'
import {
  describeNode,
  isNothing,
  MAX_DEPTH,
  MAX_NODES,
  type MapEntry,
  type Node,
  refuseDocument,
  refuseDuplicateKey,
  type ScalarNode,
  sizeOf,
} from './node.ts'
import { readPlainYaml } from './plain-yaml.ts'

/**
 * Room for 200,000 overrides with comments. Where only the YAML library can read them they take 1 GB;
 * twice as many took 2.1 GB, where a small machine's heap ends. What is larger belongs in several files.
 */
export const MAX_DOCUMENT_LENGTH = 8 * 1024 * 1024

const DOCUMENT = 'the document'

/** `file` is only a name for messages: nothing is read from disk. */
export const parseDocument = (source: string, file: string): Node => {
  refuseLength(source, file)
  const text = source.replace(/^\uFEFF/, '')
  return quickly(text, file) ?? readYaml(text, file)
}

/**
 * The tree that the YAML library would give, where it is had more easily; else undefined, and the
 * library reads it or says what is wrong. 200,000 overrides with comments take 0.9 s, by the library 9 s.
 */
function quickly(text: string, file: string): Node | undefined {
  const tree = /^\s*[[{]/.test(text) ? readJson(text, file) : readPlainYaml(text, file)
  return tree === undefined || sizeOf(tree) > MAX_NODES ? undefined : tree
}

/** YAML in flow style begins like JSON, and need not be it. */
function readJson(text: string, file: string): Node | undefined {
  try {
    return parseJson(text, file)
  } catch (error) {
    if (error instanceof HeadgateError) return undefined
    throw error
  }
}

/** By the YAML library, at some 9 µs and 1 kB for each key and value. */
export const readYaml = (source: string, file: string): Node => {
  const lines = new LineCounter()
  const locate = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { file, line, column: col }
  }
  const [first, second] = compose(source, lines, locate)
  if (first === undefined) {
    return refuseEmpty('nothing but space and comments', { file, line: 1, column: 1 })
  }
  refuseErrors(first, locate)
  if (second !== undefined) {
    const rule = 'must be one document; split it into files'
    const at = locate(second.range[0])
    refuseDocument({
      code: 'DOCUMENT_MULTIPLE',
      thing: DOCUMENT,
      rule,
      finding: 'a second one',
      at,
    })
  }
  const tree = buildTree(first.contents, locate)
  return isNothing(tree) ? refuseEmpty('nothing', tree.at) : tree
}

type Locate = (offset: number) => Position

function compose(source: string, lines: LineCounter, locate: Locate): Document.Parsed[] {
  const composer = new Composer({
    // Only text, lists and maps: ids stay source text, and no tag makes a value of another kind.
    schema: 'failsafe',
    // The tree refuses duplicates itself, in linear time; the library compares every pair of keys.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  })
  const tokens = shallow(new Parser(lines.addNewLine).parse(source), locate)
  return Array.from(composer.compose(tokens))
}

/** The parser keeps a stack of its own, but the composer recurses: depth is checked in between. */
function* shallow(tokens: Iterable<CST.Token>, locate: Locate): Generator<CST.Token> {
  for (const token of tokens) {
    refuseDepth(token, locate)
    yield token
  }
}

function refuseDepth(root: CST.Token, locate: Locate): void {
  const pending: { token: CST.Token; depth: number }[] = [{ token: root, depth: 0 }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { token, depth } = next
    if (depth > MAX_DEPTH) {
      const rule = `must nest at most ${MAX_DEPTH} lists and maps`
      const at = locate(token.offset)
      refuseDocument({ code: 'DOCUMENT_TOO_LARGE', thing: DOCUMENT, rule, finding: 'more', at })
    }
    if (token.type === 'document' && token.value) pending.push({ token: token.value, depth })
    if (!('items' in token)) continue
    for (const { key, value } of token.items) {
      if (key) pending.push({ token: key, depth: depth + 1 })
      if (value) pending.push({ token: value, depth: depth + 1 })
    }
  }
}

function refuseErrors(document: Document.Parsed, locate: Locate): void {
  // Warnings are tags that the schema does not know: `!!int` and the like. We use none.
  const [fault] = [...document.errors, ...document.warnings]
  if (fault === undefined) return
  const rule = 'must be valid YAML 1.2 or JSON without tags'
  const at = locate(fault.pos[0])
  refuseDocument({
    code: 'DOCUMENT_SYNTAX',
    thing: DOCUMENT,
    rule,
    finding: describeFault(fault),
    at,
  })
}

function describeFault(fault: YAMLError): string {
  if (fault.code === 'TAB_AS_INDENT') return 'a tab as indentation; use spaces'
  if (fault.code === 'BLOCK_AS_IMPLICIT_KEY') {
    return 'a map within a line; text that ends in a colon needs quotes'
  }
  return `a fault: ${fault.message.split('\n', 1).join('')}`
}

/** From the YAML library's nodes to our own tree: aliases resolved, duplicate keys refused. */
const buildTree = (root: ParsedNode | null, locate: Locate): Node => {
  /** Each anchor's tree and how many nodes it holds; while it is being read, undefined. */
  const anchors = new Map<string, { node: Node; size: number } | undefined>()
  const mistakes = gathering()
  let count = 0

  function build(source: ParsedNode | null): Node {
    assert(source !== null, 'the parser gives every value a node')
    const at = locate(source.range[0])
    if (isAlias(source)) return follow(source.source, at)
    const before = count
    grow(1, at)
    if (source.anchor !== undefined) anchors.set(source.anchor, undefined)
    const node = shape(source, at)
    if (source.anchor !== undefined) anchors.set(source.anchor, { node, size: count - before })
    return node
  }

  function shape(source: Exclude<ParsedNode, { resolve: unknown }>, at: Position): Node {
    if (isScalar(source)) return scalar(source, at)
    if (isSeq(source)) return { kind: 'list', items: source.items.map(build), at }
    return { kind: 'map', entries: entries(source), at }
  }

  function entries(source: YAMLMap.Parsed): readonly MapEntry[] {
    const seen = new Map<string, Position>()
    const merged: Node[] = []
    const own = source.items.flatMap((pair): readonly MapEntry[] => {
      const key = build(pair.key)
      if (key.kind !== 'scalar') return refuseKey(key)
      const earlier = seen.get(key.text)
      if (earlier !== undefined) mistakes.attempt(() => refuseDuplicateKey(key, earlier))
      seen.set(key.text, key.at)
      // `{a}` in flow style has a key and no value at all.
      const value: Node = pair.value === null ? nothing(key.at) : build(pair.value)
      if (key.text !== MERGE || key.quoted) return [{ key: key.text, keyAt: key.at, value }]
      merged.push(value)
      return []
    })
    return merged.length === 0 ? own : [...own, ...merge(merged, seen)]
  }

  function follow(name: string, at: Position): Node {
    const anchor = anchors.get(name)
    if (anchor === undefined) {
      const rule = 'must name an anchor that is complete before it'
      const finding = anchors.has(name) ? 'one that contains the alias' : 'no such anchor'
      const mistake = {
        code: 'DOCUMENT_ALIAS',
        thing: `alias *${name}`,
        rule,
        finding,
        at,
      } as const
      return mistakes.attempt(() => refuseDocument(mistake)) ?? nothing(at)
    }
    // The tree is shared, but a reader walks it again: that is what an alias costs.
    grow(anchor.size, at)
    return anchor.node
  }

  function grow(by: number, at: Position): void {
    count += by
    if (count <= MAX_NODES) return
    const rule = `must hold at most ${MAX_NODES} values, aliases written out`
    refuseDocument({ code: 'DOCUMENT_TOO_LARGE', thing: DOCUMENT, rule, finding: 'more', at })
  }

  const tree = build(root)
  mistakes.end()
  return tree
}

/** A key that brings in the entries of other maps, as YAML 1.1 has it; most readers still do. */
const MERGE = '<<'

/** What the map does not hold itself; of several maps the first that has a key gives it. */
function merge(values: readonly Node[], own: ReadonlyMap<string, Position>): readonly MapEntry[] {
  const taken = new Set(own.keys())
  return values
    .flatMap((value) => (value.kind === 'list' ? value.items : [value]))
    .flatMap((map) => (map.kind === 'map' ? map.entries : refuseMerge(map)))
    .filter(({ key }) => !taken.has(key) && taken.add(key))
}

const refuseMerge = (node: Node): never =>
  refuseNode('the key <<', 'must have a map or a list of maps as its value', node)

function scalar(source: Scalar, at: Position): ScalarNode {
  assert(typeof source.value === 'string', 'the failsafe schema knows only text')
  const quoted = source.type !== Scalar.PLAIN || source.tag === 'tag:yaml.org,2002:str'
  return { kind: 'scalar', text: source.value, quoted, at }
}

const nothing = (at: Position): ScalarNode => ({ kind: 'scalar', text: '', quoted: false, at })

const refuseKey = (key: Node): never => refuseNode('the key of a map', 'must be text', key)

function refuseNode(thing: string, rule: string, node: Node): never {
  const finding = describeNode(node)
  return refuseDocument({ code: 'DOCUMENT_SYNTAX', thing, rule, finding, at: node.at })
}

function refuseLength({ length }: string, file: string): void {
  if (length <= MAX_DOCUMENT_LENGTH) return
  const rule = `must be at most ${MAX_DOCUMENT_LENGTH} characters long`
  const at = { file, line: 1, column: 1 }
  refuseDocument({ code: 'DOCUMENT_TOO_LARGE', thing: DOCUMENT, rule, finding: `${length}`, at })
}

const refuseEmpty = (finding: string, at: Position): never => {
  const rule = 'must not be empty; write {} or [] where nothing is meant'
  return refuseDocument({ code: 'DOCUMENT_EMPTY', thing: DOCUMENT, rule, finding, at })
}
