/** Spending by environment variables, with the names that relays use: `HBAR_RATE_LIMIT_*` and others. */
import { HeadgateError } from '../core/errors.ts'
import { millis, type Span } from '../core/time.ts'
import { parseAllowance } from './amount.ts'
import type { Allowance, Tier } from './plan.ts'
import { TIERS } from './plan-entry.ts'
import type { PlansSource, SettingErrorCode, SettingsDraft } from './settings-draft.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** A century: longer windows are a slip of the unit, which is milliseconds. */
const MAX_DURATION_MS = 100 * 366 * 86_400_000

/** An empty variable counts as unset, as in a shell. */
export const readSpendingEnvironment = (env: Environment): SettingsDraft => {
  const total = readAllowance(env, 'HBAR_RATE_LIMIT_TINYBAR')
  const length = readDuration(env, 'HBAR_RATE_LIMIT_DURATION')
  const plans = readPlansSource(env)
  return {
    ...(total !== undefined && { total }),
    ...(length !== undefined && { length }),
    ...(plans !== undefined && { plans }),
    tiers: readTiers(env),
  }
}

function readTiers(env: Environment): Partial<Record<Tier, Allowance>> {
  const tiers: Partial<Record<Tier, Allowance>> = {}
  for (const tier of TIERS) {
    const limit = readAllowance(env, `HBAR_RATE_LIMIT_${tier}`)
    if (limit !== undefined) tiers[tier] = limit
  }
  return tiers
}

function readAllowance(env: Environment, name: string): Allowance | undefined {
  const text = find(env, name)
  if (text === undefined) return undefined
  try {
    return parseAllowance(text, name)
  } catch (error) {
    if (!(error instanceof HeadgateError)) throw error
    return refuse(name, `${error.rule}, or unlimited`, text)
  }
}

function readDuration(env: Environment, name: string): Span | undefined {
  const text = find(env, name)
  if (text === undefined) return undefined
  const length = /^\d{1,16}$/.test(text) ? Number(text) : 0
  if (length >= 1 && length <= MAX_DURATION_MS) return millis(length)
  return refuse(name, `must be whole milliseconds from 1 to ${MAX_DURATION_MS}`, text)
}

/** The seed's variable names a file; the deployed one holds a file's name or the JSON itself. */
function readPlansSource(env: Environment): PlansSource | undefined {
  const path = find(env, SEED_NAME)
  const either = find(env, DEPLOYED_NAME)
  if (path !== undefined && either !== undefined && path !== either) {
    const rule = `must be the same as ${DEPLOYED_NAME}, or only one of them set`
    throw new HeadgateError<SettingErrorCode>({
      code: 'SETTING_CONFLICT',
      thing: SEED_NAME,
      rule,
      finding: 'both',
    })
  }
  if (path !== undefined) return { kind: 'file', path, named: true }
  if (either === undefined) return undefined
  // Text that starts like JSON is JSON, malformed or not: taken for a name, it would load nothing.
  return /^[[{]/.test(either)
    ? { kind: 'text', text: either, name: DEPLOYED_NAME }
    : { kind: 'file', path: either, named: true }
}

const SEED_NAME = 'HBAR_SPENDING_PLANS_CONFIG_FILE'
const DEPLOYED_NAME = 'HBAR_SPENDING_PLANS_CONFIG'

function find(env: Environment, name: string): string | undefined {
  const text = env[name]?.trim()
  return text === '' ? undefined : text
}

const refuse = (thing: string, rule: string, text: string): never => {
  const finding = JSON.stringify(text.slice(0, 80))
  throw new HeadgateError<SettingErrorCode>({ code: 'SETTING_INVALID', thing, rule, finding })
}
