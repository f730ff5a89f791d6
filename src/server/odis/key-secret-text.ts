/** The text that says where the secret is which encrypts keys: `file:PATH`, `env:NAME` or `command:WORDS`. */
import type { KeySecretSource } from '../../secrets/index.ts'
import { refuseConfig } from '../config-mistake.ts'
import type { Environment, Saying } from '../options.ts'

/** Never repeats what was found: it may be the secret itself. */
export const readKeySecretOption = (
  { text, thing }: Saying,
  environment: Environment,
): KeySecretSource => {
  const colon = text.indexOf(':')
  const rest = text.slice(colon + 1).trim()
  const [command = '', ...words] = rest.split(/\s+/)
  switch (rest === '' ? '' : text.slice(0, colon)) {
    case 'file':
      return { from: 'file', path: rest }
    case 'env':
      return { from: 'environment', name: rest, environment }
    case 'command':
      return { from: 'command', command, arguments: words }
    default: {
      const rule = 'must be file:PATH, env:NAME or command:WORDS'
      const finding = 'something else, which is not repeated'
      return refuseConfig({ code: 'OPTION_INVALID', thing, rule, finding })
    }
  }
}
