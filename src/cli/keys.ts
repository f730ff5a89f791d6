/** `headgate keys new` and `keys show`: identities of a service or an agent of rates. */
import { writeFile } from 'node:fs/promises'
import { systemCode } from '../core/errors.ts'
import { type CliCommand, refuseCall } from './command.ts'
import { JSON_FLAG, LOCAL_FLAGS } from './flags.ts'
import { KEY_FLAG, openKey } from './rates-client.ts'
import { table, tell } from './terminal.ts'

export const keyCommands: readonly CliCommand[] = [
  {
    name: 'keys new',
    summary: 'Make a key for a service or an agent of rates. It is shown once, or kept in a file.',
    operands: [],
    flags: [
      { name: 'out', value: 'FILE', summary: 'Keep it in this new file instead of showing it.' },
      JSON_FLAG,
    ],
    run: async (call) => {
      const { generateIdentity } = await import('../subjects/index.ts')
      const { did, secret } = generateIdentity()
      const file = call.flags.text('out')
      if (file === undefined) tell(call, { did, secret }, describeNew)
      else {
        await keep(file, secret)
        tell(call, { did, file }, describeKept)
      }
      return 0
    },
  },
  {
    name: 'keys show',
    summary: 'The DID of a key; of the server here, if none is named. Never the secret.',
    operands: [],
    flags: [KEY_FLAG, ...LOCAL_FLAGS, JSON_FLAG],
    run: async (call) => {
      const { did, keyDid } = await openKey(call)
      tell(call, { did, key: keyDid }, describeShown)
      return 0
    },
  },
]

/** Never over another file: it may be a key that nothing else holds. */
async function keep(file: string, secret: string): Promise<void> {
  try {
    await writeFile(file, `${secret}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    const rule = 'must name a file that does not exist, in a folder that can be written'
    const finding = systemCode(error)
    refuseCall({ code: 'FILE_UNWRITABLE', thing: '--out', rule, finding }, error)
  }
}

const describeKept = ({ did, file }: { readonly did: string; readonly file: string }): string =>
  table([
    ['did', did],
    ['file', file],
  ])

const describeNew = ({ did, secret }: { readonly did: string; readonly secret: string }): string =>
  [
    secret,
    '',
    'This is the secret: anyone who has it can act as this identity. It is not shown again.',
    'Put it into HEADGATE_UCAN_KEY, or into a file that only its owner can read.',
    '',
    `Its DID, which others may know: ${did}`,
  ].join('\n')

const describeShown = ({ did, key }: { readonly did: string; readonly key: string }): string =>
  did === key
    ? did
    : table([
        ['did', did],
        ['key', key],
      ])
