/** A configured plan: one entry of `spendingPlansConfig.json`, with the callers it is for. */
import { HeadgateError, type Instant, instant } from '../core/index.ts'
import { type Field, isNothing, type Node, readEntries } from '../documents/index.ts'
import { parseAllowance } from './amount.ts'
import { toOperationName } from './ask.ts'
import { IMPLICIT_PREFIX, isImplicitId } from './implicit-plan.ts'
import type { Allowance, Plan, Tier } from './plan.ts'
import { type EntryReader, entryReader, textOf } from './plan-fields.ts'
import { readLinks } from './plan-links.ts'

export interface PlanEntry {
  readonly plan: Plan
  /** Canonical, each once. */
  readonly addresses: readonly string[]
  /** Canonical addresses and ranges, each once. */
  readonly ips: readonly string[]
}

export const TIERS: readonly Tier[] = ['BASIC', 'EXTENDED', 'PRIVILEGED']

/** An id is a key in the store and a word in logs. */
export const MAX_PLAN_ID_LENGTH = 200

/** A name is for people. */
export const MAX_PLAN_NAME_LENGTH = 1_000

/** Throws a `PlanError` with the entry's index and the position of the first mistake. */
export const readPlanEntry = (field: Field, index: number): PlanEntry => {
  const entry = entryReader(field, index)
  const id = readId(entry)
  const tier = readTier(entry)
  const { addresses, ips } = readLinks(entry)
  const name = readName(entry)
  const limit = readLimit(entry)
  const createdAt = readCreatedAt(entry)
  const categories = readCategories(entry)
  const optional = {
    ...(name !== undefined && { name }),
    ...(limit !== undefined && { limit }),
    ...(createdAt !== undefined && { createdAt }),
    ...(categories !== undefined && { categories }),
  }
  const active = readActive(entry)
  return { plan: { id, tier, ...optional, active, source: 'file' }, addresses, ips }
}

function readId(entry: EntryReader): string {
  const field = entry.find('id')
  if (field === undefined || isNothing(field.node)) {
    return entry.refuse('PLAN_ID_MISSING', 'must hold an id', entry.field, 'none')
  }
  const id = textOf(field.node)
  if (id === undefined || id.trim() === '' || id.length > MAX_PLAN_ID_LENGTH || CONTROL.test(id)) {
    const rule = `must be text of 1 to ${MAX_PLAN_ID_LENGTH} printable characters`
    return entry.refuse('PLAN_ID_INVALID', rule, field)
  }
  if (isImplicitId(id)) {
    const rule = `must not start with ${IMPLICIT_PREFIX}, as plans of general users do`
    return entry.refuse('PLAN_ID_INVALID', rule, field)
  }
  return id
}

function readTier(entry: EntryReader): Tier {
  const [field, other] = [entry.find('subscriptionType'), entry.find('subscriptionTier')]
  const chosen = [field, other].find((one) => one !== undefined && !isNothing(one.node))
  if (chosen === undefined) {
    const rule = 'must hold a subscriptionType'
    return entry.refuse('PLAN_TYPE_MISSING', rule, entry.field, 'none')
  }
  const tier = tierOf(chosen.node)
  if (tier === undefined) {
    return entry.refuse('PLAN_TYPE_INVALID', `must be one of ${TIERS.join(', ')}`, chosen)
  }
  if (other !== undefined && tierOf(other.node) !== tier) {
    entry.refuse('PLAN_FIELD_CONFLICT', `must be the same as ${chosen.name}, or absent`, other)
  }
  return tier
}

const tierOf = (node: Node): Tier | undefined => TIERS.find((tier) => tier === textOf(node))

function readName(entry: EntryReader): string | undefined {
  const field = entry.find('name')
  if (field === undefined) return undefined
  const name = textOf(field.node)
  if (name !== undefined && name.length <= MAX_PLAN_NAME_LENGTH) return name
  const rule = `must be text of at most ${MAX_PLAN_NAME_LENGTH} characters`
  return entry.refuse('PLAN_FIELD_INVALID', rule, field)
}

function readLimit(entry: EntryReader): Allowance | undefined {
  const field = entry.find('limit')
  return field && allowanceOf(entry, field)
}

function readCategories(entry: EntryReader): ReadonlyMap<string, Allowance> | undefined {
  const field = entry.find('categories')
  if (field === undefined) return undefined
  if (field.node.kind !== 'map') {
    const rule = 'must be an object of operations and their limits'
    return entry.refuse('PLAN_FIELD_INVALID', rule, field)
  }
  return new Map(
    readEntries(field).map((each) => {
      if (!isOperationName(each.name)) {
        const rule = 'must name operations, by 1 to 64 letters and digits, a letter first'
        entry.refuse('PLAN_FIELD_INVALID', rule, field, JSON.stringify(each.name))
      }
      return [each.name, allowanceOf(entry, each)]
    }),
  )
}

/** From source text, so a number of any size is exact. */
function allowanceOf(entry: EntryReader, field: Field): Allowance {
  const { node } = field
  try {
    return parseAllowance(node.kind === 'scalar' ? node.text : undefined, field.thing)
  } catch (error) {
    if (!(error instanceof HeadgateError)) throw error
    const rule = `${error.rule}, or unlimited`
    return entry.refuse('PLAN_FIELD_INVALID', rule, field)
  }
}

function readActive(entry: EntryReader): boolean {
  const field = entry.find('active')
  if (field === undefined) return true
  const { node } = field
  const text = node.kind === 'scalar' && !node.quoted ? node.text : undefined
  if (text === 'true' || text === 'false') return text === 'true'
  return entry.refuse('PLAN_FIELD_INVALID', 'must be true or false', field)
}

function readCreatedAt(entry: EntryReader): Instant | undefined {
  const field = entry.find('createdAt')
  if (field === undefined) return undefined
  const text = textOf(field.node)
  const millis = text !== undefined && MOMENT.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(millis)) return instant(millis * 1_000)
  const rule = 'must be a moment in ISO 8601 with its zone, such as 2026-01-01T00:00:00Z'
  return entry.refuse('PLAN_FIELD_INVALID', rule, field)
}

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)$/
const CONTROL = /\p{Cc}/u

function isOperationName(name: string): boolean {
  try {
    return toOperationName(name) === name
  } catch {
    return false
  }
}
