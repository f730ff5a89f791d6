/** The lines of a queue's log: each carries its own checksum, so that a torn one is known for what it is. */
import { crc32 } from 'node:zlib'
import { type Instant, instant } from '../core/time.ts'

export type QueueRecord =
  | {
      readonly kind: 'added'
      readonly number: number
      readonly at: Instant
      readonly item: string
    }
  | { readonly kind: 'done'; readonly number: number }

/** `checksum json`, with the line break that ends it. JSON has none inside. */
export const writeRecord = (record: QueueRecord): string => {
  const json = JSON.stringify(
    record.kind === 'added' ? ['+', record.number, record.at, record.item] : ['-', record.number],
  )
  return `${checksum(json)} ${json}\n`
}

/** Without its line break; undefined if a byte is not as it was written. */
export const readRecord = (line: string): QueueRecord | undefined => {
  const json = line.slice(CHECKSUM_LENGTH + 1)
  if (line !== `${checksum(json)} ${json}`) return undefined
  const [mark, number, at, item]: unknown[] = JSON.parse(json)
  if (typeof number !== 'number') return undefined
  if (mark === '-') return { kind: 'done', number }
  if (mark !== '+' || typeof at !== 'number' || typeof item !== 'string') return undefined
  return { kind: 'added', number, at: instant(at), item }
}

const CHECKSUM_LENGTH = 8

const checksum = (text: string): string => crc32(text).toString(16).padStart(CHECKSUM_LENGTH, '0')
