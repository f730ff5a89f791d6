/** `headgate plans export`: the ledger, line by line, hash-chained. */
import { quote } from '../documents/index.ts'
import { readReply } from './api.ts'
import { refuseCall } from './cli-mistake.ts'
import type { Command } from './command.ts'
import { JSON_FLAG, LOCAL_FLAGS, REMOTE_FLAGS } from './common-flags.ts'
import { withWire } from './gate.ts'

export const plansExport: Command = {
  name: 'plans export',
  summary: 'The ledger on standard output, hash-chained.',
  operands: [],
  flags: [
    { name: 'format', value: 'FORMAT', summary: 'jsonl or csv; jsonl.' },
    ...LOCAL_FLAGS,
    ...REMOTE_FLAGS,
    JSON_FLAG,
  ],
  run: async (call) => {
    const path = `/v1/spending/ledger?format=${readFormat(call.flags.text('format'))}`
    const reply = await withWire(call, (wire) => wire.stream(path, call.terminal.bytes))
    if (reply.status !== 200) readReply(reply, [])
    return 0
  },
}

function readFormat(text = 'jsonl'): string {
  if (text === 'jsonl' || text === 'csv') return text
  const rule = 'must be jsonl or csv'
  return refuseCall({ code: 'FLAG_VALUE_INVALID', thing: '--format', rule, finding: quote(text) })
}
