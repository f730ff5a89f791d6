/**
 * Whether tokens are valid now, by the store's time. The validator asks too, by this machine's
 * clock; but only one time can be right for all nodes, and for how long receipts must be kept.
 */
import type { Instant } from '../../core/index.ts'
import type { Chain } from './authorise.ts'

/** The sentence that a token of the chain breaks, if any. UCAN counts whole seconds. */
export const lifetimeFault = (chain: Chain, now: Instant): string | undefined => {
  const second = Math.floor(now / 1_000_000)
  for (const { cid, expires, notBefore } of chain) {
    if (expires !== undefined && expires <= second) return `Proof ${cid} has expired`
    if (notBefore !== undefined && second <= notBefore) return `Proof ${cid} is not valid yet`
  }
  return undefined
}
