/** `headgate odis keygen`: a key in one hand, for development, kept encrypted in the key directory. */
import type { Command } from './command.ts'
import { JSON_FLAG } from './common-flags.ts'
import { KEY_FLAGS } from './odis-flags.ts'

export const odisKeygen: Command = {
  name: 'odis keygen',
  summary: 'Make a single key for a signer, for development. Production signers hold shares.',
  operands: [],
  flags: [
    ...KEY_FLAGS,
    { name: 'key-version', value: 'N', summary: 'Which version it is; 1. Never written over.' },
    {
      name: 'new-secret',
      summary: 'Make the file of --key-secret file:PATH too; it must not be there.',
    },
    JSON_FLAG,
  ],
  run: async (call) => {
    const { makeKey } = await import('./make-key.ts')
    await makeKey(call)
    return 0
  },
}
