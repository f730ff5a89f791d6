/** Whether anybody speaks of spending. Knows names only, so that whoever does not spend loads nothing. */
import type { Environment } from '../options.ts'

export const SPENDING_VARIABLES = [
  'HBAR_RATE_LIMIT_TINYBAR',
  'HBAR_RATE_LIMIT_DURATION',
  'HBAR_RATE_LIMIT_BASIC',
  'HBAR_RATE_LIMIT_EXTENDED',
  'HBAR_RATE_LIMIT_PRIVILEGED',
  'HBAR_SPENDING_PLANS_CONFIG_FILE',
  'HBAR_SPENDING_PLANS_CONFIG',
] as const

/** An empty variable counts as unset. */
export const speaksOfSpending = (environment: Environment): boolean =>
  SPENDING_VARIABLES.some((name) => (environment[name] ?? '').trim() !== '')
