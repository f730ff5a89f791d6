/** The live keys of the memory store. The expired read as absent, and leave as others come. */
import type { Item, Key, Write } from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'

/**
 * How many keys each write looks at for expiry. Above one, so that a lap ends before as many new
 * keys were written as it looked at; then the expired are at most about half of what is kept.
 */
const LOOKS_PER_WRITE = 2

export interface Items {
  get(key: Key, now: Instant): string | undefined
  apply(write: Write, now: Instant): void
  /** The first `limit` live keys beyond `after`, in byte order; of `index` only, if given. */
  page(after: Key, limit: number, now: Instant, index?: string): Item[]
  /** How many keys take up memory, the expired among them. */
  size(): number
}

export function items(): Items {
  const kept = new Map<Key, Write>()
  let lap = kept.entries()

  const sweep = (now: Instant): void => {
    for (let looks = 0; looks < LOOKS_PER_WRITE; looks++) {
      const next = lap.next()
      if (next.done === true) {
        lap = kept.entries()
        return
      }
      const [key, write] = next.value
      if (isExpired(write, now)) kept.delete(key)
    }
  }

  return {
    get: (key, now) => {
      const write = kept.get(key)
      return write === undefined || isExpired(write, now) ? undefined : write.value
    },
    apply: (write, now) => {
      if (write.value === undefined) kept.delete(write.key)
      else kept.set(write.key, write)
      sweep(now)
    },
    size: () => kept.size,
    // Sorts anew for every page: pages are for people and exports, and order would tax each write.
    page: (after, limit, now, index) => {
      const start = Buffer.from(after)
      return [...kept.values()]
        .filter((write) => !isExpired(write, now) && (index === undefined || write.index === index))
        .map(({ key, value = '' }) => ({ bytes: Buffer.from(key), key, value }))
        .filter(({ bytes }) => bytes.compare(start) > 0)
        .sort((a, b) => a.bytes.compare(b.bytes))
        .slice(0, limit)
        .map(({ key, value }) => ({ key, value }))
    },
  }
}

const isExpired = ({ expiresAt }: Write, now: Instant): boolean =>
  expiresAt !== undefined && expiresAt <= now
