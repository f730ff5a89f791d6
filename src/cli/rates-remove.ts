/** `headgate rates remove`: take rates away, all or none. */
import { ratesCommand } from './rates-command.ts'

export const ratesRemove = ratesCommand({
  name: 'rates remove',
  summary: 'Take rates away, all of the ids or none.',
  operands: [{ name: 'ID', many: true }],
  flags: [],
  ask: (rates, { operands: [id = '', ...others] }) =>
    rates.remove(others.length === 0 ? id : [id, ...others]),
  describe: (_, { operands }) => `removed ${operands.join(', ')}`,
})
