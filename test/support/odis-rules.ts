/** The rule of a domain, without the signer around it. */
import type { Value } from '../../src/core/store.ts'
import { type Instant, instant } from '../../src/core/time.ts'
import type { DomainKind } from '../../src/secrets/domains/domain-kind.ts'
import type { Rule } from '../../src/secrets/rules/rule.ts'
import { jsonField } from './json-field.ts'
import { withoutProof } from './odis-requests.ts'
import { type Fields, type SampleName, samples, varied } from './odis-samples.ts'

export const T0 = instant(1_700_000_000_000_000)
export const later = (point: Instant, wait: number): Instant => instant(point + wait)

/** The rule of a domain with some fields of its own. */
export const ruleOf = (kind: DomainKind, name: SampleName, domain: Fields): Promise<Rule> => {
  const body = withoutProof(varied(samples('x')[name], { domain }))
  return kind.read('sign', jsonField(body)).claim.rule()
}

/** How many attempts in a row are allowed at one moment, and the state after them. */
export const burst = (
  rule: Rule,
  state: Value | undefined,
  now: Instant,
): { count: number; state: Value | undefined } => {
  let kept = state
  for (let count = 0; ; count++) {
    const found = rule.attempt(kept, now)
    if (!found.allowed || found.next === undefined) return { count, state: kept }
    kept = found.next
  }
}
