/** `headgate version`: which Headgate this is, and on which Node it runs. */
import { VERSION } from '../server/version.ts'
import type { Command } from './command.ts'
import { JSON_FLAG } from './common-flags.ts'
import { writeJson } from './terminal.ts'

export const version: Command = {
  name: 'version',
  summary: 'Which Headgate this is.',
  operands: [],
  flags: [JSON_FLAG],
  run: async ({ flags, terminal }) => {
    const facts = { headgate: VERSION, node: process.versions.node }
    if (flags.has('json')) writeJson(terminal, facts)
    else terminal.out(`headgate ${facts.headgate} (Node ${facts.node})`)
    return 0
  },
}
