/** What `plans link` and `plans unlink` have in common: one address or IP. */
import type { Command } from './command.ts'
import { PLANS_FLAGS, type PlanBody, planPath, postBody, tell } from './plans-api.ts'

export const memberCommand = (verb: 'link' | 'unlink', summary: string): Command => ({
  name: `plans ${verb}`,
  summary,
  operands: [{ name: 'PLAN' }, { name: 'CALLER' }],
  flags: PLANS_FLAGS,
  run: async (call) => {
    const [id = '', caller = ''] = call.operands
    // An address of the ledger begins with 0x, and no IP does.
    const ask = /^0x/i.test(caller) ? { address: caller } : { ip: caller }
    const plan = await postBody<PlanBody>(call, planPath(id, verb), ask, ['id'])
    tell(
      call,
      plan,
      () => `${caller} ${verb === 'link' ? 'linked to' : 'unlinked from'} plan ${id}`,
    )
    return 0
  },
})
