/** Rates and changes as the text that stores keep. What is read back was written here, and is trusted. */
import { type Instant, instant, type Value } from '../core/index.ts'
import type { Actor, Rate } from './rate.ts'

export type ChangeKind = 'add' | 'remove' | 'set'

/** One entry of the history. An id is added once and removed once, so changes can be replayed in any order. */
export interface Change {
  readonly kind: ChangeKind
  readonly at: Instant
  readonly by: Actor
  readonly cause?: string | undefined
  readonly added: readonly Rate[]
  readonly removed: readonly Rate[]
}

export const encodeRates = (rates: readonly Rate[]): Value => JSON.stringify(rates)
export const decodeRates = (value: Value | undefined): readonly Rate[] => {
  const stored: readonly StoredRate[] = value === undefined ? [] : JSON.parse(value)
  return stored.map(toRate)
}

export const encodeChange = (change: Change): Value => JSON.stringify(change)
export const decodeChange = (value: Value): Change => {
  const stored: StoredChange = JSON.parse(value)
  return {
    ...stored,
    at: instant(stored.at),
    added: stored.added.map(toRate),
    removed: stored.removed.map(toRate),
  }
}

type Plain<T> = { [Name in keyof T]: T[Name] extends Instant | undefined ? number : T[Name] }
type StoredRate = Plain<Rate>
interface StoredChange extends Omit<Change, 'at' | 'added' | 'removed'> {
  readonly at: number
  readonly added: readonly StoredRate[]
  readonly removed: readonly StoredRate[]
}

function toRate({ at, expiresAt, ...rest }: StoredRate): Rate {
  const expiry = expiresAt === undefined ? {} : { expiresAt: instant(expiresAt) }
  return { ...rest, at: instant(at), ...expiry }
}
