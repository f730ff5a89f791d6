import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import { openKeyFile } from './key-file.ts'

test('the first start makes a key that only its owner can read; later ones find it', async () => {
  const path = scratchFile('ucan.key')
  const first = await openKeyFile({ path })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect((await openKeyFile({ path })).did).toBe(first.did)
})

test('many starts at once end up with one key and leave nothing else behind', async () => {
  const path = scratchFile('ucan.key')
  const identities = await Promise.all(Array.from({ length: 20 }, () => openKeyFile({ path })))
  expect(new Set(identities.map(({ did }) => did)).size).toBe(1)
  expect(readdirSync(dirname(path))).toEqual(['ucan.key'])
})

test('the key can go by a did:web', async () => {
  const path = scratchFile('ucan.key')
  expect((await openKeyFile({ path, did: 'did:web:example.com' })).did).toBe('did:web:example.com')
})

test('a file that holds no key is refused, and not overwritten', async () => {
  const path = scratchFile('ucan.key')
  writeFileSync(path, 'hello', { mode: 0o600 })
  await expect(openKeyFile({ path })).rejects.toMatchObject({ code: 'KEY_INVALID' })
})

test('a place where no file can be made is refused with its path', async () => {
  const path = `${scratchFile('nowhere')}/ucan.key`
  await expect(openKeyFile({ path })).rejects.toMatchObject({
    code: 'KEY_FILE_UNUSABLE',
    thing: `key file ${path}`,
    finding: 'ENOENT',
  })
})

test('a file that a group can read brings a warning, and opens all the same; a new one brings none', async () => {
  const path = scratchFile('ucan.key')
  const warnings: unknown[] = []
  const open = () => openKeyFile({ path, onShared: (warning) => void warnings.push(warning) })
  const { did } = await open()
  expect(warnings).toEqual([])
  chmodSync(path, 0o640)
  expect((await open()).did).toBe(did)
  expect(warnings).toEqual([
    {
      code: 'KEY_FILE_SHARED',
      thing: `file ${path}`,
      rule: 'should be readable by its owner only (chmod 600)',
      finding: 'mode 640',
    },
  ])
})

test('a file that all can read is refused', async () => {
  const path = scratchFile('ucan.key')
  await openKeyFile({ path })
  chmodSync(path, 0o644)
  await expect(openKeyFile({ path })).rejects.toMatchObject({ code: 'KEY_FILE_EXPOSED' })
})

test('a folder in the place of the file is refused', async () => {
  const path = scratchFile('ucan.key')
  mkdirSync(path, { mode: 0o700 })
  await expect(openKeyFile({ path })).rejects.toMatchObject({
    code: 'KEY_FILE_UNUSABLE',
    finding: 'EISDIR',
  })
})
