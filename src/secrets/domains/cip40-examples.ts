/** The domains that CIP-40 gives as examples: Peppered, Not Before and Linear Backoff, version 1 each. */
import { MAX_CAPACITY } from '../../core/gcra.ts'
import { type Instant, millis, type Span, span } from '../../core/time.ts'
import { parseEthereumAddress, signedBy } from '../eip712/ethereum.ts'
import { optional, string, struct, uint256 } from '../eip712/typed-data.ts'
import { refuseDomain } from '../mistake.ts'
import { cappedRule, type Rule, refreshedRule, uncappedRule, wholeSeconds } from '../rules/rule.ts'
import { type Claim, defineKind, NO_NONCE, openToAll } from './domain-kind.ts'

/** The document maps its text to `string`, so the address is hashed as it is written. */
export const PepperedDomain = struct('PepperedDomain', {
  name: string,
  version: string,
  address: string,
  cap: optional(uint256),
})

export const PepperedDomainOptions = struct('PepperedDomainOptions', { signature: string })

type PepperedFields = typeof PepperedDomain.zero
type PepperedOptions = typeof PepperedDomainOptions.zero

export const peppered = defineKind({
  name: 'ODIS Peppered Domain',
  version: '1',
  endpoints: ['sign', 'quotaStatus', 'disable'],
  domain: PepperedDomain,
  options: PepperedDomainOptions,
  tagged: false,
  unsigned: (options) => ({ ...options, signature: '' }),
  claim: claimPeppered,
})

function claimPeppered(domain: PepperedFields, { signature }: PepperedOptions): Claim {
  const owner =
    parseEthereumAddress(domain.address) ??
    refuseDomain('address', 'must be an address', domain.address)
  const rule = domain.cap.defined ? cappedRule(domain.cap.value) : uncappedRule
  return {
    authenticate: async (hash, _, recover) =>
      signedBy(hash, signature, { addresses: [owner] }, recover),
    nonce: NO_NONCE,
    rule: async () => rule,
  }
}

export const NotBeforeDomain = struct('NotBeforeDomain', {
  name: string,
  version: string,
  notBefore: uint256,
})

export const NotBeforeDomainOptions = struct('NotBeforeDomainOptions', {})

export const notBefore = defineKind({
  name: 'ODIS Not Before Domain',
  version: '1',
  endpoints: ['sign', 'quotaStatus'],
  domain: NotBeforeDomain,
  options: NotBeforeDomainOptions,
  tagged: false,
  unsigned: (options) => options,
  claim: (domain) => ({
    authenticate: openToAll,
    nonce: NO_NONCE,
    rule: async () => openFrom(domain.notBefore),
  }),
})

/** Keeps no state: after its time every request is as good as the first. */
function openFrom(opening: number): Rule {
  return {
    stateful: false,
    endless: true,
    attempt: (_, now) => {
      const due = opening * 1_000_000
      return now >= due ? { allowed: true } : { allowed: false, retryIn: until(due, now) }
    },
    counter: () => 0,
    status: (_, now) => ({ notBefore: opening, now: wholeSeconds(now) }),
  }
}

/** A time that microseconds cannot hold exactly gets the longest wait that they can. */
function until(due: number, now: Instant): Span {
  return span(Math.min(due - now, Number.MAX_SAFE_INTEGER))
}

export const LinearBackoffDomain = struct('LinearBackoffDomain', {
  name: string,
  version: string,
  refresh: optional(uint256),
  cap: uint256,
  salt: optional(string),
})

export const LinearBackoffDomainOptions = struct('LinearBackoffDomainOptions', {})

/** Without an owner there is no one to disable it. */
export const linearBackoff = defineKind({
  name: 'ODIS Linear Backoff Domain',
  version: '1',
  endpoints: ['sign', 'quotaStatus'],
  domain: LinearBackoffDomain,
  options: LinearBackoffDomainOptions,
  tagged: false,
  unsigned: (options) => options,
  claim: (domain) => {
    const rule = ruleOf(domain)
    return { authenticate: openToAll, nonce: NO_NONCE, rule: async () => rule }
  },
})

/** A refresh that is not defined is a hard cap. */
function ruleOf({ cap, refresh }: typeof LinearBackoffDomain.zero): Rule {
  if (!refresh.defined) return cappedRule(cap)
  if (refresh.value === 0) refuseDomain('refresh', 'must be at least 1 ms', 0)
  if (refresh.value * 1_000 * Math.max(1, cap) > MAX_CAPACITY) {
    refuseDomain('cap and refresh', 'must fill up within 142 years', `${cap} × ${refresh.value} ms`)
  }
  return cap === 0 ? cappedRule(0) : refreshedRule(cap, millis(refresh.value))
}
