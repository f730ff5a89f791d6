/** How long the audit stream is kept: what is older is forgotten, oldest first, in small bites. */
import { after, answer, type Instant, type Span, type Store, span } from '../core/index.ts'
import { AUDIT_STREAM, decodeAudit } from './audit.ts'

/**
 * Entries read and forgotten in one go, between which the calls of signers have their turn: while
 * 200,000 went from SQLite in 1.3 s, writes beside them took 1.5 ms, and 21 ms at most.
 */
const BITE = 500

/** Of one call: 10,000 entries. Whoever closes the store waits no longer than for these. */
const MAX_BITES = 20

/**
 * Forgets entries that are older than `keep` by the store's time; answers how many. A long backlog
 * takes several calls. Stops at the first entry that is young enough: what a clock that stepped back
 * wrote behind it waits with it, and is kept for too long rather than not long enough. One from the
 * future, written by a clock that was ahead, stops nothing: it would for years.
 *
 * May end anywhere, and may run in several processes at once: what is forgotten stands in no plan.
 */
export const trimAudit = async (store: Store, keep: Span): Promise<number> => {
  const now = await store.transact((view) => answer(view.now))
  const kept = { from: after(now, span(-keep)), to: now }
  let forgotten = 0
  for (let bite = 0; bite < MAX_BITES; bite++) {
    const bitten = await forgetSome(store, kept)
    forgotten += bitten
    if (bitten < BITE) break
  }
  return forgotten
}

interface Kept {
  readonly from: Instant
  readonly to: Instant
}

async function forgetSome(store: Store, { from, to }: Kept): Promise<number> {
  const entries = await store.read(AUDIT_STREAM, 0, BITE)
  const times = entries.map(({ entry }) => decodeAudit(entry).at)
  const young = times.findIndex((at) => at >= from && at <= to)
  const lastOld = times.findLastIndex((at, i) => at < from && (young === -1 || i < young))
  const last = entries[lastOld]
  if (last === undefined) return 0
  await store.trim(AUDIT_STREAM, last.position + 1)
  return lastOld + 1
}
