/** `headgate plans list`: every plan that is configured or was created. */

import { readReply } from './api.ts'
import type { Command } from './command.ts'
import { withWire } from './gate.ts'
import { PLANS_FLAGS, type PlanBody, tell } from './plans-api.ts'
import { table } from './terminal.ts'

interface Page {
  readonly plans: readonly PlanBody[]
  readonly next?: string
}

export const plansList: Command = {
  name: 'plans list',
  summary: 'Every plan that is configured or was created.',
  operands: [],
  flags: PLANS_FLAGS,
  run: async (call) => {
    const plans = await withWire(call, async (wire) => {
      const all: PlanBody[] = []
      for (let after: string | undefined = ''; after !== undefined; ) {
        const query: string = after === '' ? '' : `?after=${encodeURIComponent(after)}`
        const page: Page = readReply<Page>(await wire.get(`/v1/plans${query}`), ['plans'])
        all.push(...page.plans)
        after = page.next
      }
      return all
    })
    tell(call, { plans }, () => table([HEADINGS, ...plans.map(toRow)]))
    return 0
  },
}

const HEADINGS = ['PLAN', 'TIER', 'LIMIT', 'STATE', 'FROM', 'NAME']

const toRow = ({ id, tier, limit, active, source, name = '' }: PlanBody): readonly string[] => [
  id,
  tier,
  limit,
  active ? 'active' : 'inactive',
  source,
  name,
]
