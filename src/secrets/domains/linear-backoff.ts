/** ODIS Linear Backoff Domain, version 1: up to `cap` attempts saved, one back each `refresh` milliseconds. */
import { MAX_CAPACITY, millis } from '../../core/index.ts'
import { cappedRule } from '../capped-rule.ts'
import { NO_TURN, openToAll } from '../claim.ts'
import { refuseDomain } from '../domain-bounds.ts'
import { defineKind } from '../domain-kind.ts'
import { string, uint256 } from '../eip712/atoms.ts'
import { optional, struct } from '../eip712/struct.ts'
import { refreshedRule } from '../refreshed-rule.ts'
import type { Rule } from '../rule.ts'

export const LinearBackoffDomain = struct('LinearBackoffDomain', {
  name: string,
  version: string,
  refresh: optional(uint256),
  cap: uint256,
  salt: optional(string),
})

export const LinearBackoffDomainOptions = struct('LinearBackoffDomainOptions', {})

/** Nobody owns such a domain, so nobody may disable it. */
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
    return { authenticate: openToAll, turn: NO_TURN, rule: async () => rule }
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
