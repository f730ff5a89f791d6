/** `headgate rates get`: one rate, with who set it and by what right. */
import { momentOf, recordOf, textOf } from './rate-rows.ts'
import { ratesCommand } from './rates-command.ts'
import { table } from './terminal.ts'

export const ratesGet = ratesCommand({
  name: 'rates get',
  summary: 'One rate: what it says, who set it, and by what right.',
  operands: [{ name: 'ID' }],
  flags: [],
  ask: (rates, { operands: [id = ''] }) => rates.get(id),
  describe: (rate) => {
    const by = recordOf(rate['by'])
    const chain = Array.isArray(by['chain']) ? by['chain'].map(String) : []
    const rows = [
      ['id', textOf(rate, 'id')],
      ['subject', textOf(rate, 'subject')],
      ['rate', textOf(rate, 'rate')],
      ['label', textOf(rate, 'label')],
      ['reason', textOf(rate, 'reason')],
      ['expires', momentOf(rate, 'expires')],
      ['set', momentOf(rate, 'at')],
      ['by', textOf(by, 'issuer')],
      ['by right of', chain.join(', ')],
      ['invocation', textOf(rate, 'cause')],
    ]
    return table(rows.filter(([, value]) => value !== ''))
  },
})
