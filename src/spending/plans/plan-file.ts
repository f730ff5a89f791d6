/** Configured plans: `spendingPlansConfig.json`, or the same list inline. All of it holds, or none. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import {
  describePosition,
  HeadgateError,
  type Position,
  quote,
  systemCode,
} from '../../core/errors.ts'
import type { Field } from '../../documents/field.ts'
import { parseJson } from '../../documents/json.ts'
import { describeNode } from '../../documents/node.ts'
import type { PlansSource } from '../settings/readers.ts'
import { type PlanEntry, readPlanEntry } from './plan-entry.ts'
import { PlanError } from './plan-fields.ts'

/** Five times the hundred thousand that tests read. Beyond it plans belong in the store. */
const MAX_PLANS = 500_000

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
  const refuseTwice = createUniqueness(thing)
  return node.items.map((item, index) => {
    const entry = readPlanEntry({ thing: `${thing}[${index}]`, node: item }, index)
    refuseTwice(entry, index, item.at)
    return entry
  })
}

/** An id names one plan, and an address or range belongs to one: which of two would be a guess. */
function createUniqueness(list: string) {
  const ids = new Map<string, Position>()
  const members = new Map<string, Position>()
  return ({ plan, addresses, ips }: PlanEntry, index: number, at: Position): void => {
    const thing = `${list}[${index}]`
    const earlier = ids.get(plan.id)
    if (earlier !== undefined) {
      const rule = 'must have an id of its own'
      const finding = `${quote(plan.id)} also at ${describePosition(earlier)}`
      throw new PlanError({ code: 'PLAN_ID_DUPLICATE', thing, rule, finding, at }, index)
    }
    ids.set(plan.id, at)
    for (const member of [...addresses, ...ips]) {
      const taken = members.get(member)
      if (taken !== undefined) {
        const rule = 'must hold addresses that are in no other plan'
        const finding = `${member} also at ${describePosition(taken)}`
        throw new PlanError({ code: 'PLAN_ADDRESS_DUPLICATE', thing, rule, finding, at }, index)
      }
      members.set(member, at)
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

/** From where the settings say. `folder` is what relative names start from. A named file that is missing is a mistake; the default one is not. */
export const loadPlans = async (
  source: PlansSource,
  folder: string,
): Promise<readonly PlanEntry[]> => {
  switch (source.kind) {
    case 'entries':
      return source.entries
    case 'text':
      return parsePlans(source.text, source.name)
    case 'file': {
      const text = await readPlansFile(resolve(folder, source.path), source.named)
      return text === undefined ? [] : parsePlans(text, source.path)
    }
    default:
      return source satisfies never
  }
}

async function readPlansFile(path: string, named: boolean): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    const code = systemCode(cause)
    if (code === 'ENOENT' && !named) return undefined
    const rule = 'must be a file that can be read'
    const finding = code === 'ENOENT' ? 'no such file' : code
    const mistake = { code: 'CONFIG_MISSING', thing: path, rule, finding } as const
    throw new PlanError(mistake, undefined, { cause })
  }
}
