/** ODIS Not Before Domain, version 1: closed until a Unix time in seconds, and open to all after it. */
import { type Instant, type Span, span } from '../../core/index.ts'
import { NO_TURN, openToAll } from '../claim.ts'
import { defineKind } from '../domain-kind.ts'
import { string, uint256 } from '../eip712/atoms.ts'
import { struct } from '../eip712/struct.ts'
import type { Rule } from '../rule.ts'
import { wholeSeconds } from '../whole-seconds.ts'

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
    turn: NO_TURN,
    rule: async () => openFrom(domain.notBefore),
  }),
})

/** Keeps no state: after its time every request is as good as the first. */
function openFrom(opening: number): Rule {
  return {
    stateful: false,
    attempt: (_, now) => {
      const due = opening * 1_000_000
      return now >= due ? { allowed: true } : { allowed: false, retryIn: until(due, now) }
    },
    counter: () => 0,
    status: (_, now) => ({ notBefore: opening, now: wholeSeconds(now) }),
  }
}

/** A time that microseconds cannot hold is further away than any wait that is told. */
function until(due: number, now: Instant): Span {
  return span(Math.min(due - now, Number.MAX_SAFE_INTEGER))
}
