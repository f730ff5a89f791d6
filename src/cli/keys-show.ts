/** `headgate keys show`: the DID of a key. Never the key itself. */
import type { Command } from './command.ts'
import { JSON_FLAG, LOCAL_FLAGS } from './common-flags.ts'
import { table, writeJson } from './terminal.ts'
import { KEY_FLAG } from './ucan-key.ts'

export const keysShow: Command = {
  name: 'keys show',
  summary: 'The DID of a key; of the server here, if none is named. Never the secret.',
  operands: [],
  flags: [KEY_FLAG, ...LOCAL_FLAGS, JSON_FLAG],
  run: async (call) => {
    const { openKey } = await import('./open-key.ts')
    const { did, keyDid } = await openKey(call)
    if (call.flags.has('json')) writeJson(call.terminal, { did, key: keyDid })
    else
      call.terminal.out(
        did === keyDid
          ? did
          : table([
              ['did', did],
              ['key', keyDid],
            ]),
      )
    return 0
  },
}
