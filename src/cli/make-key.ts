/** Makes a single key and keeps it encrypted; only what everybody may know of it is printed. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { quote } from '../documents/index.ts'
import {
  generateKey,
  type KeySecret,
  type KeySecretSource,
  MAX_KEY_VERSION,
  publicKeyText,
  readKeySecret,
  storeKey,
  wipe,
} from '../secrets/index.ts'
import { checkNewKey } from '../secrets/keys/key-directory.ts'
import { gatherOdisOptions, readKeyOptions } from '../server/odis/signer-options.ts'
import { refuseCall } from './cli-mistake.ts'
import type { Call } from './command.ts'
import { odisFlags } from './odis-flags.ts'
import { tellShared } from './secret-warnings.ts'
import { writeJson } from './terminal.ts'

export const makeKey = async ({ flags, environment, terminal }: Call): Promise<void> => {
  const said = gatherOdisOptions(odisFlags(flags), environment)
  const { keys, keySecret } = readKeyOptions(said, environment)
  const version = readVersion(flags.text('key-version') ?? '1')
  const secret = flags.has('new-secret')
    ? await makeSecret(keySecret, (made) => checkNewKey(keys, made, version))
    : await readKeySecret(keySecret, { onShared: tellShared(terminal) })
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

/** Never over a file: keys may be encrypted under what it holds. No file at all if `check` refuses. */
async function makeSecret(
  source: KeySecretSource,
  check: (secret: KeySecret) => Promise<void>,
): Promise<KeySecret> {
  if (source.from !== 'file') {
    return refuseNewSecret('goes with --key-secret file:PATH', `a secret from the ${source.from}`)
  }
  const { path } = source
  if (existsSync(path)) refuseNewSecret(NOT_THERE, path)
  const secret = Uint8Array.from(randomBytes(SECRET_BYTES))
  await check(secret)
  const text = `${Buffer.from(secret).toString('hex')}\n`
  await writeFile(path, text, { flag: 'wx', mode: 0o600 }).catch((error: Error) =>
    refuseNewSecret(NOT_THERE, error.message, error),
  )
  return secret
}

const NOT_THERE = 'makes a file that is not there yet'

function refuseNewSecret(rule: string, finding: string, cause?: unknown): never {
  const mistake = { code: 'FLAG_VALUE_INVALID', thing: '--new-secret', rule, finding } as const
  return refuseCall(mistake, cause)
}
