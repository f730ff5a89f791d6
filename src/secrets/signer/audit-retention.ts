/** How long audit entries are kept. */
import { answer, type Store } from '../../core/store.ts'
import { after, type Instant, type Span, span } from '../../core/time.ts'
import { auditStream, auditTime } from './audit.ts'
import { SHARDS } from './shards.ts'

/**
 * Entries read and forgotten at a time; other calls run in between. While 200,000 were deleted from
 * SQLite in 1.3 s, writes beside them took 1.5 ms, and 21 ms at most.
 */
const BITE = 500

/** Of one call: 10,000 entries. Closing the store waits for no more than these. */
const MAX_BITES = 20

/**
 * Forgets entries older than `keep` by the store's time, oldest first in each shard; returns how many.
 * A long backlog takes several calls. Stops at the first entry of a shard that is young enough: older
 * ones behind it, which a clock that stepped back wrote, are kept too long rather than not long enough.
 * An entry from the future, which a clock that was ahead wrote, does not stop it: it would for years.
 *
 * May be interrupted anywhere, and may run in several processes at once: no decision reads the streams.
 */
export const trimAudit = async (store: Store, keep: Span): Promise<number> => {
  const now = await store.transact((view) => answer(view.now))
  const kept = { from: after(now, span(-keep)), to: now }
  let forgotten = 0
  let backlog = await shardsToLookAt(store, kept)
  // In turn, so that no shard's backlog keeps another from its turn.
  for (let bites = 0; backlog.length > 0 && bites < MAX_BITES; ) {
    const left: string[] = []
    for (const shard of backlog.slice(0, MAX_BITES - bites)) {
      const bitten = await forgetSome(store, shard, kept)
      bites += 1
      forgotten += bitten
      if (bitten === BITE) left.push(shard)
    }
    backlog = left
  }
  return forgotten
}

interface Kept {
  readonly from: Instant
  readonly to: Instant
}

const isYoung = (at: Instant, { from, to }: Kept): boolean => at >= from && at <= to

/** Those whose oldest entry does not end the search at once: nearly always none. One read each, side by side. */
async function shardsToLookAt(store: Store, kept: Kept): Promise<readonly string[]> {
  const firsts = await Promise.all(SHARDS.map((shard) => store.read(auditStream(shard), 0, 1)))
  return SHARDS.filter((_, at) => firsts[at]?.some((first) => !isYoung(auditTime(first), kept)))
}

async function forgetSome(store: Store, shard: string, kept: Kept): Promise<number> {
  const stream = auditStream(shard)
  const entries = await store.read(stream, 0, BITE)
  const times = entries.map(auditTime)
  const young = times.findIndex((at) => isYoung(at, kept))
  const lastOld = times.findLastIndex((at, i) => at < kept.from && (young === -1 || i < young))
  const last = entries[lastOld]
  if (last === undefined) return 0
  await store.trim(stream, last.position + 1)
  return lastOld + 1
}
