/**
 * How keys, streams and indexes are named: `pillar/{tag}/part/part`, and `index#item` for a key that a
 * list shows. So a store can tell from a name alone what shares its partition and which list it is in.
 *
 * The tag is what Redis Cluster hashes: names of one tag lie in one slot. Tags and parts come from
 * callers, who may send braces, slashes and hashes; escaped, no two of them make one name.
 */
import type { Key } from './store.ts'

/** A key, a stream or an index. */
export const nameOf = (pillar: string, tag: string, ...parts: readonly string[]): string => {
  let name = `${pillar}/{${escapeTag(tag)}}`
  // On the path of every decision: no list is made only to be joined.
  for (let at = 0; at < parts.length; at++) name += `/${escapePart(parts[at] ?? '')}`
  return name
}

/** The key under which `index` lists an item, for as long as it is written. */
export const listedName = (index: string, item: string): Key => `${index}#${item}`

/** The index that lists a key: always the same one. Undefined for a key that no list shows. */
export const indexOf = (key: Key): string | undefined => {
  const hash = key.indexOf('#')
  return hash < 0 ? undefined : key.slice(0, hash)
}

/** What an index calls a key that it lists. */
export const itemOf = (key: Key): string => key.slice(key.indexOf('#') + 1)

/** What decides the partition of a name: its tag as it is written, or all of a name without one. */
export const tagOf = (name: string): string => {
  const open = name.indexOf('{')
  const close = open < 0 ? -1 : name.indexOf('}', open + 1)
  return close > open + 1 ? name.slice(open + 1, close) : name
}

/** Redis takes an empty tag for none. A lone % is nothing that escaping makes. */
const EMPTY_TAG = '%'

const escapeTag = (tag: string): string =>
  tag === '' ? EMPTY_TAG : BRACES.test(tag) ? tag.replace(ALL_BRACES, percent) : tag

const escapePart = (part: string): string =>
  SLASHES.test(part) ? part.replace(ALL_SLASHES, percent) : part

const BRACES = /[%{}#]/
const ALL_BRACES = /[%{}#]/g
const SLASHES = /[%/#]/
const ALL_SLASHES = /[%/#]/g

const percent = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase()}`
