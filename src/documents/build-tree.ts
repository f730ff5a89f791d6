/** From the YAML library's nodes to our own tree: aliases resolved, duplicate keys refused. */
import { isAlias, isScalar, isSeq, type ParsedNode, Scalar, type YAMLMap } from 'yaml'
import { assert, describePosition, type Position } from '../core/errors.ts'
import { refuse } from './mistake.ts'
import {
  describeNode,
  MAX_NODES,
  type MapEntry,
  type Node,
  quote,
  type ScalarNode,
} from './node.ts'

type Locate = (offset: number) => Position

export const buildTree = (root: ParsedNode | null, locate: Locate): Node => {
  /** Each anchor's tree and how many nodes it holds; while it is being read, undefined. */
  const anchors = new Map<string, { node: Node; size: number } | undefined>()
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

  function entries(source: YAMLMap.Parsed): MapEntry[] {
    const seen = new Map<string, Position>()
    return source.items.map((pair) => {
      const key = build(pair.key)
      if (key.kind !== 'scalar') return refuseKey(key)
      const earlier = seen.get(key.text)
      if (earlier !== undefined) refuseDuplicate(key, earlier)
      seen.set(key.text, key.at)
      // `{a}` in flow style has a key and no value at all.
      const value: Node = pair.value === null ? nothing(key.at) : build(pair.value)
      return { key: key.text, keyAt: key.at, value }
    })
  }

  function follow(name: string, at: Position): Node {
    const anchor = anchors.get(name)
    if (anchor === undefined) {
      const rule = 'must name an anchor that is complete before it'
      const finding = anchors.has(name) ? 'one that contains the alias' : 'no such anchor'
      return refuse({ code: 'DOCUMENT_ALIAS', thing: `alias *${name}`, rule, finding, at })
    }
    // The tree is shared, but whoever reads it walks it again: that is what an alias costs.
    grow(anchor.size, at)
    return anchor.node
  }

  function grow(by: number, at: Position): void {
    count += by
    if (count <= MAX_NODES) return
    const rule = `must hold at most ${MAX_NODES} values, aliases written out`
    refuse({ code: 'DOCUMENT_TOO_LARGE', thing: 'the document', rule, finding: 'more', at })
  }

  return build(root)
}

function scalar(source: Scalar, at: Position): ScalarNode {
  assert(typeof source.value === 'string', 'the failsafe schema knows only text')
  const quoted = source.type !== Scalar.PLAIN || source.tag === 'tag:yaml.org,2002:str'
  return { kind: 'scalar', text: source.value, quoted, at }
}

const nothing = (at: Position): ScalarNode => ({ kind: 'scalar', text: '', quoted: false, at })

const refuseKey = (key: Node): never => {
  const rule = 'must be text'
  const finding = describeNode(key)
  return refuse({ code: 'DOCUMENT_SYNTAX', thing: 'the key of a map', rule, finding, at: key.at })
}

const refuseDuplicate = (key: ScalarNode, earlier: Position): never =>
  refuse({
    code: 'DOCUMENT_DUPLICATE_KEY',
    thing: `the key ${quote(key.text)}`,
    rule: 'must stand once in its map',
    finding: `it also at ${describePosition(earlier)}`,
    at: key.at,
  })
