/** A program's own value as the tree that documents give, so that one reader reads both. */
import type { Position } from '../core/errors.ts'
import { type MapEntry, type Node, refuseDocument } from './node.ts'

/** Fields that are undefined count as absent. `name` is what messages call the whole. */
export const treeOf = (value: unknown, name: string): Node => {
  // Line 0: the value has a name, but no place in a text.
  const at: Position = { file: name, line: 0, column: 0 }
  return build(value, name, at)
}

function build(value: unknown, thing: string, at: Position): Node {
  switch (typeof value) {
    case 'string':
      return { kind: 'scalar', text: value, quoted: true, at }
    case 'number':
    case 'bigint':
    case 'boolean':
      return { kind: 'scalar', text: String(value), quoted: false, at }
    case 'object':
      return value === null
        ? { kind: 'scalar', text: 'null', quoted: false, at }
        : buildParts(value, thing, at)
    default: {
      const rule = 'must be text, a number, true or false, a list or a map'
      return refuseDocument({ code: 'FIELD_TYPE', thing, rule, finding: `a ${typeof value}`, at })
    }
  }
}

function buildParts(value: object, thing: string, at: Position): Node {
  if (Array.isArray(value)) {
    const items = value.map((item, i) => build(item, `${thing}[${i}]`, at))
    return { kind: 'list', items, at }
  }
  const entries = Object.entries(value).flatMap(([key, held]): readonly MapEntry[] =>
    held === undefined ? [] : [{ key, keyAt: at, value: build(held, `${thing}.${key}`, at) }],
  )
  return { kind: 'map', entries, at }
}
