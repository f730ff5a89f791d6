/** A configured plan: one entry of `spendingPlansConfig.json`, with the members it pays for. */
import { HeadgateError, quote } from '../../core/errors.ts'
import type { Instant } from '../../core/time.ts'
import { type Field, type NamedField, readEntries, readList } from '../../documents/field.ts'
import { isNothing, type Node } from '../../documents/node.ts'
import { parseTimestamp, TIMESTAMP_RULE } from '../../lib/moments.ts'
import { canonicalRange } from '../../net/range-table.ts'
import { parseAllowance } from '../amount.ts'
import { canonicalEvmAddress, canonicalName, MEMBER_RULE, toOperationName } from '../flow/ask.ts'
import { IMPLICIT_PREFIX, isImplicitId } from '../keys.ts'
import { type Allowance, MAX_PLAN_ID_LENGTH, type Plan, TIERS, type Tier } from './plan.ts'
import { type PlanFieldName, type PlanFields, planText, readPlanFields } from './plan-fields.ts'

export interface PlanEntry {
  readonly plan: Plan
  /** Addresses and other names, canonical, each once. */
  readonly addresses: readonly string[]
  /** Canonical addresses and ranges, each once. */
  readonly ips: readonly string[]
}

/** A name is for people. */
const MAX_PLAN_NAME_LENGTH = 1_000

/** Throws a `PlanError` with the entry's index and the position of the first mistake. */
export const readPlanEntry = (field: Field, index: number): PlanEntry => {
  const fields = readPlanFields(field, index)
  const id = readId(fields)
  const tier = readTier(fields)
  const { addresses, ips } = readMembers(fields)
  const name = readName(fields)
  const limit = readLimit(fields)
  const createdAt = readCreatedAt(fields)
  const categories = readCategories(fields)
  const optional = {
    ...(name !== undefined && { name }),
    ...(limit !== undefined && { limit }),
    ...(createdAt !== undefined && { createdAt }),
    ...(categories !== undefined && { categories }),
  }
  const active = readActive(fields)
  return { plan: { id, tier, ...optional, active, source: 'file' }, addresses, ips }
}

function readId(fields: PlanFields): string {
  const field = fields.find('id')
  if (field === undefined || isNothing(field.node)) {
    return fields.refuse('PLAN_ID_MISSING', 'must hold an id', fields.field, 'none')
  }
  const id = planText(field.node)
  if (id === undefined || id.trim() === '' || id.length > MAX_PLAN_ID_LENGTH || CONTROL.test(id)) {
    const rule = `must be text of 1 to ${MAX_PLAN_ID_LENGTH} printable characters`
    return fields.refuse('PLAN_ID_INVALID', rule, field)
  }
  if (isImplicitId(id)) {
    const rule = `must not start with ${IMPLICIT_PREFIX}, as plans of general users do`
    return fields.refuse('PLAN_ID_INVALID', rule, field)
  }
  return id
}

/** By any of its names; where there are several, they agree. */
function readTier(fields: PlanFields): Tier {
  const given = TIER_FIELDS.flatMap((name) => fields.find(name) ?? [])
  const chosen = given.find((one) => !isNothing(one.node))
  if (chosen === undefined) {
    const rule = 'must hold a tier or subscriptionType'
    return fields.refuse('PLAN_TYPE_MISSING', rule, fields.field, 'none')
  }
  const tier = tierOf(chosen.node)
  if (tier === undefined) {
    return fields.refuse('PLAN_TYPE_INVALID', `must be one of ${TIERS.join(', ')}`, chosen)
  }
  const other = given.find((one) => one !== chosen && tierOf(one.node) !== tier)
  if (other !== undefined) {
    fields.refuse('PLAN_FIELD_CONFLICT', `must be the same as ${chosen.name}, or absent`, other)
  }
  return tier
}

const TIER_FIELDS: readonly PlanFieldName[] = ['tier', 'subscriptionType', 'subscriptionTier']

const tierOf = (node: Node): Tier | undefined => TIERS.find((tier) => tier === planText(node))

/** At least one address or IP; repetitions within the entry collapse. */
function readMembers(fields: PlanFields): Pick<PlanEntry, 'addresses' | 'ips'> {
  const members = readNames(fields, 'members', canonicalMember, LISTED_RULE) ?? []
  const addresses = [...members.filter(isNamed), ...readAddresses(fields)]
  const ranges = readNames(fields, 'ipAddresses', canonicalIp, IP_RULE) ?? []
  const ips = [...members.filter((member) => !isNamed(member)), ...ranges]
  if (addresses.length + ips.length === 0) {
    const rule = 'must hold at least one entry in members, ethAddresses or ipAddresses'
    fields.refuse('PLAN_NO_ADDRESSES', rule, fields.field, 'none')
  }
  return { addresses: [...new Set(addresses)], ips: [...new Set(ips)] }
}

const canonicalMember = (text: string): string | undefined =>
  canonicalName(text) ?? canonicalIp(text)

const isNamed = (canonical: string): boolean => canonicalName(canonical) === canonical

const LISTED_RULE = `${MEMBER_RULE} or range such as 10.0.0.0/8`
const ADDRESS_RULE = 'must be an address: 0x and hexadecimal digits'
const IP_RULE = 'must be an IP address, or a range such as 10.0.0.0/8 without host bits'

const canonicalIp = (text: string): string | undefined => canonicalRange(text.trim())

function readAddresses(fields: PlanFields): readonly string[] {
  const seed = readNames(fields, 'ethAddresses', canonicalEvmAddress, ADDRESS_RULE)
  const deployed = readNames(fields, 'evmAddresses', canonicalEvmAddress, ADDRESS_RULE)
  if (seed === undefined || deployed === undefined) return seed ?? deployed ?? []
  if (seed.length !== deployed.length || deployed.some((address) => !seed.includes(address))) {
    const rule = 'must hold the same addresses as ethAddresses, or be absent'
    fields.refuse('PLAN_FIELD_CONFLICT', rule, fields.find('evmAddresses'), 'others')
  }
  return seed
}

type Canonical = (text: string) => string | undefined

function readNames(fields: PlanFields, name: PlanFieldName, canonical: Canonical, rule: string) {
  const field = fields.find(name)
  if (field === undefined) return undefined
  const names = listOf(fields, field).map((item) => {
    const text = planText(item.node)
    const found = text === undefined ? undefined : canonical(text)
    return found ?? fields.refuse('PLAN_ADDRESS_INVALID', rule, item)
  })
  return [...new Set(names)]
}

function listOf(fields: PlanFields, field: NamedField) {
  if (field.node.kind === 'list') return readList(field)
  return fields.refuse('PLAN_ADDRESS_INVALID', 'must be a list of text', field)
}

function readName(fields: PlanFields): string | undefined {
  const field = fields.find('name')
  if (field === undefined) return undefined
  const name = planText(field.node)
  if (name !== undefined && name.length <= MAX_PLAN_NAME_LENGTH) return name
  const rule = `must be text of at most ${MAX_PLAN_NAME_LENGTH} characters`
  return fields.refuse('PLAN_FIELD_INVALID', rule, field)
}

function readLimit(fields: PlanFields): Allowance | undefined {
  const field = fields.find('limit')
  return field && allowanceOf(fields, field)
}

function readCategories(fields: PlanFields): ReadonlyMap<string, Allowance> | undefined {
  const field = fields.find('categories')
  if (field === undefined) return undefined
  if (field.node.kind !== 'map') {
    const rule = 'must be an object of operations and their limits'
    return fields.refuse('PLAN_FIELD_INVALID', rule, field)
  }
  return new Map(
    readEntries(field).map((each) => {
      if (!isOperationName(each.name)) {
        const rule = 'must name operations, by 1 to 64 letters and digits, a letter first'
        fields.refuse('PLAN_FIELD_INVALID', rule, field, quote(each.name))
      }
      return [each.name, allowanceOf(fields, each)]
    }),
  )
}

/** From source text, so a number of any size is exact. */
function allowanceOf(fields: PlanFields, field: Field): Allowance {
  const { node } = field
  try {
    return parseAllowance(node.kind === 'scalar' ? node.text : undefined, field.thing)
  } catch (error) {
    if (!(error instanceof HeadgateError)) throw error
    const rule = `${error.rule}, or unlimited`
    return fields.refuse('PLAN_FIELD_INVALID', rule, field)
  }
}

function readActive(fields: PlanFields): boolean {
  const field = fields.find('active')
  if (field === undefined) return true
  const { node } = field
  const text = node.kind === 'scalar' && !node.quoted ? node.text : undefined
  if (text === 'true' || text === 'false') return text === 'true'
  return fields.refuse('PLAN_FIELD_INVALID', 'must be true or false', field)
}

function readCreatedAt(fields: PlanFields): Instant | undefined {
  const field = fields.find('createdAt')
  if (field === undefined) return undefined
  const text = planText(field.node)
  const at = text === undefined ? undefined : parseTimestamp(text)
  return at ?? fields.refuse('PLAN_FIELD_INVALID', TIMESTAMP_RULE, field)
}

const CONTROL = /\p{Cc}/u

function isOperationName(name: string): boolean {
  try {
    return toOperationName(name) === name
  } catch {
    return false
  }
}
