/** `headgate rates list`: the rates of one subject, spelled as they were given. */
import { recordsOf, textOf } from './rate-rows.ts'
import { ratesCommand } from './rates-command.ts'
import { table } from './terminal.ts'

export const ratesList = ratesCommand({
  name: 'rates list',
  summary: 'The rates that were set for a subject, in this spelling.',
  operands: [{ name: 'SUBJECT' }],
  flags: [],
  ask: (rates, { operands: [subject = ''] }) => rates.list(subject),
  describe: (done) => {
    const rows = recordsOf(done, 'limits').map((rate) => [textOf(rate, 'id'), textOf(rate, 'rate')])
    return rows.length === 0 ? 'none' : table([['ID', 'RATE'], ...rows])
  },
})
