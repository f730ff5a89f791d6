/** `headgate odis audit`: what a signer did, from its own database. */
import type { Command } from './command.ts'
import { JSON_FLAG } from './common-flags.ts'
import { AFTER_FLAG, LIMIT_FLAG } from './page-flags.ts'

export const odisAudit: Command = {
  name: 'odis audit',
  summary: 'Each charged attempt and each disabled domain of a signer, oldest first.',
  operands: [],
  flags: [
    {
      name: 'store',
      value: 'URL',
      summary: 'The database of the signer; sqlite:./headgate-signer.db.',
    },
    AFTER_FLAG,
    LIMIT_FLAG,
    JSON_FLAG,
  ],
  run: async (call) => {
    const { showAudit } = await import('./show-audit.ts')
    await showAudit(call)
    return 0
  },
}
