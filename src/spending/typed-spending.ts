/** Spending from plain values: no document, no environment, checked by the readers of headgate.yml. */
import { formatDuration } from '../core/duration.ts'
import { HeadgateError } from '../core/errors.ts'
import type { Store } from '../core/store.ts'
import { type Span, span } from '../core/time.ts'
import { treeOf } from '../documents/from-value.ts'
import { fromDocument } from '../documents/settings/table.ts'
import type { Unit } from './amount.ts'
import type { Tier } from './plans/plan.ts'
import type { PlanEntry } from './plans/plan-entry.ts'
import { buildPlanCatalog } from './plans/resolve.ts'
import { completeSettings, type GivenSpending, type SettingErrorCode } from './settings/settings.ts'
import { SPENDING_SETTINGS } from './settings/table.ts'
import { createSpending, type Spending, type SpendingOptions } from './spending.ts'

/** Of the smallest unit. A number must be exact, and so at most 2^53. */
export type AmountOption = bigint | number
export type AllowanceOption = AmountOption | 'unlimited'

/** As text with its unit (`3m`, `1h30m`), or as a length. */
type LengthOption = string | Span

export interface PlanOption {
  readonly id: string
  /** Whom it pays for: addresses, IP addresses and ranges. */
  readonly members: readonly string[]
  /** `EXTENDED` unless told. */
  readonly tier?: Tier
  /** What it may spend in a window; the limit of its tier unless told. */
  readonly limit?: AllowanceOption
  readonly name?: string
  readonly active?: boolean
  readonly categories?: Readonly<Record<string, AllowanceOption>>
}

/** What each means and its default is in docs/reference/config.md, under `spending`. */
export interface TypedSpendingOptions
  extends Pick<SpendingOptions, 'observe' | 'machine' | 'timeSources'> {
  readonly store: Store
  /** What is spent in a window, for all together. 0 turns spending off. */
  readonly total: AllowanceOption
  /** What one plan of a tier may spend in a window. A tier that is not named may spend nothing. */
  readonly tiers?: { readonly [Name in Tier]?: AllowanceOption }
  readonly plans?: readonly PlanOption[]
  readonly payer?: string
  readonly unit?: Unit
  readonly window?:
    | LengthOption
    | {
        readonly length: LengthOption
        readonly align?: 'epoch' | 'start' | 'midnight'
        readonly timeZone?: string
      }
  readonly ipCeiling?: AllowanceOption
  readonly linkIp?: boolean
  readonly categories?: Readonly<Record<string, AllowanceOption>>
  readonly planCategories?: Readonly<Record<string, AllowanceOption>>
  readonly holdFor?: LengthOption
  readonly rememberFor?: LengthOption
  readonly operator?: {
    readonly minBalance?: AmountOption
    readonly maxAge?: LengthOption
    readonly stale?: 'ignore' | 'deny'
  }
  readonly rollover?: { readonly sharePerMille: number }
  readonly compactAfter?: LengthOption
}

/**
 * Throws at the first mistake.
 *
 * @example
 * import { memory } from 'headgate'
 * import { spending } from 'headgate/spending'
 *
 * const money = spending({ store: memory(), total: 1_000n, tiers: { BASIC: 300n } })
 * const ask = { from: '0xB1', estimate: 300n, operationId: 'tx-1' }
 * const paid = await money.sponsor(ask, async () => 280n)
 * console.log(paid.allowed ? `cost ${paid.fee}` : `refused: ${paid.reason}`)
 */
export const spending = (options: TypedSpendingOptions): Spending => {
  const { store, observe, machine, timeSources, plans, ...section } = options
  const tree = treeOf(
    { ...withTextLengths(section), ...(plans && { plans: plans.map(withTier) }) },
    'spending',
  )
  const given: GivenSpending = fromDocument(TYPED_SETTINGS, { thing: 'spending', node: tree })
  const tiers = { ...NO_TIERS, ...given.tiers }
  const { settings } = completeSettings({ ...given, tiers })
  const entries = given.plans?.kind === 'entries' ? given.plans.entries : []
  for (const entry of entries) refuseWithoutLimit(entry, given)
  const catalog = buildPlanCatalog(entries)
  return createSpending({
    store,
    settings: () => settings,
    plans: () => catalog,
    machine,
    timeSources,
    ...(observe && { observe }),
  })
}

/** Without what only a server has: files of its own, and a balance that it polls. */
const {
  plansFile: _,
  queueFile: __,
  allowMemory: ___,
  timeSources: ____,
  ...FOR_PROGRAMS
} = SPENDING_SETTINGS
const { balance: _____, ...OPERATOR } = SPENDING_SETTINGS.operator.section
const TYPED_SETTINGS = { ...FOR_PROGRAMS, operator: { section: OPERATOR } } as const

const NO_TIERS = { BASIC: 0n, EXTENDED: 0n, PRIVILEGED: 0n } as const

/** BASIC is for users without a plan. */
function withTier(plan: PlanOption): object {
  const named = ['tier', 'subscriptionType', 'subscriptionTier'].some((name) => name in plan)
  return named ? plan : { ...plan, tier: 'EXTENDED' }
}

/** In a file such a plan waits for its tier's limit; in a program it is a slip. */
function refuseWithoutLimit({ plan }: PlanEntry, { total, tiers }: GivenSpending): void {
  if (plan.limit !== undefined || tiers?.[plan.tier] !== undefined || total === 0n) return
  throw new HeadgateError<SettingErrorCode>({
    code: 'SETTING_MISSING',
    thing: `limit of the plan ${plan.id}`,
    rule: `must be set where the tier ${plan.tier} has none`,
    finding: 'none',
  })
}

const LENGTHS = ['window', 'length', 'holdFor', 'rememberFor', 'maxAge', 'compactAfter']

/** Readers of documents take lengths of time as text only: `90` alone says no unit. */
function withTextLengths(fields: object): object {
  const entries = Object.entries(fields).map(([name, value]): [string, unknown] => {
    if (typeof value === 'number' && LENGTHS.includes(name)) {
      return [name, formatDuration(span(value))]
    }
    const isMap = name === 'window' || name === 'operator'
    return [name, isMap && typeof value === 'object' && value ? withTextLengths(value) : value]
  })
  return Object.fromEntries(entries)
}
