/**
 * ODIS Sequential Delay Domain, version 1, as deployed: hashes, options and nonce byte by byte.
 *
 * The first delay counts from the epoch, so it can hold a "not before" date.
 */
import type { Stage } from '../../core/staged.ts'
import { type Span, seconds, span } from '../../core/time.ts'
import { signedBy } from '../eip712/ethereum.ts'
import {
  address,
  bool,
  list,
  optional,
  string,
  struct,
  uint256,
  valueOr,
} from '../eip712/typed-data.ts'
import { refuseDomain } from '../mistake.ts'
import { checkStageSize, MAX_DELAY_SECONDS, MAX_STAGES, stagedRule } from '../rules/rule.ts'
import { type Claim, type Conduct, defineKind, type Endpoint, NO_NONCE } from './domain-kind.ts'

const SequentialDelayStage = struct('SequentialDelayStage', {
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

function claim(domain: Domain, { nonce, signature }: Options, endpoint: Endpoint): Claim {
  const rule = stagedRule(domain.stages.map(toStage))
  const owner = domain.address
  return {
    authenticate: async (hash, conduct, recover) =>
      owner.defined
        ? signedBy(hash, valueOr(signature, ''), { addresses: [owner.value] }, recover)
        : withoutOwner(endpoint, conduct),
    nonce:
      owner.defined || nonce.defined
        ? {
            kind: 'counted',
            value: valueOr<number | undefined>(nonce, undefined),
            required: owner.defined,
          }
        : NO_NONCE,
    rule: async () => rule,
  }
}

/** The document lets a domain go without an address; the deployed service does not. */
function withoutOwner(endpoint: Endpoint, conduct: Conduct): string | undefined {
  if (conduct === 'celo') return 'a domain without an address'
  return endpoint === 'disable'
    ? 'a domain without an address, which cannot be disabled'
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

/** Beyond 285 years microseconds are no longer exact: such an attempt never comes due. */
const LONGEST_SECONDS = Math.floor(Number.MAX_SAFE_INTEGER / 1_000_000)

function delaySpan(delay: number): Span {
  return delay > LONGEST_SECONDS ? span(Number.MAX_SAFE_INTEGER) : seconds(delay)
}
