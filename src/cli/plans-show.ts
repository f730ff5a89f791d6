/** `headgate plans show`: one plan, who it is for, and how it stands. */
import type { Command } from './command.ts'
import {
  getBody,
  PLANS_FLAGS,
  type PlanBody,
  planPath,
  type StandingBody,
  tell,
} from './plans-api.ts'
import { table } from './terminal.ts'

interface ShownPlan extends PlanBody, StandingBody {
  readonly addresses: readonly string[]
  readonly ips: readonly string[]
  readonly monthly: Readonly<Record<string, string>>
}

export const plansShow: Command = {
  name: 'plans show',
  summary: 'One plan: who it is for, and how it stands.',
  operands: [{ name: 'PLAN' }],
  flags: PLANS_FLAGS,
  run: async (call) => {
    const [id = ''] = call.operands
    const plan = await getBody<ShownPlan>(call, planPath(id), ['id', 'remaining', 'addresses'])
    tell(call, plan, describe)
    return 0
  },
}

const describe = (plan: ShownPlan): string =>
  table([
    ['plan', plan.id],
    ...(plan.name === undefined ? [] : [['name', plan.name]]),
    ['tier', plan.tier],
    ['state', plan.active ? 'active' : 'inactive'],
    ['from', plan.source],
    ['limit', plan.limit],
    ['spent', plan.spent],
    ['held', plan.held],
    ['remaining', plan.remaining],
    ['addresses', brief(plan.addresses)],
    ['ips', brief(plan.ips)],
    ...Object.entries(plan.monthly).map(([month, spent]) => [`in ${month}`, spent]),
  ])

/** More than this say less than their number; `--json` has them all. */
const MAX_SHOWN = 8

function brief(links: readonly string[]): string {
  if (links.length === 0) return 'none'
  const more = links.length - MAX_SHOWN
  const shown = links.slice(0, MAX_SHOWN).join(', ')
  return more > 0 ? `${shown} and ${more} more` : shown
}
