/** `headgate plans create`: a plan that is not in the file. */
import type { Command } from './command.ts'
import { describePlan, PLANS_FLAGS, type PlanBody, postBody, tell } from './plans-api.ts'
import { requireFlag } from './require-flag.ts'

export const plansCreate: Command = {
  name: 'plans create',
  summary: 'Create a plan that is not in the file.',
  operands: [{ name: 'PLAN' }],
  flags: [
    { name: 'tier', value: 'TIER', summary: 'BASIC, EXTENDED or PRIVILEGED.' },
    {
      name: 'own-limit',
      value: 'AMOUNT',
      summary: 'Instead of the limit of its tier; or unlimited.',
    },
    { name: 'name', value: 'NAME', summary: 'For people.' },
    ...PLANS_FLAGS,
  ],
  run: async (call) => {
    const [id = ''] = call.operands
    const limit = call.flags.text('own-limit')
    const name = call.flags.text('name')
    const ask = {
      id,
      tier: requireFlag(call, 'tier'),
      ...(limit !== undefined && { limit }),
      ...(name !== undefined && { name }),
    }
    tell(call, await postBody<PlanBody>(call, '/v1/plans', ask, ['id', 'tier']), describePlan)
    return 0
  },
}
