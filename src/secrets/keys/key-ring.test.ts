/** Keys at rest: what is written, what is read back, and everything that is refused on the way. */
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { hex } from '../../../test/support/hex.ts'
import { mistakeOfPromise } from '../../../test/support/mistake-of-promise.ts'
import type { SecretFileWarning } from '../../documents/secret-file.ts'
import { dealShares, evaluatePlain } from '../poprf/index.ts'
import {
  DOMAINS_PURPOSE,
  generateKey,
  KEY_ERROR_CODES,
  publicKeyText,
  type ShareKey,
} from './key.ts'
import { MAX_KEYS, saveKey } from './key-directory.ts'
import { parseKeyText } from './key-file.ts'
import { liveKeys, loadKeys } from './key-ring.ts'
import { readKeySecret } from './key-secret.ts'

const secret = Uint8Array.from(randomBytes(32))
const single = generateKey()
const dealt = dealShares(2, 2)

const shareKey = (at: number): ShareKey => ({
  kind: 'share',
  purpose: DOMAINS_PURPOSE,
  secret: dealt.shares[at] ?? new Uint8Array(),
  polynomial: dealt.polynomial,
  publicKey: dealt.polynomial.slice(8, 104),
})

const directoryWith = async (...keys: readonly (typeof single | ShareKey)[]): Promise<string> => {
  const directory = join(temporaryFolder(), 'keys')
  for (const [at, key] of keys.entries()) await saveKey(directory, secret, key, at + 1)
  return directory
}

const fileOf = (directory: string, version = 1): string => join(directory, `key-${version}.json`)

/** Rewrites one field of a stored key, leaving its mode as it was. */
const change = (directory: string, field: string, value: unknown): void => {
  const file = JSON.parse(readFileSync(fileOf(directory), 'utf8'))
  writeFileSync(fileOf(directory), JSON.stringify({ ...file, [field]: value }))
}

describe('a stored key', () => {
  test('comes back as it was, a single one', async () => {
    const ring = await loadKeys(await directoryWith(single), secret)
    expect(ring.find(1)).toEqual(single)
    expect(ring.notices).toEqual([{ version: 1, kind: 'single', publicKey: publicKeyText(single) }])
  })

  test('comes back as it was, a share with its index and polynomial', async () => {
    const ring = await loadKeys(await directoryWith(shareKey(1)), secret)
    expect(ring.find(1)).toEqual(shareKey(1))
    expect(ring.notices).toEqual([
      { version: 1, kind: 'share', publicKey: publicKeyText(shareKey(1)), index: 2 },
    ])
  })

  test('is a file for its owner alone, that holds its secret nowhere in the clear', async () => {
    const directory = await directoryWith(single)
    expect(readdirSync(directory)).toEqual(['key-1.json'])
    expect(statSync(fileOf(directory)).mode & 0o777).toBe(0o600)
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    const text = readFileSync(fileOf(directory), 'utf8')
    expect(Object.keys(JSON.parse(text))).toEqual([
      'format',
      'suite',
      'purpose',
      'version',
      'kind',
      'publicKey',
      'cipher',
      'kdf',
      'iv',
      'tag',
      'ciphertext',
    ])
    expect(text).not.toContain(Buffer.from(single.secret).toString('base64'))
    expect(text).not.toContain(hex(single.secret))
  })

  test('is encrypted anew each time', async () => {
    const directory = await directoryWith(single, single)
    const [one, two] = [1, 2].map((at) => JSON.parse(readFileSync(fileOf(directory, at), 'utf8')))
    expect(one.ciphertext).not.toBe(two.ciphertext)
    expect(one.iv).not.toBe(two.iv)
  })
})

describe('rotation', () => {
  test('the highest version is the current one, and older ones still answer', async () => {
    const [first, second] = [generateKey(), generateKey()]
    const ring = await loadKeys(await directoryWith(first, second), secret)
    expect(ring.current).toBe(2)
    expect(ring.find(1)).toEqual(first)
    expect(ring.find(2)).toEqual(second)
    expect(ring.find(3)).toBeUndefined()
  })

  test('a new version can wait: the operator chooses the current one', async () => {
    const ring = await loadKeys(await directoryWith(single, single), secret, { current: 1 })
    expect(ring.current).toBe(1)
  })

  test('no two generated keys are alike', () => {
    expect(hex(generateKey().secret)).not.toBe(hex(generateKey().secret))
    const [tag, message] = [Uint8Array.of(1), Uint8Array.of(2)]
    expect(evaluatePlain(generateKey().secret, tag, message).length).toBe(32)
  })
})

test('wiped keys are zeros, and are found no more', async () => {
  const ring = await loadKeys(await directoryWith(single, shareKey(0)), secret)
  const held = [ring.find(1), ring.find(2)]
  ring.wipe()
  for (const key of held) expect(key?.secret.every((byte) => byte === 0)).toBe(true)
  expect(ring.find(1)).toBeUndefined()
})

test('of many key files, each that a group can read gets a warning', async () => {
  const directory = await directoryWith(single, shareKey(0), single)
  chmodSync(fileOf(directory, 1), 0o640)
  chmodSync(fileOf(directory, 3), 0o440)
  const told: (string | undefined)[] = []
  const onShared = ({ code, thing, finding }: SecretFileWarning) =>
    void told.push(`${code} ${thing} ${finding}`)
  expect((await loadKeys(directory, secret, { onShared })).notices).toHaveLength(3)
  expect(told.sort()).toEqual([
    `KEY_FILE_SHARED file ${fileOf(directory, 1)} mode 640`,
    `KEY_FILE_SHARED file ${fileOf(directory, 3)} mode 440`,
  ])
})

test('a key ring shows nothing of its keys when it is printed', async () => {
  const ring = await loadKeys(await directoryWith(single), secret)
  expect(JSON.stringify(ring)).not.toContain(Buffer.from(single.secret).toString('base64'))
  expect(JSON.stringify(ring)).not.toContain(String(single.secret.slice(0, 8)))
})

const otherSecret = () => Uint8Array.from(randomBytes(32))
const otherBase64 = (length: number): string => randomBytes(length).toString('base64')

/** Each makes a directory that must not open, or does something that must not be done. */
const REFUSED: readonly (readonly [string, string, () => Promise<unknown>])[] = [
  [
    'another secret',
    'KEY_UNDECIPHERABLE',
    async () => loadKeys(await directoryWith(single), otherSecret()),
  ],
  [
    'a secret of another length',
    'KEY_SECRET_INVALID',
    async () => loadKeys(await directoryWith(single), secret.slice(1)),
  ],
  [
    'a key for another service',
    'KEY_PURPOSE_WRONG',
    async () => loadKeys(await directoryWith(generateKey({ purpose: 'elsewhere' })), secret),
  ],
  [
    'a key for this service elsewhere',
    'KEY_PURPOSE_WRONG',
    async () => loadKeys(await directoryWith(single), secret, { purpose: 'elsewhere' }),
  ],
  [
    'a directory that is not there',
    'KEY_DIRECTORY_UNREADABLE',
    async () => loadKeys(join(temporaryFolder(), 'none'), secret),
  ],
  ['an empty directory', 'KEY_DIRECTORY_EMPTY', async () => loadKeys(temporaryFolder(), secret)],
  [
    'a current version that is not there',
    'KEY_VERSION_UNKNOWN',
    async () => loadKeys(await directoryWith(single), secret, { current: 2 }),
  ],
  [
    'a version that is there already',
    'KEY_VERSION_EXISTS',
    async () => saveKey(await directoryWith(single), secret, generateKey(), 1),
  ],
  [
    'a new key under another secret than those that are there',
    'KEY_UNDECIPHERABLE',
    async () => saveKey(await directoryWith(single), otherSecret(), generateKey(), 2),
  ],
  [
    'a key more than the bound',
    'KEY_DIRECTORY_FULL',
    async () => {
      const directory = await directoryWith(single)
      const file = JSON.parse(readFileSync(fileOf(directory), 'utf8'))
      for (let version = 2; version <= MAX_KEYS; version++) {
        writeFileSync(fileOf(directory, version), JSON.stringify({ ...file, version }), {
          mode: 0o600,
        })
      }
      return saveKey(directory, secret, generateKey(), MAX_KEYS + 1)
    },
  ],
  ['version 0', 'KEY_VERSION_INVALID', async () => saveKey(temporaryFolder(), secret, single, 0)],
  [
    'version 1.5',
    'KEY_VERSION_INVALID',
    async () => saveKey(temporaryFolder(), secret, single, 1.5),
  ],
  [
    'a version of ten digits',
    'KEY_VERSION_INVALID',
    async () => saveKey(temporaryFolder(), secret, single, 1_000_000_000),
  ],
  [
    'a public key of another key',
    'KEY_INCONSISTENT',
    async () =>
      saveKey(temporaryFolder(), secret, { ...single, publicKey: generateKey().publicKey }, 1),
  ],
  [
    'a share that is not on its polynomial',
    'KEY_INCONSISTENT',
    async () =>
      saveKey(
        temporaryFolder(),
        secret,
        { ...shareKey(0), polynomial: dealShares(2, 2).polynomial },
        1,
      ),
  ],
  [
    'a share under another public key',
    'KEY_INCONSISTENT',
    async () =>
      saveKey(temporaryFolder(), secret, { ...shareKey(0), publicKey: single.publicKey }, 1),
  ],
  [
    'a name that is not its version',
    'KEY_FILE_INVALID',
    async () => {
      const directory = await directoryWith(single)
      writeFileSync(fileOf(directory, 7), readFileSync(fileOf(directory)), { mode: 0o600 })
      return loadKeys(directory, secret)
    },
  ],
  [
    'a file beyond its bound',
    'KEY_FILE_INVALID',
    async () => {
      const directory = temporaryFolder()
      writeFileSync(fileOf(directory), ' '.repeat(70_000), { mode: 0o600 })
      return loadKeys(directory, secret)
    },
  ],
  [
    'a file that all can read',
    'KEY_FILE_EXPOSED',
    async () => {
      const directory = await directoryWith(single)
      chmodSync(fileOf(directory), 0o604)
      return loadKeys(directory, secret)
    },
  ],
  [
    'a directory that others can write',
    'KEY_DIRECTORY_EXPOSED',
    async () => {
      const directory = await directoryWith(single)
      chmodSync(directory, 0o770)
      return loadKeys(directory, secret)
    },
  ],
  [
    'a share in the clear under the name of a key file',
    'KEY_FILE_INVALID',
    async () => {
      const directory = await directoryWith(single)
      writeFileSync(fileOf(directory), hex(shareKey(0).secret))
      return loadKeys(directory, secret)
    },
  ],
  [
    'a share to import that comes without its polynomial',
    'KEY_IMPORT_INVALID',
    async () => parseKeyText(hex(shareKey(0).secret), 'share'),
  ],
  [
    'a version that became another key',
    'KEY_VERSION_CHANGED',
    async () => {
      const directories = [await directoryWith(single), await directoryWith(generateKey())]
      const ring = await liveKeys(() => loadKeys(directories.shift() ?? '', secret))
      return ring.reload()
    },
  ],
  [
    'more keys than the bound',
    'KEY_DIRECTORY_FULL',
    async () => {
      const directory = temporaryFolder()
      for (let at = 0; at <= MAX_KEYS; at++) writeFileSync(fileOf(directory, at), '{}')
      return loadKeys(directory, secret)
    },
  ],
  [
    'a secret that cannot be read',
    'KEY_SECRET_UNREADABLE',
    () => readKeySecret({ from: 'environment', name: 'NONE', environment: {} }),
  ],
  ...(
    [
      ['format', 2, 'KEY_FORMAT_UNKNOWN'],
      ['suite', 'ristretto255', 'KEY_FORMAT_UNKNOWN'],
      ['cipher', 'none', 'KEY_FORMAT_UNKNOWN'],
      ['kdf', 'scrypt', 'KEY_FORMAT_UNKNOWN'],
      ['version', 0, 'FIELD_VALUE'],
      ['kind', 'whole', 'FIELD_VALUE'],
      ['kind', 'share', 'FIELD_VALUE'],
      ['iv', 'AAA', 'FIELD_VALUE'],
      ['note', 'hello', 'FIELD_UNKNOWN'],
      ['publicKey', otherBase64(96), 'KEY_UNDECIPHERABLE'],
      ['iv', otherBase64(12), 'KEY_UNDECIPHERABLE'],
      ['iv', otherBase64(16), 'KEY_UNDECIPHERABLE'],
      ['tag', otherBase64(16), 'KEY_UNDECIPHERABLE'],
      ['tag', otherBase64(4), 'KEY_UNDECIPHERABLE'],
      ['ciphertext', otherBase64(32), 'KEY_UNDECIPHERABLE'],
    ] as const
  ).map(
    ([field, value, code]) =>
      [
        `a ${field} changed to ${value}`,
        code,
        async () => {
          const directory = await directoryWith(single)
          change(directory, field, value)
          return loadKeys(directory, secret)
        },
      ] as const,
  ),
]

describe('refused', () => {
  test.each(REFUSED)('%s: %s', async (_, code, call) => {
    const refusal = await mistakeOfPromise(call())
    expect(refusal.code).toBe(code)
    expect(refusal.finding).toMatch(/./)
  })

  test('no code is left out', () => {
    const codes = new Set(REFUSED.map(([, code]) => code).filter((code) => code.startsWith('KEY_')))
    expect([...codes].sort()).toEqual([...KEY_ERROR_CODES].sort())
  })

  test('no refusal reveals a secret, serialised or not', async () => {
    const forms = [secret, single.secret, shareKey(0).secret].flatMap((bytes) => [
      hex(bytes.slice(4, 8)),
      Buffer.from(bytes).toString('base64').slice(8, 16),
      String(bytes.slice(4, 8)),
    ])
    for (const [, , call] of REFUSED) {
      const refusal = await mistakeOfPromise(call())
      const told = [JSON.stringify(refusal), String(refusal), refusal.stack, String(refusal.cause)]
      for (const form of forms) expect(told.join('\n')).not.toContain(form)
    }
  })

  test('a refused write leaves no draft behind, and the old key in place', async () => {
    const directory = await directoryWith(single)
    await mistakeOfPromise(saveKey(directory, secret, generateKey(), 1))
    await mistakeOfPromise(saveKey(directory, otherSecret(), generateKey(), 2))
    expect(readdirSync(directory)).toEqual(['key-1.json'])
    expect((await loadKeys(directory, secret)).find(1)).toEqual(single)
    expect(existsSync(fileOf(directory))).toBe(true)
  })
})
