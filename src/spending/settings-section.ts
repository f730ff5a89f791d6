/** The section `spending` of `headgate.yml`. */
import { HeadgateError } from '../core/errors.ts'
import { days, instant, minutes } from '../core/time.ts'
import {
  type Field,
  readBoolean,
  readDuration,
  readEntries,
  readFields,
  readOneOf,
  readText,
  readWholeNumber,
  refuseField,
} from '../documents/index.ts'
import { checkUnit, parseAllowance, parseAmount, type Unit } from './amount.ts'
import { toOperationName } from './ask.ts'
import { keysOf } from './keys.ts'
import { localDay } from './midnight.ts'
import type { Allowance, Tier } from './plan.ts'
import { TIERS } from './plan-entry.ts'
import { readPlans } from './plan-file.ts'
import type { BalanceSource, PlansSource, SettingsDraft } from './settings-draft.ts'

/** The mistakes of spending have their own codes; here they get a position. */
export const readSpendingSection = (field: Field): SettingsDraft => {
  const fields = readFields(field, { required: [], optional: SPENDING_KEYS })
  return {
    payer: fields.payer && readPayer(fields.payer),
    unit: fields.unit && readUnit(fields.unit),
    ...(fields.window && readWindow(fields.window)),
    total: fields.total && readAllowance(fields.total),
    tiers: fields.tiers && readTiers(fields.tiers),
    ipCeiling: fields.ipCeiling && readAllowance(fields.ipCeiling),
    linkIp: fields.linkIp && readBoolean(fields.linkIp),
    categories: fields.categories && readAllowances(fields.categories),
    planCategories: fields.planCategories && readAllowances(fields.planCategories),
    holdFor: fields.holdFor && readDuration(fields.holdFor),
    rememberFor: fields.rememberFor && readDuration(fields.rememberFor),
    ...(fields.operator && readOperator(fields.operator)),
    rollover: fields.rollover && readRollover(fields.rollover),
    compactAfter: fields.compactAfter && readDuration(fields.compactAfter),
    plans: readPlansSource(fields.plansFile, fields.plans),
    queueFile: fields.queueFile && readText(fields.queueFile),
    allowMemory: fields.allowMemory && readBoolean(fields.allowMemory),
  }
}

export const SPENDING_KEYS = [
  'payer',
  'unit',
  'window',
  'total',
  'tiers',
  'ipCeiling',
  'linkIp',
  'categories',
  'planCategories',
  'holdFor',
  'rememberFor',
  'operator',
  'rollover',
  'compactAfter',
  'plansFile',
  'plans',
  'queueFile',
  'allowMemory',
] as const

function readPayer(field: Field): string {
  const payer = readText(field)
  placed(field, () => keysOf(payer))
  return payer
}

function readUnit(field: Field): Unit {
  const { name, decimals } = readFields(field, { required: ['name', 'decimals'], optional: [] })
  const unit = { name: readText(name), decimals: readWholeNumber(decimals, { min: 0 }) }
  return placed(field, () => checkUnit(unit))
}

/** A length alone counts from the epoch. */
function readWindow(field: Field): Pick<SettingsDraft, 'length' | 'align'> {
  if (field.node.kind === 'scalar') return { length: readDuration(field) }
  const { length, align, timeZone } = readFields(field, {
    required: ['length'],
    optional: ['align', 'timeZone'],
  })
  const word = align === undefined ? 'epoch' : readOneOf(align, ['epoch', 'start', 'midnight'])
  if (word !== 'midnight') {
    if (timeZone !== undefined) refuseField(timeZone, 'FIELD_VALUE', 'needs align: midnight')
    return { length: readDuration(length), align: word }
  }
  const span = readDuration(length)
  if (span % days(1) !== 0) {
    refuseField(length, 'FIELD_VALUE', 'must be whole days where windows start at midnight')
  }
  const zone = timeZone === undefined ? 'UTC' : readText(timeZone)
  placed(timeZone ?? field, () => localDay(zone, instant(0)))
  return { length: span, align: { midnight: zone } }
}

function readTiers(field: Field): Partial<Record<Tier, Allowance>> {
  const tiers = readFields(field, { required: [], optional: TIERS })
  return {
    ...(tiers.BASIC && { BASIC: readAllowance(tiers.BASIC) }),
    ...(tiers.EXTENDED && { EXTENDED: readAllowance(tiers.EXTENDED) }),
    ...(tiers.PRIVILEGED && { PRIVILEGED: readAllowance(tiers.PRIVILEGED) }),
  }
}

function readOperator(field: Field): Pick<SettingsDraft, 'operator' | 'balance'> {
  const { minBalance, maxAge, stale, balance } = readFields(field, {
    required: [],
    optional: ['minBalance', 'maxAge', 'stale', 'balance'],
  })
  return {
    operator: {
      ...(minBalance && { minBalance: readAmount(minBalance) }),
      ...(maxAge && { maxAge: readDuration(maxAge) }),
      ...(stale && { stale: readOneOf(stale, ['ignore', 'deny']) }),
    },
    balance: balance && readBalanceSource(balance),
  }
}

function readBalanceSource(field: Field): BalanceSource {
  const { mirrorNode, account, every } = readFields(field, {
    required: ['mirrorNode', 'account'],
    optional: ['every'],
  })
  const url = readText(mirrorNode)
  if (!/^https?:/.test(url) || !URL.canParse(url)) {
    refuseField(mirrorNode, 'FIELD_VALUE', 'must be an http or https address')
  }
  const id = readText(account)
  if (!/^\d+\.\d+\.\d+$/.test(id)) {
    refuseField(account, 'FIELD_VALUE', 'must be an account id, such as 0.0.1234')
  }
  return { mirrorNode: url, account: id, every: every ? readDuration(every) : minutes(1) }
}

function readRollover(field: Field): { readonly sharePerMille: number } {
  const { sharePerMille } = readFields(field, { required: ['sharePerMille'], optional: [] })
  return { sharePerMille: readWholeNumber(sharePerMille, { min: 0, max: 1_000 }) }
}

function readPlansSource(file?: Field, inline?: Field): PlansSource | undefined {
  if (file !== undefined && inline !== undefined) {
    refuseField(file, 'FIELD_VALUE', 'must not stand beside plans')
  }
  if (file !== undefined) return { kind: 'file', path: readText(file), named: true }
  return inline && { kind: 'entries', entries: readPlans(inline) }
}

function readAllowances(field: Field): ReadonlyMap<string, Allowance> {
  return new Map(
    readEntries(field).map((entry) => {
      placed(entry, () => toOperationName(entry.name))
      return [entry.name, readAllowance(entry)]
    }),
  )
}

/** From source text, so that a number of any size is exact. */
const readAllowance = (field: Field): Allowance =>
  placed(field, () => parseAllowance(readText(field), field.thing))

const readAmount = (field: Field): bigint =>
  placed(field, () => parseAmount(readText(field), field.thing))

function placed<T>(field: Field, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof HeadgateError) || error.at !== undefined) throw error
    const { code, thing, rule, finding } = error
    throw new HeadgateError({ code, thing, rule, finding, at: field.node.at }, { cause: error })
  }
}
