/** `headgate tokens new`: makes a token, shows it once, and says what to put in headgate.yml. */
import { createHash, randomBytes } from 'node:crypto'
import { quote } from '../documents/index.ts'
import { SCOPES, type Scope } from '../server/settings.ts'
import { TOKEN_NAME, TOKEN_NAME_RULE } from '../server/token-records.ts'
import { refuseCall } from './cli-mistake.ts'
import type { Command } from './command.ts'
import { JSON_FLAG } from './common-flags.ts'
import { writeJson } from './terminal.ts'

/** 256 bits: as hard to guess as its hash is to turn back. */
const TOKEN_BYTES = 32

export const tokensNew: Command = {
  name: 'tokens new',
  summary: 'Make a token. It is shown once; headgate.yml keeps only its hash.',
  operands: [],
  flags: [
    { name: 'name', value: 'NAME', summary: 'Whose token it is, in logs and in headgate.yml.' },
    { name: 'scope', value: 'SCOPES', summary: 'decide, admin, or both with a comma; decide.' },
    JSON_FLAG,
  ],
  run: async ({ flags, terminal }) => {
    const name = readName(flags.text('name') ?? 'default')
    const scopes = readScopes(flags.text('scope') ?? 'decide')
    const token = `hg_${randomBytes(TOKEN_BYTES).toString('base64url')}`
    const sha256 = createHash('sha256').update(token).digest('hex')
    if (flags.has('json')) writeJson(terminal, { token, name, sha256, scopes })
    else terminal.out(describe(token, name, sha256, scopes))
    return 0
  },
}

function describe(token: string, name: string, sha256: string, scopes: readonly Scope[]): string {
  return [
    token,
    '',
    'This is the token: callers send it as "Authorization: Bearer …". It is not shown again.',
    'headgate.yml wants its hash, in a running server too:',
    '',
    'tokens:',
    `  - name: ${name}`,
    `    sha256: ${sha256}`,
    `    scopes: [${scopes.join(', ')}]`,
  ].join('\n')
}

function readName(name: string): string {
  if (TOKEN_NAME.test(name)) return name
  const finding = quote(name)
  const rule = TOKEN_NAME_RULE
  return refuseCall({ code: 'FLAG_VALUE_INVALID', thing: '--name', rule, finding })
}

function readScopes(text: string): readonly Scope[] {
  const scopes = text.split(',').map((word) => {
    const scope = SCOPES.find((candidate) => candidate === word.trim())
    if (scope !== undefined) return scope
    const rule = `must be ${SCOPES.join(' or ')}, or both with a comma`
    const finding = quote(word)
    return refuseCall({ code: 'FLAG_VALUE_INVALID', thing: '--scope', rule, finding })
  })
  return [...new Set(scopes)]
}
