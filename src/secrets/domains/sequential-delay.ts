/**
 * ODIS Sequential Delay Domain, version 1, as deployed: hashes, options and nonce byte by byte.
 *
 * The first delay counts from the epoch, so it can hold a "not before" date.
 */
import { type Span, type Stage, seconds, span } from '../../core/index.ts'
import { type Claim, NO_TURN, type Where } from '../claim.ts'
import { checkStageSize, MAX_DELAY_SECONDS, MAX_STAGES, refuseDomain } from '../domain-bounds.ts'
import { defineKind } from '../domain-kind.ts'
import { address, bool, string, uint256 } from '../eip712/atoms.ts'
import { list, optional, struct, valueOr } from '../eip712/struct.ts'
import { signedBy } from '../signature/signed-by.ts'
import { stagedRule } from '../staged-rule.ts'

export const SequentialDelayStage = struct('SequentialDelayStage', {
  delay: uint256,
  resetTimer: optional(bool),
  batchSize: optional(uint256),
  repetitions: optional(uint256),
})

export const SequentialDelayDomain = struct('SequentialDelayDomain', {
  name: string,
  version: string,
  stages: list(SequentialDelayStage, MAX_STAGES),
  address: optional(address),
  salt: optional(string),
})

export const SequentialDelayDomainOptions = struct('SequentialDelayDomainOptions', {
  nonce: optional(uint256),
  signature: optional(string),
})

type Domain = typeof SequentialDelayDomain.zero
type Options = typeof SequentialDelayDomainOptions.zero

export const sequentialDelay = defineKind({
  name: 'ODIS Sequential Delay Domain',
  version: '1',
  endpoints: ['sign', 'quotaStatus', 'disable'],
  domain: SequentialDelayDomain,
  options: SequentialDelayDomainOptions,
  tagged: true,
  unsigned: (options) => ({ ...options, signature: { defined: false, value: '' } }),
  claim,
})

function claim(domain: Domain, { nonce, signature }: Options): Claim {
  const rule = stagedRule(domain.stages.map(toStage))
  const owner = domain.address
  const value = nonce.defined ? nonce.value : undefined
  return {
    authenticate: async (hash, where) =>
      owner.defined
        ? signedBy(hash, valueOr(signature, ''), { addresses: [owner.value] })
        : withoutOwner(where),
    turn:
      owner.defined || nonce.defined
        ? { kind: 'counted', nonce: value, required: owner.defined }
        : NO_TURN,
    rule: async () => rule,
  }
}

/** The document lets a domain go without an address; the deployed service does not. */
function withoutOwner({ endpoint, conduct }: Where): string | undefined {
  if (conduct === 'celo') return 'a domain without an address'
  return endpoint === 'disable'
    ? 'a domain without an address, which nobody may disable'
    : undefined
}

function toStage(stage: Domain['stages'][number], index: number): Stage {
  const batch = valueOr(stage.batchSize, 1)
  const repetitions = valueOr(stage.repetitions, 1)
  checkStageSize(index, batch, repetitions)
  if (stage.delay > MAX_DELAY_SECONDS) {
    refuseDomain(`stage ${index + 1}, delay`, 'must be below 2^40 seconds', stage.delay)
  }
  const resetTimer = valueOr(stage.resetTimer, true)
  return { delay: delaySpan(stage.delay), resetTimer, batch, repetitions }
}

/** Beyond 285 years microseconds are no longer exact, and no attempt comes due any more. */
const LONGEST_SECONDS = Math.floor(Number.MAX_SAFE_INTEGER / 1_000_000)

function delaySpan(delay: number): Span {
  return delay > LONGEST_SECONDS ? span(Number.MAX_SAFE_INTEGER) : seconds(delay)
}
