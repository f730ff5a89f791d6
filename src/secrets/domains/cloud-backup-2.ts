/**
 * ODIS Cloud Backup Domain, version 2: delays as expressions, a last stage without end ("ODIS
 * RateLimit Structures", "Potential Future Extensions"), and a nonce as the attempt's index.
 */

import { span } from '../../core/index.ts'
import { parseDelayExpression } from '../delay-expression.ts'
import { checkStageSize, MAX_STAGES, refuseDomain } from '../domain-bounds.ts'
import { defineKind } from '../domain-kind.ts'
import { bool, string, uint256 } from '../eip712/atoms.ts'
import { list, optional, struct, valueOr } from '../eip712/struct.ts'
import { type LadderStage, ladderRule } from '../ladder-rule.ts'
import { compressedKey } from '../signature/compressed-key.ts'
import { signedBy } from '../signature/signed-by.ts'

export const ExpressionStage = struct('Stage', {
  delay: string,
  cumulative: bool,
  batch: optional(uint256),
  repetitions: optional(uint256),
  endless: bool,
})

export const ExpressionRateLimit = struct('RateLimit', {
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
      authenticate: async (hash) => signedBy(hash, signature, { publicKey }),
      turn: { kind: 'index', nonce: nonce.defined ? nonce.value : undefined, required: true },
      rule: async () => rule,
    }
  },
})

type WireStage = typeof ExpressionStage.zero

function ladderOf(stages: readonly WireStage[]): readonly LadderStage[] {
  const ladder = stages.map((stage, index) => toStage(stage, index, index === stages.length - 1))
  const first = ladder[0]?.delay(1, span(0))
  if (ladder.length > 0 && first !== 0) {
    refuseDomain('stage 1, delay', 'must be 0, as nothing precedes the first attempt', `${first}`)
  }
  return ladder
}

function toStage(stage: WireStage, index: number, last: boolean): LadderStage {
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
