/** The key that encrypts keys: 256 bits from a file, the environment or a command. Never a password. */
import { execFile } from 'node:child_process'
import { open } from 'node:fs/promises'
import { systemCode } from '../../core/errors.ts'
import { checkSecretFile, type SecretFileListener } from '../../documents/secret-file.ts'
import { type Bytes, secretCopy } from '../poprf/bytes.ts'
import { refuseKey, wipe } from './key.ts'

/** 32 bytes. The caller that read it wipes it once the keys are open. */
export type KeySecret = Bytes

export type KeySecretSource =
  | { readonly from: 'file'; readonly path: string }
  | {
      readonly from: 'environment'
      readonly name: string
      /** Default: the process's. */
      readonly environment?: Readonly<Record<string, string | undefined>>
    }
  /** Run without a shell; its standard output is the secret. */
  | { readonly from: 'command'; readonly command: string; readonly arguments: readonly string[] }

const SECRET_BYTES = 32

/** The two texts are 64 and 44 characters; the rest is room for line ends. */
const MAX_SECRET_TEXT = 128

/** A key management service that takes longer has failed. */
const COMMAND_TIMEOUT_MS = 30_000

export interface ReadSecretOptions {
  /** Called for a file that a group can read too. */
  readonly onShared?: SecretFileListener
}

export const readKeySecret = async (
  source: KeySecretSource,
  { onShared }: ReadSecretOptions = {},
): Promise<KeySecret> => {
  const text = await readSource(source, onShared)
  try {
    return decode(text, describe(source))
  } finally {
    wipe(text)
  }
}

/** Hex or base64, with or without a line end. Messages do not repeat what was found. */
function decode(text: Buffer, thing: string): KeySecret {
  const trimmed = text.toString('latin1').trim()
  const encoding = /^[0-9a-fA-F]{64}$/.test(trimmed) ? 'hex' : 'base64'
  const bytes = Buffer.from(trimmed, encoding)
  const canonical = encoding === 'hex' || bytes.toString('base64') === trimmed
  const secret = secretCopy(bytes)
  bytes.fill(0)
  if (canonical && secret.length === SECRET_BYTES) return secret
  wipe(secret)
  return refuseSecretText(thing, `${trimmed.length} characters`)
}

/** For a secret that did not come from `readKeySecret`. */
export const requireSecret = (secret: KeySecret): KeySecret =>
  secret.length === SECRET_BYTES ? secret : refuseSecretText('secret', `${secret.length} bytes`)

function refuseSecretText(thing: string, finding: string): never {
  const rule = `must be ${SECRET_BYTES} random bytes, as 64 hex digits or in base64 where it is text`
  return refuseKey({ code: 'KEY_SECRET_INVALID', thing, rule, finding })
}

function describe(source: KeySecretSource): string {
  switch (source.from) {
    case 'file':
      return `secret file ${source.path}`
    case 'environment':
      return `secret in ${source.name}`
    case 'command':
      return `secret of the command ${source.command}`
    default:
      return source satisfies never
  }
}

async function readSource(
  source: KeySecretSource,
  onShared: SecretFileListener | undefined,
): Promise<Buffer> {
  switch (source.from) {
    case 'file':
      return readFile(source.path, describe(source), onShared)
    case 'environment': {
      const text = (source.environment ?? process.env)[source.name]
      return text === undefined ? unreadable(describe(source), 'nothing') : Buffer.from(text)
    }
    case 'command':
      return run(source.command, source.arguments, describe(source))
    default:
      return source satisfies never
  }
}

async function readFile(
  path: string,
  thing: string,
  onShared: SecretFileListener | undefined,
): Promise<Buffer> {
  const file = await open(path, 'r').catch((error) => unreadable(thing, systemCode(error)))
  try {
    checkSecretFile(path, await file.stat(), onShared)
    const buffer = Buffer.alloc(MAX_SECRET_TEXT + 1)
    const { bytesRead } = await file
      .read(buffer, 0, buffer.length, 0)
      .catch((error) => unreadable(thing, systemCode(error)))
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

function run(command: string, words: readonly string[], thing: string): Promise<Buffer> {
  const limits = { timeout: COMMAND_TIMEOUT_MS, maxBuffer: MAX_SECRET_TEXT } as const
  return new Promise((resolve, reject) => {
    execFile(command, [...words], { ...limits, encoding: 'buffer' }, (error, stdout) => {
      if (error === null) return resolve(stdout)
      stdout.fill(0)
      try {
        unreadable(thing, `a failure (${systemCode(error)})`)
      } catch (refusal) {
        reject(refusal)
      }
    })
  })
}

function unreadable(thing: string, finding: string): never {
  return refuseKey({ code: 'KEY_SECRET_UNREADABLE', thing, rule: 'must be readable', finding })
}
