/** `headgate tokens new`: makes a token, shows it once, and the lines for headgate.yml. */
import { createHash, randomBytes } from 'node:crypto'
import { SCOPES, type Scope, TOKEN_NAME, TOKEN_NAME_RULE } from '../server/api.ts'
import type { CliCommand } from './command.ts'
import { JSON_FLAG, refuseValue } from './flags.ts'
import { tell } from './terminal.ts'

/** 256 bits: as hard to guess as its hash is to turn back. */
const TOKEN_BYTES = 32

export const tokenCommands: readonly CliCommand[] = [
  {
    name: 'tokens new',
    summary: 'Make a token. It is shown once; headgate.yml keeps only its hash.',
    operands: [],
    flags: [
      { name: 'name', value: 'NAME', summary: 'Whose token it is, in logs and in headgate.yml.' },
      { name: 'scope', value: 'SCOPES', summary: 'decide, admin, or both with a comma; decide.' },
      JSON_FLAG,
    ],
    run: async (call) => {
      const name = readName(call.flags.text('name') ?? 'default')
      const scopes = readScopes(call.flags.text('scope') ?? 'decide')
      const token = `hg_${randomBytes(TOKEN_BYTES).toString('base64url')}`
      const sha256 = createHash('sha256').update(token).digest('hex')
      tell(call, { token, name, sha256, scopes }, describe)
      return 0
    },
  },
]

interface NewToken {
  readonly token: string
  readonly name: string
  readonly sha256: string
  readonly scopes: readonly Scope[]
}

const describe = ({ token, name, sha256, scopes }: NewToken): string =>
  [
    token,
    '',
    'This is the token: callers send it as "Authorization: Bearer …". It is not shown again.',
    'Put its hash into headgate.yml; a running server picks it up:',
    '',
    'tokens:',
    `  - name: ${name}`,
    `    sha256: ${sha256}`,
    `    scopes: [${scopes.join(', ')}]`,
  ].join('\n')

const readName = (name: string): string =>
  TOKEN_NAME.test(name) ? name : refuseValue('--name', TOKEN_NAME_RULE, name)

function readScopes(text: string): readonly Scope[] {
  const scopes = text.split(',').map((word) => {
    const scope = SCOPES.find((candidate) => candidate === word.trim())
    if (scope !== undefined) return scope
    const rule = `must be ${SCOPES.join(' or ')}, or both with a comma`
    return refuseValue('--scope', rule, word)
  })
  return [...new Set(scopes)]
}
