/**
 * ODIS Cloud Backup Domain ("ODIS RateLimit Structures"). Version 1: stages of plain delays ("Usage in
 * Cloud Backup Domain"). Version 2: delays as expressions, a last stage without end ("Potential Future
 * Extensions"), and a nonce as the attempt's index.
 */
import { quote } from '../../core/errors.ts'
import { type CumulativeStage, layOut } from '../../core/staged.ts'
import { span } from '../../core/time.ts'
import { compressedKey, signedBy } from '../eip712/ethereum.ts'
import { bool, list, optional, string, struct, uint256, valueOr } from '../eip712/typed-data.ts'
import { refuseDomain } from '../mistake.ts'
import { parseDelay, parseDelayExpression } from '../rules/delay-expression.ts'
import {
  checkStageSize,
  type LadderStage,
  ladderRule,
  MAX_STAGES,
  stagedRule,
} from '../rules/rule.ts'
import { defineKind, NO_NONCE } from './domain-kind.ts'

const CloudBackupStage = struct('Stage', {
  delay: string,
  cumulative: bool,
  batch: optional(uint256),
  repetitions: optional(uint256),
})

const CloudBackupRateLimit = struct('RateLimit', {
  stages: list(CloudBackupStage, MAX_STAGES),
})

export const CloudBackupDomain = struct('CloudBackupDomain', {
  name: string,
  version: string,
  rateLimit: CloudBackupRateLimit,
  publicKey: string,
})

export const CloudBackupDomainOptions = struct('CloudBackupDomainOptions', { signature: string })

export const cloudBackup = defineKind({
  name: 'ODIS Cloud Backup Domain',
  version: '1',
  endpoints: ['sign', 'quotaStatus', 'disable'],
  domain: CloudBackupDomain,
  options: CloudBackupDomainOptions,
  tagged: false,
  unsigned: (options) => ({ ...options, signature: '' }),
  claim: (domain, { signature }) => {
    const publicKey = compressedKey(domain.publicKey)
    const rule = stagedRule(layOut(domain.rateLimit.stages.map(toCumulativeStage)))
    return {
      authenticate: async (hash, _, recover) => signedBy(hash, signature, { publicKey }, recover),
      nonce: NO_NONCE,
      rule: async () => rule,
    }
  },
})

function toCumulativeStage(stage: typeof CloudBackupStage.zero, index: number): CumulativeStage {
  const batch = valueOr(stage.batch, 1)
  const repetitions = valueOr(stage.repetitions, 1)
  checkStageSize(index, batch, repetitions)
  const delay = parseDelay(stage.delay)
  if (delay === undefined) {
    const rule = 'must be a whole number and its unit (1 day), or a duration (1h30m)'
    return refuseDomain(`stage ${index + 1}, delay`, rule, quote(stage.delay))
  }
  return { delay, cumulative: stage.cumulative, batch, repetitions }
}

const ExpressionStage = struct('Stage', {
  delay: string,
  cumulative: bool,
  batch: optional(uint256),
  repetitions: optional(uint256),
  endless: bool,
})

const ExpressionRateLimit = struct('RateLimit', {
  stages: list(ExpressionStage, MAX_STAGES),
})

export const CloudBackupDomain2 = struct('CloudBackupDomain', {
  name: string,
  version: string,
  rateLimit: ExpressionRateLimit,
  publicKey: string,
})

export const CloudBackupDomainOptions2 = struct('CloudBackupDomainOptions', {
  nonce: optional(uint256),
  signature: string,
})

export const cloudBackup2 = defineKind({
  name: 'ODIS Cloud Backup Domain',
  version: '2',
  endpoints: ['sign', 'quotaStatus', 'disable'],
  domain: CloudBackupDomain2,
  options: CloudBackupDomainOptions2,
  tagged: false,
  unsigned: (options) => ({ ...options, signature: '' }),
  claim: ({ publicKey: text, rateLimit }, { nonce, signature }) => {
    const publicKey = compressedKey(text)
    const rule = ladderRule(ladderOf(rateLimit.stages))
    return {
      authenticate: async (hash, _, recover) => signedBy(hash, signature, { publicKey }, recover),
      nonce: {
        kind: 'index',
        value: valueOr<number | undefined>(nonce, undefined),
        required: true,
      },
      rule: async () => rule,
    }
  },
})

type WireStage = typeof ExpressionStage.zero

function ladderOf(stages: readonly WireStage[]): readonly LadderStage[] {
  const ladder = stages.map((stage, index) =>
    toLadderStage(stage, index, index === stages.length - 1),
  )
  const first = ladder[0]?.delay(1, span(0))
  if (ladder.length > 0 && first !== 0) {
    refuseDomain('stage 1, delay', 'must be 0, as nothing precedes the first attempt', `${first}`)
  }
  return ladder
}

function toLadderStage(stage: WireStage, index: number, last: boolean): LadderStage {
  const batch = valueOr(stage.batch, 1)
  if (stage.endless && (!last || stage.repetitions.defined)) {
    refuseDomain(
      `stage ${index + 1}, endless`,
      'fits the last stage only, without repetitions',
      'true',
    )
  }
  checkStageSize(index, batch, stage.endless ? 1 : valueOr(stage.repetitions, 1))
  const repetitions = stage.endless ? Number.POSITIVE_INFINITY : valueOr(stage.repetitions, 1)
  const { cumulative } = stage
  return { delay: parseDelayExpression(stage.delay), cumulative, batch, repetitions }
}
