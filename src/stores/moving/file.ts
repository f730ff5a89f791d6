/**
 * The file of an export: JSON on lines. A header; then `["k",key,value,expiry?]` for each key,
 * `["s",stream,last]` for each stream and `["e",position,entry]` for each of its entries, and now and then
 * `["at",among,cursor,sha256]`, where a try that was cut off goes on; at the end how much that was. The
 * SHA-256 are those of every line before.
 */
import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { quote, systemCode } from '../../core/errors.ts'
import { movingMistake } from './errors.ts'
import type { ContentSummary, MoveProgress, Spot, StoreRecord } from './records.ts'

export interface FileHeader {
  /** By chance: tells one export from all others. */
  readonly id: string
  /** The newest time that the store may have written, in microseconds. */
  readonly newest: number
}

/** The number of what is written here. A newer Headgate that writes otherwise counts on. */
const FORMAT = 1

export interface ReadExport {
  readonly header: FileHeader
  /** In the order of the file. Throws STORE_FILE_INVALID at the first line that is not as it must be. */
  readonly pages: AsyncIterable<readonly StoreRecord[]>
  /** Once all records were read. */
  summary(): ContentSummary
  /** How much of the file was read. */
  progress(): MoveProgress
}

/** Throws STORE_FILE_INVALID for what is no export. */
export const readExport = async (path: string): Promise<ReadExport> => {
  const digest = createHash('sha256')
  let [number, end]: [number, ContentSummary | undefined] = [0, undefined]
  let stream: string | undefined
  let passed = 0

  const refuse = (rule: string, finding?: string): never => {
    throw movingMistake('STORE_FILE_INVALID', `${path}:${number}`, rule, finding)
  }
  const take = (text: string, records: StoreRecord[]): void => {
    number += 1
    if (end !== undefined) refuse('must not go on beyond its summary')
    const line = parseLine(text, stream) ?? refuse('must be a record', quote(text))
    if (line.kind === 'spot' && line.sha256 !== spotHash(digest, line.spot)) refuse(HASH_RULE)
    if (line.kind === 'end') {
      if (line.sha256 !== digest.digest('hex')) refuse(HASH_RULE)
      end = line.summary
      return
    }
    digest.update(`${text}\n`)
    if (line.kind === 'spot') return
    if (line.kind === 'stream') stream = line.stream
    records.push(line)
  }

  const first = await firstLine(path)
  const header = parseHeader(first)
  if (header === undefined) return refuse(HEADER_RULE, quote(first))
  async function* pages(): AsyncGenerator<readonly StoreRecord[]> {
    for await (const lines of linesOf(path)) {
      const records: StoreRecord[] = []
      passed = lines.at(-1)?.end ?? passed
      for (const { text } of lines) {
        if (number > 0) take(text, records)
        else digest.update(`${text}\n`)
        number = Math.max(1, number)
      }
      yield records
    }
    if (end === undefined) refuse('must end with its summary', 'the end of the file')
  }
  const { size: total } = await stat(path)
  return {
    header,
    pages: pages(),
    summary: () => end ?? refuse('must have been read to its end'),
    progress: () => ({ doing: 'checking the file', done: passed, total }),
  }
}

const HASH_RULE = 'must have the hash of all lines before'

const HEADER_RULE = `must begin with the header of an export of format ${FORMAT}`

async function firstLine(path: string): Promise<string> {
  for await (const [line] of linesOf(path)) if (line !== undefined) return line.text
  return ''
}

interface Line {
  readonly text: string
  /** How many bytes of the file end with it. */
  readonly end: number
}

const NEWLINE = 10

/** Only what a newline ends is a line: Node's own lines also end at U+2028, which JSON leaves as it is. */
export async function* linesOf(path: string): AsyncGenerator<readonly Line[]> {
  let rest = Buffer.alloc(0)
  let passed = 0
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 18 })) {
      const bytes = Buffer.concat([rest, chunk])
      const lines: Line[] = []
      let from = 0
      for (let to = bytes.indexOf(NEWLINE); to >= 0; to = bytes.indexOf(NEWLINE, from)) {
        lines.push({ text: bytes.toString('utf8', from, to), end: passed + to + 1 })
        from = to + 1
      }
      passed += from
      rest = bytes.subarray(from)
      yield lines
    }
  } catch (cause) {
    const rule = 'must be a file that can be read'
    throw movingMistake('STORE_FILE_INVALID', path, rule, systemCode(cause), cause)
  }
}

export const headerLine = (header: FileHeader): string =>
  `${JSON.stringify({ headgate: 'store', format: FORMAT, ...header })}\n`

/** `digest` is that of all lines before. */
export const spotLine = (spot: Spot, digest: Hash): string =>
  `${JSON.stringify(['at', spot.among, spot.cursor, spotHash(digest, spot)])}\n`

/** Of the spot itself too: where a try goes on at another place, what lies between is passed over. */
export const spotHash = (digest: Hash, { among, cursor }: Spot): string =>
  digest
    .copy()
    .update(JSON.stringify([among, cursor]))
    .digest('hex')

export const endLine = (summary: ContentSummary, sha256: string): string =>
  `${JSON.stringify({ end: true, ...summary, sha256 })}\n`

export const recordLine = (record: StoreRecord): string => {
  switch (record.kind) {
    case 'item': {
      const { key, value, expiry } = record
      const fields = expiry === undefined ? ['k', key, value] : ['k', key, value, expiry]
      return `${JSON.stringify(fields)}\n`
    }
    case 'stream':
      return `${JSON.stringify(['s', record.stream, record.last])}\n`
    case 'entry':
      return `${JSON.stringify(['e', record.position, record.entry])}\n`
    default:
      return record satisfies never
  }
}

export const parseHeader = (line: string): FileHeader | undefined => {
  const { headgate, format, id, newest } = fieldsOf(parse(line))
  return headgate === 'store' && format === FORMAT && isText(id) && isWhole(newest)
    ? { id, newest }
    : undefined
}

type ParsedLine =
  | StoreRecord
  | { readonly kind: 'spot'; readonly spot: Spot; readonly sha256: string }
  | { readonly kind: 'end'; readonly summary: ContentSummary; readonly sha256: string }

/** Entries are of the stream that was named last; undefined for what is no line of an export. */
export const parseLine = (text: string, stream: string | undefined): ParsedLine | undefined => {
  const found = parse(text)
  return Array.isArray(found) ? parseFields(found, stream) : parseEnd(found)
}

function parseFields(fields: readonly unknown[], stream?: string): ParsedLine | undefined {
  const [kind, first, second, third] = fields
  if (kind === 'k' && isText(first) && isText(second)) {
    const item = { kind: 'item', key: first, value: second } as const
    if (fields.length === 3) return item
    return fields.length === 4 && isWhole(third) ? { ...item, expiry: third } : undefined
  }
  if (kind === 'at' && (first === 'keys' || first === 'streams') && isText(second)) {
    if (fields.length !== 4 || !isText(third)) return undefined
    return { kind: 'spot', spot: { among: first, cursor: second }, sha256: third }
  }
  if (fields.length !== 3) return undefined
  if (kind === 's' && isText(first) && isWhole(second)) {
    return { kind: 'stream', stream: first, last: second }
  }
  return kind === 'e' && stream !== undefined && isWhole(first) && isText(second)
    ? { kind: 'entry', stream, position: first, entry: second }
    : undefined
}

function parseEnd(found: unknown): ParsedLine | undefined {
  const { end, keys, streams, entries, content, sha256 } = fieldsOf(found)
  const whole = end === true && isWhole(keys) && isWhole(streams) && isWhole(entries)
  return whole && isText(content) && isText(sha256)
    ? { kind: 'end', summary: { keys, streams, entries, content }, sha256 }
    : undefined
}

const fieldsOf = (found: unknown): Readonly<Record<string, unknown>> =>
  typeof found === 'object' && found !== null ? { ...found } : {}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isWhole = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0
