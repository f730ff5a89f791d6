/** The settings of spending from all their sources: read, completed and checked. */
import { HeadgateError } from '../../core/errors.ts'
import { type Field, refuseField } from '../../documents/field.ts'
import type { Environment } from '../../documents/settings/reader.ts'
import { afterReload } from '../../documents/settings/restart.ts'
import {
  complete,
  fromDocument,
  fromTexts,
  type Given,
  type SettingsOf,
} from '../../documents/settings/table.ts'
import { formatAllowance } from '../amount.ts'
import { checkCompaction } from '../ledger/compaction.ts'
import type { Allowance, SpendingSettings, Tier } from '../plans/plan.ts'
import { TIERS } from '../plans/plan.ts'
import type { BalanceSource, PlansSource } from './readers.ts'
import { DEFAULT_PLANS_FILE, fieldOf, SPENDING_SETTINGS } from './table.ts'

/** Settings of spending as far as one source gives them. */
export type GivenSpending = Given<typeof SPENDING_SETTINGS>

/** By key, as the table has them. Plans are apart: they are large. */
type SpendingValues = Omit<SettingsOf<typeof SPENDING_SETTINGS>, 'plans' | 'plansFile'>

export type SettingErrorCode = 'SETTING_INVALID' | 'SETTING_MISSING' | 'SETTING_CONFLICT'

export interface CompleteSettings {
  readonly settings: SpendingSettings
  readonly plans: PlansSource
  readonly balance: BalanceSource | undefined
  /** Where fees wait on local disk; without one they are booked while the caller waits. */
  readonly queueFile: string | undefined
  /** URLs that confirm the clock after a reboot. */
  readonly timeSources: readonly string[]
  /** For tests: money on a store that forgets. */
  readonly allowMemory: boolean
  /** For the log; they stop nothing. */
  readonly warnings: readonly string[]
  readonly values: SpendingValues
}

/** With a `folder`, relative file names start there. */
export const readSpendingSection = (field: Field, folder?: string): GivenSpending => {
  const given = fromDocument(SPENDING_SETTINGS, field, folder === undefined ? {} : { folder })
  if (given.plans !== undefined && given.plansFile !== undefined) {
    refuseField(fieldOf(field, 'plansFile'), 'FIELD_VALUE', 'must not stand beside plans')
  }
  return given
}

/** An empty variable counts as unset, as in a shell. */
export const readSpendingEnvironment = (
  environment: Environment,
  folder?: string,
): GivenSpending => {
  const trimmed = Object.entries(environment).map(([name, text]) => [name, text?.trim()] as const)
  const set = Object.fromEntries(trimmed.filter(([, text]) => text !== ''))
  const { plansFile, plans } = SPENDING_SETTINGS
  const [file, either] = [set[plansFile.variable], set[plans.variable]]
  if (file !== undefined && either !== undefined && file !== either) {
    throw new HeadgateError<SettingErrorCode>({
      code: 'SETTING_CONFLICT',
      thing: plansFile.variable,
      rule: `must be the same as ${plans.variable}, or only one of them set`,
      finding: 'both',
    })
  }
  const code: SettingErrorCode = 'SETTING_INVALID'
  return fromTexts(
    SPENDING_SETTINGS,
    { environment: set },
    { code, ...(folder !== undefined && { folder }) },
  )
}

/** Later sources win: first the file, then the environment. Throws if a tier is missing while spending is on. */
export const completeSettings = (...sources: readonly GivenSpending[]): CompleteSettings => {
  const { plans: _, plansFile: __, ...values } = complete(SPENDING_SETTINGS, ...sources)
  const settings = settingsOf(values)
  checkCompaction(settings)
  return {
    settings,
    plans: plansOf(sources),
    balance: values.operator.balance,
    queueFile: values.queueFile,
    timeSources: values.timeSources,
    allowMemory: values.allowMemory,
    warnings: warningsOf(settings),
    values,
  }
}

/** The settings in force after a reload: of those that need a restart, the running ones. */
export const settingsAfterReload = (
  running: Pick<CompleteSettings, 'values'>,
  next: Pick<CompleteSettings, 'values'>,
): SpendingSettings => settingsOf(afterReload(SPENDING_SETTINGS, running.values, next.values))

function settingsOf(values: SpendingValues): SpendingSettings {
  const { window, total: given, tiers, operator, ...rest } = values
  const { queueFile: _, timeSources: __, allowMemory: ___, ...others } = rest
  const { balance: ____, ...balanceRules } = operator
  const { length, align, timeZone = 'UTC' } = window
  const total = requireTotal(given, tiers)
  return {
    ...others,
    window: { length, align: align === 'midnight' ? { midnight: timeZone } : align },
    total,
    tiers: completeTiers(tiers, total),
    operator: balanceRules,
  }
}

/** Of the last source that names plans: those of two sources are never mixed. */
function plansOf(sources: readonly GivenSpending[]): PlansSource {
  const { plans, plansFile: path } =
    sources.findLast((source) => source.plans !== undefined || source.plansFile !== undefined) ?? {}
  if (plans !== undefined && path === undefined) return plans
  return { kind: 'file', path: path ?? DEFAULT_PLANS_FILE, named: path !== undefined }
}

/** Limits without a total are a slip, and off would let everything pass. Only a written 0 turns spending off. */
function requireTotal(total: Allowance | undefined, tiers: SpendingValues['tiers']): Allowance {
  if (total !== undefined) return total
  const tier = TIERS.find((name) => tiers[name] !== undefined)
  if (tier === undefined) return 0n
  throw new HeadgateError<SettingErrorCode>({
    code: 'SETTING_MISSING',
    thing: 'total',
    rule: 'must be set where a tier has a limit, by HBAR_RATE_LIMIT_TINYBAR or spending.total; 0 turns spending off',
    finding: `a limit of ${tier} and no total`,
  })
}

/** While spending is off, tiers decide nothing, so none is required. */
function completeTiers(
  { BASIC, EXTENDED, PRIVILEGED }: SpendingValues['tiers'],
  total: Allowance,
): SpendingSettings['tiers'] {
  const needed = (tier: Tier, limit: Allowance | undefined): Allowance => {
    if (limit !== undefined || total === 0n) return limit ?? 0n
    throw new HeadgateError<SettingErrorCode>({
      code: 'SETTING_MISSING',
      thing: `limit of the tier ${tier}`,
      rule: `must be set while there is a total, by HBAR_RATE_LIMIT_${tier} or spending.tiers`,
      finding: 'none',
    })
  }
  return {
    BASIC: needed('BASIC', BASIC),
    EXTENDED: needed('EXTENDED', EXTENDED),
    PRIVILEGED: needed('PRIVILEGED', PRIVILEGED),
  }
}

/** A total of 0, a tier below the one under it, or one above the total: allowed, and seldom meant. */
function warningsOf({ tiers, total, unit }: SpendingSettings): readonly string[] {
  if (total === 0n) {
    return ['spending is off, as its total is 0: everything is allowed, nothing is counted']
  }
  const steps = [...TIERS.map((tier): Step => [tier, tiers[tier]]), ['the total', total] as const]
  return steps.slice(1).flatMap(([name, limit], i) => {
    const [lower, below] = steps[i] ?? ['', 0n]
    if (!isMore(below, limit)) return []
    // A tier without a limit of its own is still held by the total: that is intended.
    if (below === 'unlimited' && name === 'the total') return []
    const [high, low] = [formatAllowance(below, unit), formatAllowance(limit, unit)]
    return [`${lower} may spend ${high}, which is more than ${name} with ${low}`]
  })
}

type Step = readonly [name: string, limit: Allowance]

const isMore = (a: Allowance, b: Allowance): boolean =>
  b !== 'unlimited' && (a === 'unlimited' || a > b)
