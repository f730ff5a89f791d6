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
 * wrote behind it waits with it, and is kept for too long rather than not long enough.
 *
 * May end anywhere, and may run in several processes at once: what is forgotten stands in no plan.
 */
export const trimAudit = async (store: Store, keep: Span): Promise<number> => {
  const now = await store.transact((view) => answer(view.now))
  const cutoff = after(now, span(-keep))
  let forgotten = 0
  for (let bite = 0; bite < MAX_BITES; bite++) {
    const bitten = await forgetSome(store, cutoff)
    forgotten += bitten
    if (bitten < BITE) break
  }
  return forgotten
}

async function forgetSome(store: Store, cutoff: Instant): Promise<number> {
  const entries = await store.read(AUDIT_STREAM, 0, BITE)
  const young = entries.findIndex(({ entry }) => decodeAudit(entry).at >= cutoff)
  const old = young === -1 ? entries : entries.slice(0, young)
  const last = old.at(-1)
  if (last === undefined) return 0
  await store.trim(AUDIT_STREAM, last.position + 1)
  return old.length
}
