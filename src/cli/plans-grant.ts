/** `headgate plans grant`: a plan gets more, once. */
import { quote } from '../documents/index.ts'
import { toTimestamp } from '../spending/timestamp.ts'
import { refuseCall } from './cli-mistake.ts'
import type { Command } from './command.ts'
import type { FlagValues } from './flag-values.ts'
import { readMoment } from './moments.ts'
import { PLANS_FLAGS, planPath, postBody, type StandingBody, tell } from './plans-api.ts'

interface Granted {
  readonly grantId: string
  readonly plan: StandingBody
}

export const plansGrant: Command = {
  name: 'plans grant',
  summary: 'Give a plan more, once: used after its allowance and never above the total.',
  operands: [{ name: 'PLAN' }, { name: 'AMOUNT' }],
  flags: [
    { name: 'expires', value: 'WHEN', summary: 'A duration from now, or a moment; never.' },
    { name: 'priority', value: 'N', summary: 'Lower is used first; 0.' },
    { name: 'reason', value: 'TEXT', summary: 'Kept in the ledger.' },
    ...PLANS_FLAGS,
  ],
  run: async (call) => {
    const [id = '', amount = ''] = call.operands
    const ask = { amount, ...readGrant(call.flags) }
    const granted = await postBody<Granted>(call, planPath(id, 'grant'), ask, ['grantId', 'plan'])
    tell(call, granted, ({ plan }) => `plan ${id} was given ${amount}, ${plan.remaining} remaining`)
    return 0
  },
}

function readGrant(flags: FlagValues) {
  const expiresAt = readMoment(flags, 'expires', 'ahead')
  const priority = flags.text('priority')
  const reason = flags.text('reason')
  return {
    ...(expiresAt !== undefined && { expiresAt: toTimestamp(expiresAt) }),
    ...(priority !== undefined && { priority: readPriority(priority) }),
    ...(reason !== undefined && { reason }),
  }
}

function readPriority(text: string): number {
  if (/^-?\d{1,15}$/.test(text)) return Number(text)
  const rule = 'must be a whole number'
  return refuseCall({ code: 'FLAG_VALUE_INVALID', thing: '--priority', rule, finding: quote(text) })
}
