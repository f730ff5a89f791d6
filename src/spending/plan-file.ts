/** Configured plans: `spendingPlansConfig.json`, or the same list inline. All of it holds, or none. */
import { describePosition, HeadgateError, type Position } from '../core/errors.ts'
import { describeNode, type Field } from '../documents/index.ts'
import { parseJson } from '../documents/json.ts'
import { type PlanEntry, readPlanEntry } from './plan-entry.ts'
import { PlanError } from './plan-mistake.ts'

/** Five times the hundred thousand that tests read. Beyond it plans belong in the store. */
export const MAX_PLANS = 500_000

/** JSON text, with `file` as its name in messages. Nothing is read from disk here. */
export const parsePlans = (text: string, file: string): readonly PlanEntry[] =>
  readPlans({ thing: 'plans', node: parseStrictly(text, file) })

/** A list of plans somewhere in a document: a JSON file or a section of `headgate.yml`. */
export const readPlans = (field: Field): readonly PlanEntry[] => {
  const { thing, node } = field
  if (node.kind !== 'list') {
    const rule = 'must be a list of plans'
    const finding = describeNode(node)
    throw new PlanError({ code: 'CONFIG_NOT_ARRAY', thing, rule, finding, at: node.at })
  }
  if (node.items.length > MAX_PLANS) {
    const rule = `must be at most ${MAX_PLANS} plans`
    const finding = `${node.items.length}`
    throw new PlanError({ code: 'CONFIG_TOO_MANY_PLANS', thing, rule, finding, at: node.at })
  }
  const once = createUniqueness(thing)
  return node.items.map((item, index) => {
    const entry = readPlanEntry({ thing: `${thing}[${index}]`, node: item }, index)
    once(entry, index, item.at)
    return entry
  })
}

/** An id names one plan, and an address or range belongs to one: which of two would be a guess. */
function createUniqueness(list: string) {
  const ids = new Map<string, Position>()
  const links = new Map<string, Position>()
  return ({ plan, addresses, ips }: PlanEntry, index: number, at: Position): void => {
    const thing = `${list}[${index}]`
    const earlier = ids.get(plan.id)
    if (earlier !== undefined) {
      const rule = 'must have an id of its own'
      const finding = `${JSON.stringify(plan.id)} also at ${describePosition(earlier)}`
      throw new PlanError({ code: 'PLAN_ID_DUPLICATE', thing, rule, finding, at }, index)
    }
    ids.set(plan.id, at)
    for (const link of [...addresses, ...ips]) {
      const taken = links.get(link)
      if (taken !== undefined) {
        const rule = 'must hold addresses that are in no other plan'
        const finding = `${link} also at ${describePosition(taken)}`
        throw new PlanError({ code: 'PLAN_ADDRESS_DUPLICATE', thing, rule, finding, at }, index)
      }
      links.set(link, at)
    }
  }
}

function parseStrictly(text: string, file: string) {
  try {
    return parseJson(text, file)
  } catch (error) {
    if (!(error instanceof HeadgateError) || error.code !== 'DOCUMENT_SYNTAX') throw error
    const { thing, rule, finding, at } = error
    throw new PlanError({ code: 'CONFIG_NOT_JSON', thing, rule, finding, at }, undefined, {
      cause: error,
    })
  }
}
