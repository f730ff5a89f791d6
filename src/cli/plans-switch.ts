/** What `plans activate` and `plans deactivate` have in common. */
import type { Command } from './command.ts'
import { describePlan, PLANS_FLAGS, type PlanBody, planPath, postBody, tell } from './plans-api.ts'

export const switchCommand = (verb: 'activate' | 'deactivate', summary: string): Command => ({
  name: `plans ${verb}`,
  summary,
  operands: [{ name: 'PLAN' }],
  flags: PLANS_FLAGS,
  run: async (call) => {
    const [id = ''] = call.operands
    const plan = await postBody<PlanBody>(call, planPath(id, verb), {}, ['id', 'active'])
    tell(call, plan, describePlan)
    return 0
  },
})
