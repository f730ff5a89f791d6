/** `headgate odis keygen` and `odis keys import`: how keys come into a signer's key directory. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode } from '../core/errors.ts'
import { checkSecretFile } from '../documents/secret-file.ts'
import { flagsOf } from '../documents/settings/reference.ts'
import type { KeySecret, KeySecretSource, SignerKey } from '../secrets/index.ts'
import { SIGNER_SETTINGS } from '../server/api.ts'
import { type CliCommand, type CommandCall, refuseCall } from './command.ts'
import { flagTexts, JSON_FLAG, refuseValue } from './flags.ts'
import { tell, warnOfSharedSecret } from './terminal.ts'

const KEY_FLAGS = flagsOf(SIGNER_SETTINGS, ['keys', 'keySecret'])

const NEW_SECRET = {
  name: 'new-secret',
  summary: 'Make the file of --key-secret file:PATH too; it must not be there.',
}

export const odisKeyCommands: readonly CliCommand[] = [
  {
    name: 'odis keygen',
    summary: 'Make a single key for a signer, for development. Production signers hold shares.',
    operands: [],
    flags: [
      ...KEY_FLAGS,
      { name: 'key-version', value: 'N', summary: 'Which version it is; 1. Never written over.' },
      NEW_SECRET,
      JSON_FLAG,
    ],
    run: makeKey,
  },
  {
    name: 'odis keys import',
    summary:
      'Take a share or a key from FILE, or from standard input if it is -, and keep it encrypted.',
    operands: [{ name: 'FILE' }],
    flags: [
      ...KEY_FLAGS,
      {
        name: 'key-version',
        value: 'N',
        summary: 'Which version it is. Only a key file of Headgate says so itself.',
      },
      {
        name: 'polynomial',
        value: 'TEXT',
        summary: 'The public polynomial of the shared key, in hex or base64.',
      },
      {
        name: 'from-secret',
        value: 'SOURCE',
        summary: 'What encrypts a key file of Headgate; as --key-secret.',
      },
      NEW_SECRET,
      JSON_FLAG,
    ],
    run: importKey,
  },
]

/** A single key, kept encrypted; only what is public of it is printed. */
async function makeKey(call: CommandCall): Promise<0> {
  const { generateKey } = await import('../secrets/index.ts')
  const version = await readVersion(call, '1')
  await keepKey(call, version, async () => generateKey(), [
    '',
    'The whole key is in one hand: a signer uses it on a loopback address only, unless --allow-single-key is given.',
  ])
  return 0
}

/** A key that was made elsewhere. What was read is wiped; the file is left to its owner. */
async function importKey(call: CommandCall): Promise<0> {
  const { flags, operands } = call
  const { parseKeyText } = await import('../secrets/keys/key-file.ts')
  const [path = ''] = operands
  const bytes = await readInput(path, call)
  const name = path === '-' ? 'standard input' : path
  const found = parseKeyText(bytes.toString('latin1'), name, flags.text('polynomial'))
  bytes.fill(0)
  const version = await readVersion(
    call,
    found.kind === 'sealed' ? String(found.file.version) : undefined,
  )
  await keepKey(call, version, async (secret) => {
    if (found.kind === 'open') return found.key
    const { DOMAINS_PURPOSE, wipe } = await import('../secrets/index.ts')
    const { unsealKey } = await import('../secrets/keys/seal.ts')
    const from = (await readFromSecret(call)) ?? secret
    try {
      return unsealKey(found.file, from, DOMAINS_PURPOSE)
    } finally {
      if (from !== secret) wipe(from)
    }
  })
  return 0
}

/** Opens the secret, saves the key that `make` gives, wipes both, and tells what is public of it. */
async function keepKey(
  call: CommandCall,
  version: number,
  make: (secret: KeySecret) => Promise<SignerKey>,
  more: readonly string[] = [],
): Promise<void> {
  const { flags, environment, terminal } = call
  const { readKeyOptions } = await import('../server/local.ts')
  const { publicKeyText, readKeySecret, saveKey, wipe } = await import('../secrets/index.ts')
  const { checkNewKey } = await import('../secrets/keys/key-directory.ts')
  const given = { flags: flagTexts(SIGNER_SETTINGS, flags), environment }
  const { keys, keySecret } = readKeyOptions(given)
  const secret = flags.has('new-secret')
    ? await makeSecret(keySecret, (made) => checkNewKey(keys, made, version))
    : await readKeySecret(keySecret, { onShared: warnOfSharedSecret(terminal) })
  let key: SignerKey | undefined
  try {
    key = await make(secret)
    await saveKey(keys, secret, key, version)
  } finally {
    if (key !== undefined) wipe(key.secret)
    wipe(secret)
  }
  const { kind, purpose } = key
  const file = join(keys, `key-${version}.json`)
  const facts = { version, kind, purpose, publicKey: publicKeyText(key), file }
  tell(call, facts, ({ publicKey }) =>
    [`key ${version}, encrypted in ${file}`, `public key, for clients: ${publicKey}`, ...more].join(
      '\n',
    ),
  )
}

/** What could be a key is not repeated: typed in the place of a file, it is in a shell's history already. */
const LIKE_A_KEY = /^(?:0x)?[0-9A-Za-z+/]{40,}={0,2}$/

/** A file of the ceremony or of a key has less. */
const MAX_INPUT_BYTES = 65_536

async function readInput(path: string, { terminal }: CommandCall): Promise<Buffer> {
  if (LIKE_A_KEY.test(path)) {
    const rule =
      'must be the name of a file, or -; a key is never an argument, where others can see it'
    return refuseInput('FILE', rule, 'what looks like a key')
  }
  if (path === '-') return readBounded('standard input', process.stdin)
  const unreadable = (error: unknown) => refuseInput(path, 'must be readable', systemCode(error))
  const file = await open(path, 'r').catch(unreadable)
  try {
    checkSecretFile(path, await file.stat(), warnOfSharedSecret(terminal))
    return await readBounded(path, [await file.readFile().catch(unreadable)])
  } finally {
    await file.close()
  }
}

async function readBounded(
  thing: string,
  stream: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.length
    if (size > MAX_INPUT_BYTES)
      refuseInput(thing, `must be at most ${MAX_INPUT_BYTES} bytes`, 'more')
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  for (const chunk of chunks) chunk.fill(0)
  return bytes
}

function refuseInput(thing: string, rule: string, finding: string): never {
  return refuseCall({ code: 'FILE_UNREADABLE', thing, rule, finding })
}

/** Undefined if it was not given. */
async function readFromSecret(call: CommandCall): Promise<KeySecret | undefined> {
  const { flags, environment, terminal } = call
  const text = flags.text('from-secret')
  if (text === undefined) return undefined
  const { readKeySecret } = await import('../secrets/index.ts')
  const { reader } = SIGNER_SETTINGS.keySecret
  const source = reader.fromText(
    { code: 'FLAG_VALUE_INVALID', thing: '--from-secret', text },
    { environment },
  )
  return readKeySecret(source, { onShared: warnOfSharedSecret(terminal) })
}

async function readVersion({ flags }: CommandCall, usual: string | undefined): Promise<number> {
  const { MAX_KEY_VERSION } = await import('../secrets/index.ts')
  const text = flags.text('key-version') ?? usual ?? ''
  const version = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (version >= 1) return version
  return refuseValue('--key-version', `must be a whole number from 1 to ${MAX_KEY_VERSION}`, text)
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
