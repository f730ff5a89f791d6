/** ODIS Cloud Backup Domain, version 1 ("ODIS RateLimit Structures", "Usage in Cloud Backup Domain"). */
import { type CumulativeStage, layOut } from '../../core/index.ts'
import { NO_TURN } from '../claim.ts'
import { parseDelay } from '../delay-text.ts'
import { checkStageSize, MAX_STAGES, refuseDomain } from '../domain-bounds.ts'
import { defineKind } from '../domain-kind.ts'
import { bool, string, uint256 } from '../eip712/atoms.ts'
import { list, optional, struct, valueOr } from '../eip712/struct.ts'
import { compressedKey } from '../signature/compressed-key.ts'
import { signedBy } from '../signature/signed-by.ts'
import { stagedRule } from '../staged-rule.ts'

export const Stage = struct('Stage', {
  delay: string,
  cumulative: bool,
  batch: optional(uint256),
  repetitions: optional(uint256),
})

export const RateLimit = struct('RateLimit', { stages: list(Stage, MAX_STAGES) })

export const CloudBackupDomain = struct('CloudBackupDomain', {
  name: string,
  version: string,
  rateLimit: RateLimit,
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
    const rule = stagedRule(layOut(domain.rateLimit.stages.map(toStage)))
    return {
      authenticate: async (hash) => signedBy(hash, signature, { publicKey }),
      turn: NO_TURN,
      rule: async () => rule,
    }
  },
})

function toStage(stage: typeof Stage.zero, index: number): CumulativeStage {
  const batch = valueOr(stage.batch, 1)
  const repetitions = valueOr(stage.repetitions, 1)
  checkStageSize(index, batch, repetitions)
  const delay = parseDelay(stage.delay)
  if (delay === undefined) {
    const rule = 'must be a whole number and its unit (1 day), or a duration (1h30m)'
    return refuseDomain(`stage ${index + 1}, delay`, rule, JSON.stringify(stage.delay.slice(0, 40)))
  }
  return { delay, cumulative: stage.cumulative, batch, repetitions }
}
