/** Makes a single key and keeps it encrypted; only what everybody may know of it is printed. */
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HeadgateError } from '../core/index.ts'
import { quote } from '../documents/index.ts'
import {
  generateKey,
  type KeySecretSource,
  MAX_KEY_VERSION,
  publicKeyText,
  readKeySecret,
  storeKey,
  wipe,
} from '../secrets/index.ts'
import { gatherOdisOptions, readKeyOptions } from '../server/odis/signer-options.ts'
import { refuseCall } from './cli-mistake.ts'
import type { Call } from './command.ts'
import { odisFlags } from './odis-flags.ts'
import { writeJson } from './terminal.ts'

export const makeKey = async ({ flags, environment, terminal }: Call): Promise<void> => {
  const said = gatherOdisOptions(odisFlags(flags), environment)
  const { keys, keySecret } = readKeyOptions(said, environment)
  const version = readVersion(flags.text('key-version') ?? '1')
  if (flags.has('new-secret')) await makeSecret(keySecret)
  const secret = await readKeySecret(keySecret, {
    onShared: (warning) =>
      terminal.err(`warning ${warning.code}: ${new HeadgateError(warning).message}`),
  })
  const key = generateKey()
  try {
    await storeKey(keys, secret, key, version)
  } finally {
    wipe(key.secret)
    wipe(secret)
  }
  const { kind, purpose } = key
  const file = join(keys, `key-${version}.json`)
  const facts = { version, kind, purpose, publicKey: publicKeyText(key), file }
  if (flags.has('json')) writeJson(terminal, facts)
  else terminal.out(describe(facts))
}

interface Facts {
  readonly version: number
  readonly publicKey: string
  readonly file: string
}

const describe = ({ version, publicKey, file }: Facts): string =>
  [
    `key ${version}, encrypted in ${file}`,
    `public key, for clients: ${publicKey}`,
    '',
    'The whole key is in one hand: a signer uses it on a loopback address only, unless told otherwise.',
  ].join('\n')

function readVersion(text: string): number {
  const version = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (version >= 1) return version
  const rule = `must be a whole number from 1 to ${MAX_KEY_VERSION}`
  const finding = quote(text)
  return refuseCall({ code: 'FLAG_VALUE_INVALID', thing: '--key-version', rule, finding })
}

const SECRET_BYTES = 32

/** Never over a file: keys may be encrypted under what it holds. */
async function makeSecret(source: KeySecretSource): Promise<void> {
  const thing = '--new-secret'
  const code = 'FLAG_VALUE_INVALID'
  if (source.from !== 'file') {
    const rule = 'goes with --key-secret file:PATH'
    return refuseCall({ code, thing, rule, finding: `a secret from the ${source.from}` })
  }
  const text = `${randomBytes(SECRET_BYTES).toString('hex')}\n`
  try {
    await writeFile(source.path, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const finding = error instanceof Error ? error.message : String(error)
    refuseCall({ code, thing, rule: 'makes a file that is not there yet', finding }, error)
  }
}
