/** `headgate keys new`: makes an identity and shows its secret once. */
import type { Command } from './command.ts'
import { JSON_FLAG } from './common-flags.ts'
import { writeJson } from './terminal.ts'

export const keysNew: Command = {
  name: 'keys new',
  summary: 'Make a key for a service or an agent of rates. It is shown once.',
  operands: [],
  flags: [JSON_FLAG],
  run: async ({ flags, terminal }) => {
    const { generateIdentity } = await import('../subjects/index.ts')
    const { did, secret } = generateIdentity()
    if (flags.has('json')) writeJson(terminal, { did, secret })
    else terminal.out(describe(did, secret))
    return 0
  },
}

const describe = (did: string, secret: string): string =>
  [
    secret,
    '',
    'This is the secret: whoever has it is this identity. It is not shown again.',
    'Put it into HEADGATE_UCAN_KEY, or into a file that only its owner can read.',
    '',
    `Its DID, which others may know: ${did}`,
  ].join('\n')
