/** `headgate refund`: give back what was charged, by bucket or by the operation id of the charge. */
import { ask, COST_FLAG } from './ask.ts'
import { refuseCall } from './cli-mistake.ts'
import type { Command } from './command.ts'
import { JSON_FLAG, LOCAL_FLAGS, REMOTE_FLAGS } from './common-flags.ts'

export const refund: Command = {
  name: 'refund',
  summary: 'Give back: so many tokens of a bucket, or what the spend of an operation id charged.',
  operands: [
    { name: 'LIMIT', optional: true },
    { name: 'ID', optional: true },
  ],
  flags: [
    COST_FLAG,
    { name: 'operation', value: 'ID', summary: 'The operation id of the spend to give back.' },
    ...LOCAL_FLAGS,
    ...REMOTE_FLAGS,
    JSON_FLAG,
  ],
  run: async (call) => {
    const words = call.operands.length
    if (words === 2 || (words === 0 && call.flags.has('operation'))) return ask('refund', call)
    const rule = 'needs LIMIT and ID, or --operation'
    const finding = words === 0 ? 'neither' : 'a LIMIT without ID'
    return refuseCall({ code: 'OPERAND_MISSING', thing: 'headgate refund', rule, finding })
  },
}
