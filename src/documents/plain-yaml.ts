/**
 * Plain YAML: block lists and maps whose keys and values take one line each, as in nearly every
 * file of ours. YAML 1.2, chapters 7.3 and 8.2.
 */
import type { Position } from '../core/errors.ts'
import { MAX_DEPTH, type MapEntry, type Node, type ScalarNode } from './node.ts'

/**
 * Undefined for everything it does not surely know: flow style, anchors, tags, text over several lines,
 * null, and every mistake. Then the YAML library must read the whole.
 */
export const readPlainYaml = (text: string, file: string): Node | undefined => {
  // A line ends in `\r\n` or `\n`; a lone `\r` at the end is text to the library.
  const lines = text.endsWith('\r') ? undefined : readLines(text, file)
  const [first] = lines ?? []
  if (lines === undefined || first === undefined) return undefined
  const cursor: Cursor = { lines, next: 0 }
  const tree = readBlock(cursor, first, 0)
  return cursor.next === lines.length ? tree : undefined
}

/** One that is not empty: a dash, a key, a value, or some of them in this order. */
interface Line {
  readonly at: Position
  /** How far behind the dash the rest begins; 0 without a dash. */
  readonly dash: number
  readonly key: ScalarNode | undefined
  readonly value: ScalarNode | undefined
}

interface Cursor {
  readonly lines: readonly Line[]
  next: number
}

function readBlock(cursor: Cursor, first: Line, depth: number): Node | undefined {
  if (depth >= MAX_DEPTH) return undefined
  return first.dash > 0 ? readList(cursor, first, depth) : readMap(cursor, first.at, depth)
}

function readList(cursor: Cursor, { at }: Line, depth: number): Node | undefined {
  const items: Node[] = []
  let line = cursor.lines[cursor.next]
  while (line !== undefined && line.at.column === at.column && line.dash > 0) {
    const item = readItem(cursor, line, depth)
    if (item === undefined) return undefined
    items.push(item)
    line = cursor.lines[cursor.next]
  }
  return { kind: 'list', items, at }
}

/** A map may begin behind the dash, and goes on below its first key. */
function readItem(cursor: Cursor, { key, value }: Line, depth: number): Node | undefined {
  if (key !== undefined) return readMap(cursor, key.at, depth + 1)
  cursor.next += 1
  return value
}

function readMap(cursor: Cursor, at: Position, depth: number): Node | undefined {
  const entries: MapEntry[] = []
  const seen = new Set<string>()
  let line = cursor.lines[cursor.next]
  do {
    const key = line?.key
    if (key === undefined || seen.has(key.text)) return undefined
    seen.add(key.text)
    cursor.next += 1
    const value = line?.value ?? readBelow(cursor, at.column, depth)
    if (value === undefined) return undefined
    entries.push({ key: key.text, keyAt: key.at, value })
    line = cursor.lines[cursor.next]
  } while (line?.at.column === at.column && line.dash === 0)
  return { kind: 'map', entries, at }
}

/** What belongs to a key is further right; only a list may begin in the same column. */
function readBelow(cursor: Cursor, column: number, depth: number): Node | undefined {
  const line = cursor.lines[cursor.next]
  if (line === undefined) return undefined
  const least = line.dash > 0 ? column : column + 1
  return line.at.column < least ? undefined : readBlock(cursor, line, depth + 1)
}

/** Plain text: no indicator in front, no colon before a space, no `#`. Quoted text: no escapes. */
const WORD = String.raw`(?:[^\s:#]|:(?=\S))`
const TEXT = String.raw`[\p{L}\p{N}_/]${WORD}*(?: +${WORD}+)*|"[^"\\\r\n]*"|'[^'\r\n]*'`
/** `(?! )`: spaces are shared out in one way only, or a line of them would take its length squared. */
const LINE = new RegExp(
  String.raw`^( *)(?! )(- +(?! ))?(?:(${TEXT}):(?:( +)(${TEXT}))?|(${TEXT}))? *(?:(?<!\S)#.*)?\r?$`,
  'u',
)

/** Twice what the longest value may have. Lines of millions exhaust the stack of the pattern above. */
const MAX_LINE_LENGTH = 65_536

/** YAML has no longer keys without a `?` in front. */
const MAX_KEY_LENGTH = 1_000

function readLines(text: string, file: string): readonly Line[] | undefined {
  const lines: Line[] = []
  for (const [index, source] of text.split('\n').entries()) {
    const parts = source.length > MAX_LINE_LENGTH ? null : LINE.exec(source)
    if (parts === null) return undefined
    const [, indent = '', dash = '', key, gap = '', value, alone] = parts
    if (key !== undefined && key.length > MAX_KEY_LENGTH) return undefined
    const place = (column: number): Position => ({ file, line: index + 1, column })
    const start = indent.length + 1
    const rest = start + dash.length
    if (key !== undefined) {
      const after = rest + key.length + ':'.length + gap.length
      lines.push({
        at: place(start),
        dash: dash.length,
        key: scalar(key, place(rest)),
        value: value === undefined ? undefined : scalar(value, place(after)),
      })
    } else if (alone !== undefined) {
      const only = scalar(alone, place(rest))
      lines.push({ at: place(start), dash: dash.length, key, value: only })
    } else if (dash !== '') return undefined
  }
  return lines
}

function scalar(source: string, at: Position): ScalarNode {
  const quoted = source.startsWith('"') || source.startsWith("'")
  return { kind: 'scalar', text: quoted ? source.slice(1, -1) : source, quoted, at }
}
