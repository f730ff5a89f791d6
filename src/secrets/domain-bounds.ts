/** What keeps a domain small enough to judge at every request. */
import { refuseSecret } from './secrets-mistake.ts'

/** More stages than anyone lays out by hand; each is walked at every attempt. */
export const MAX_STAGES = 64

/** Delays end below 2^40 seconds, 35 thousand years: beyond lies no plan, but an overflow. */
export const MAX_DELAY_SECONDS = 2 ** 40 - 1

/** Attempts in one stage. A stage of more is no limit. */
export const MAX_STAGE_ATTEMPTS = 1_000_000_000

export const refuseDomain = (thing: string, rule: string, finding: string | number): never =>
  refuseSecret({ code: 'DOMAIN_INVALID', thing, rule, finding: String(finding) })

export const checkStageSize = (stage: number, batch: number, repetitions: number): void => {
  const attempts = batch * repetitions
  if (attempts >= 1 && attempts <= MAX_STAGE_ATTEMPTS) return
  const rule = `must hold 1 to ${MAX_STAGE_ATTEMPTS} attempts in all its batches`
  refuseDomain(`stage ${stage + 1}`, rule, attempts)
}
