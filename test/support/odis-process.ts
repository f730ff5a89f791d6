/** `headgate odis signer` as a process, with a key of its own. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Endpoint } from '../../src/secrets/domains/domain-kind.ts'
import { generateKey, publicKeyText, saveKey } from '../../src/secrets/index.ts'
import { type Reply, replyTo } from './odis-http.ts'
import { type Served, startServer } from './serve.ts'
import { ROOT } from './sources.ts'

/** Puts a secret and a single key into a folder; answers the public key. */
export const provideKey = async (folder: string, version = 1): Promise<string> => {
  const secret = new Uint8Array(32).fill(SECRET_BYTE)
  const text = SECRET_BYTE.toString(16).repeat(32)
  writeFileSync(join(folder, 'secret'), text, { mode: 0o600 })
  const key = generateKey()
  await saveKey(join(folder, 'keys'), secret, key, version)
  return publicKeyText(key)
}

const SECRET_BYTE = 0x5a

/** The same by the command, with the flags of `keyFlags`. */
export const keygen = (folder: string, ...more: readonly string[]): string => {
  const words = ['odis', 'keygen', ...keyFlags(folder), '--json', ...more]
  const main = join(ROOT, 'dist/cli/main.js')
  return JSON.parse(execFileSync(process.execPath, [main, ...words], { encoding: 'utf8' }))
    .publicKey
}

/** Over the keys and the database of a folder; without a limit per address unless `more` sets one. */
export const startSigner = (folder: string, ...more: readonly string[]): Promise<Served> =>
  startServer(signerWords(folder, ...more))

/** The command that does that. */
export const signerWords = (folder: string, ...more: readonly string[]): readonly string[] => [
  'odis',
  'signer',
  ...keyFlags(folder),
  '--store',
  `sqlite:${join(folder, 'signer.db')}`,
  ...(more.includes('--limit-per-address') ? [] : ['--limit-per-address', 'none']),
  ...more,
]

/** Where `provideKey` put them. */
export const keyOptions = (folder: string) => ({
  keys: join(folder, 'keys'),
  'key-secret': `file:${join(folder, 'secret')}`,
})

export const keyFlags = (folder: string): readonly string[] =>
  Object.entries(keyOptions(folder)).flatMap(([name, value]) => [`--${name}`, value])

/** Rejects if the signer ends before it answers. */
export const askSigner = (
  { url }: Pick<Served, 'url'>,
  endpoint: Endpoint,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> => replyTo(`${url}/domain/${endpoint}`, JSON.stringify(body), headers)
