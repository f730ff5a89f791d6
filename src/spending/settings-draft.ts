/** Settings as far as one source states them, and how several sources make one whole. */
import { HeadgateError } from '../core/errors.ts'
import { days, minutes, type Span } from '../core/time.ts'
import { formatAllowance, HBAR, type Unit } from './amount.ts'
import { checkCompaction } from './compaction-policy.ts'
import type { Allowance, SpendingSettings, Tier } from './plan.ts'
import type { PlanEntry } from './plan-entry.ts'
import { TIERS } from './plan-entry.ts'

export type SettingErrorCode = 'SETTING_INVALID' | 'SETTING_MISSING' | 'SETTING_CONFLICT'

/** Where configured plans come from. Only a file that nobody named may be missing. */
export type PlansSource =
  | { readonly kind: 'file'; readonly path: string; readonly named: boolean }
  | { readonly kind: 'text'; readonly text: string; readonly name: string }
  | { readonly kind: 'entries'; readonly entries: readonly PlanEntry[] }

/** Who asks for the operator's balance, and how often. */
export interface BalanceSource {
  readonly mirrorNode: string
  readonly account: string
  readonly every: Span
}

/** A setting that is undefined is one that this source does not state. */
export interface SettingsDraft {
  readonly payer?: string | undefined
  readonly unit?: Unit | undefined
  readonly length?: Span | undefined
  readonly align?: SpendingSettings['window']['align'] | undefined
  readonly total?: Allowance | undefined
  readonly tiers?: Partial<Record<Tier, Allowance>> | undefined
  readonly ipCeiling?: Allowance | undefined
  readonly linkIp?: boolean | undefined
  readonly categories?: ReadonlyMap<string, Allowance> | undefined
  readonly planCategories?: ReadonlyMap<string, Allowance> | undefined
  readonly holdFor?: Span | undefined
  readonly rememberFor?: Span | undefined
  readonly operator?: Partial<SpendingSettings['operator']> | undefined
  readonly rollover?: NonNullable<SpendingSettings['rollover']> | undefined
  readonly compactAfter?: Span | undefined
  readonly balance?: BalanceSource | undefined
  readonly plans?: PlansSource | undefined
  readonly queueFile?: string | undefined
  readonly allowMemory?: boolean | undefined
}

export interface CompleteSettings {
  readonly settings: SpendingSettings
  readonly plans: PlansSource
  readonly balance: BalanceSource | undefined
  /** Where fees wait on local disk; without one they are booked while the caller waits. */
  readonly queueFile: string | undefined
  /** For tests: money on a store that forgets. */
  readonly allowMemory: boolean
  /** Sentences for the operator; nothing in them stops anything. */
  readonly warnings: readonly string[]
}

/** The seed's name for the file, read if it is there. */
export const DEFAULT_PLANS_FILE = 'spendingPlansConfig.json'

/** Later drafts win: first the file, then the environment. Throws if a tier is missing while spending is on. */
export const completeSettings = (...drafts: readonly SettingsDraft[]): CompleteSettings => {
  const draft = drafts.reduce<SettingsDraft>(overlay, {})
  const total = requireTotal(draft)
  const settings: SpendingSettings = {
    payer: draft.payer ?? 'operator',
    unit: draft.unit ?? HBAR,
    window: { length: draft.length ?? days(1), align: draft.align ?? 'epoch' },
    total,
    tiers: completeTiers(draft.tiers ?? {}, total),
    linkIp: draft.linkIp ?? false,
    categories: draft.categories ?? new Map(),
    holdFor: draft.holdFor ?? minutes(3),
    operator: {
      minBalance: draft.operator?.minBalance ?? 0n,
      maxAge: draft.operator?.maxAge ?? minutes(10),
      stale: draft.operator?.stale ?? 'ignore',
    },
    ...optionalOf(draft),
  }
  checkCompaction(settings)
  return {
    settings,
    plans: draft.plans ?? { kind: 'file', path: DEFAULT_PLANS_FILE, named: false },
    balance: draft.balance,
    queueFile: draft.queueFile,
    allowMemory: draft.allowMemory ?? false,
    warnings: warningsOf(settings),
  }
}

/** Limits without a total are a slip, and off would let everything pass. Off is a 0 that somebody wrote. */
function requireTotal({ total, tiers = {} }: SettingsDraft): Allowance {
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

const optionalOf = ({
  ipCeiling,
  planCategories,
  rememberFor,
  rollover,
  compactAfter,
}: SettingsDraft) => ({
  ...(ipCeiling !== undefined && { ipCeiling }),
  ...(planCategories !== undefined && { planCategories }),
  ...(rememberFor !== undefined && { rememberFor }),
  ...(rollover !== undefined && { rollover }),
  ...(compactAfter !== undefined && { compactAfter }),
})

const overlay = (under: SettingsDraft, over: SettingsDraft): SettingsDraft => ({
  ...under,
  ...stated(over),
  tiers: { ...under.tiers, ...stated(over.tiers ?? {}) },
  operator: { ...under.operator, ...stated(over.operator ?? {}) },
})

const stated = (draft: object): object =>
  Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== undefined))

/** While spending is off, tiers decide nothing, so none is asked for. */
function completeTiers(
  { BASIC, EXTENDED, PRIVILEGED }: Partial<Record<Tier, Allowance>>,
  total: Allowance,
): Readonly<Record<Tier, Allowance>> {
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

/** No total, a tier below the one under it, or one above the total, is allowed and seldom meant. */
function warningsOf({ tiers, total, unit }: SpendingSettings): readonly string[] {
  if (total === 0n)
    return ['spending is off, as its total is 0: everything is allowed, nothing is counted']
  const steps = [...TIERS.map((tier): Step => [tier, tiers[tier]]), ['the total', total] as const]
  return steps.slice(1).flatMap(([name, limit], i) => {
    const [lower, below] = steps[i] ?? ['', 0n]
    if (!isMore(below, limit)) return []
    const [high, low] = [formatAllowance(below, unit), formatAllowance(limit, unit)]
    // Somebody without a limit of their own is still held by the total: that is how it is meant.
    return below === 'unlimited' && name === 'the total'
      ? []
      : [`${lower} may spend ${high}, which is more than ${name} with ${low}`]
  })
}

type Step = readonly [name: string, limit: Allowance]

const isMore = (a: Allowance, b: Allowance): boolean =>
  b !== 'unlimited' && (a === 'unlimited' || a > b)
