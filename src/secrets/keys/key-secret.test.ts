/** The secret that encrypts keys: where it comes from, and what is refused. */
import { randomBytes } from 'node:crypto'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { hex } from '../../../test/support/hex.ts'
import { mistakeOfPromise } from '../../../test/support/mistake-of-promise.ts'
import type { SecretFileWarning } from '../../documents/secret-file.ts'
import { readKeySecret } from './key-secret.ts'

const secret = Uint8Array.from(randomBytes(32))

const written = (text: string | Buffer, mode = 0o600): string => {
  const path = join(temporaryFolder(), 'secret')
  writeFileSync(path, text, { mode })
  return path
}
const print = (text: string) =>
  ({
    from: 'command',
    command: process.execPath,
    arguments: ['-e', `process.stdout.write(${JSON.stringify(text)})`],
  }) as const

test('is read as hex or base64, with or without a line end, from all three places', async () => {
  const environment = { KEY: hex(secret) }
  for (const source of [
    { from: 'file', path: written(`${hex(secret)}\n`) },
    { from: 'file', path: written(Buffer.from(secret).toString('base64')) },
    { from: 'environment', name: 'KEY', environment },
    print(`${hex(secret).toUpperCase()}\r\n`),
  ] as const) {
    expect(hex(await readKeySecret(source))).toBe(hex(secret))
  }
})

test.each([
  ['a password', 'correct horse battery staple'],
  ['too few bytes', 'ab'.repeat(31)],
  ['too many bytes', 'ab'.repeat(33)],
  ['nothing', ''],
  ['base64 with spare bits', `${'A'.repeat(42)}B=`],
  ['more than anything sensible', 'a'.repeat(4_000)],
])('%s is refused', async (_, text) => {
  const refusal = await mistakeOfPromise(readKeySecret({ from: 'file', path: written(text) }))
  expect(refusal.code).toBe('KEY_SECRET_INVALID')
  if (text !== '') expect(refusal.message).not.toContain(text)
})

test('what cannot be read is refused', async () => {
  for (const source of [
    { from: 'file', path: join(temporaryFolder(), 'none') },
    { from: 'environment', name: 'KEY', environment: {} },
    { from: 'command', command: process.execPath, arguments: ['-e', 'process.exit(3)'] },
    { from: 'command', command: join(temporaryFolder(), 'none'), arguments: [] },
    print('x'.repeat(1_000)),
  ] as const) {
    const refusal = await mistakeOfPromise(readKeySecret(source))
    expect(refusal.code).toBe('KEY_SECRET_UNREADABLE')
  }
})

test('a file that a group can read gets one warning, and is read all the same', async () => {
  const path = written(hex(secret))
  chmodSync(path, 0o640)
  const told: SecretFileWarning[] = []
  const onShared = (warning: SecretFileWarning) => void told.push(warning)
  expect(hex(await readKeySecret({ from: 'file', path }, { onShared }))).toBe(hex(secret))
  expect(told).toMatchObject([{ code: 'KEY_FILE_SHARED', thing: `file ${path}` }])
  expect(hex(await readKeySecret({ from: 'file', path }))).toBe(hex(secret))
})

test('a file that a group can write is refused', async () => {
  const path = written(hex(secret))
  chmodSync(path, 0o620)
  const refusal = await mistakeOfPromise(readKeySecret({ from: 'file', path }))
  expect(refusal).toMatchObject({ code: 'KEY_FILE_EXPOSED', finding: 'mode 620' })
})

test('a folder in the place of the file is refused', async () => {
  const refusal = await mistakeOfPromise(readKeySecret({ from: 'file', path: temporaryFolder() }))
  expect(refusal).toMatchObject({ code: 'KEY_SECRET_UNREADABLE', finding: 'EISDIR' })
})
