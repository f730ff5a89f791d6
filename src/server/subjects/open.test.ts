import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { configFolder } from '../../../test/support/config-folder.ts'
import { generateIdentity } from '../../subjects/index.ts'
import { openHeadgate } from '../app/headgate.ts'
import { SILENT } from '../app/log.ts'
import { DEFAULT_SETTINGS } from '../config/settings.ts'
import { openIdentity } from './open.ts'

const CONFIG = 'limits: {Foos: {id: opaque, burst: 2, count: 1, period: 1h}}'

const setUp = (section: string) => {
  const { path } = configFolder({ 'headgate.yml': `${CONFIG}\n${section}` })
  const file = join(path, 'headgate.db')
  const warnings: object[] = []
  const log = { ...SILENT, warn: (facts: object) => void warnings.push(facts) }
  const open = async (environment: Record<string, string> = {}) => {
    const flags = { config: join(path, 'headgate.yml'), store: `sqlite:${file}` }
    const headgate = await openHeadgate({ flags, environment, log })
    onTestFinished(() => headgate.close())
    return headgate
  }
  return { open, file, path, warnings }
}

describe('the identity of a server', () => {
  test('that is made beside a store of other machines comes with a warning, once', async () => {
    const { path, warnings } = setUp('')
    const log = { ...SILENT, warn: (facts: object) => void warnings.push(facts) }
    const file = join(path, 'own.key')
    const at = (store: string, keyFile: string) =>
      openIdentity({ ...DEFAULT_SETTINGS, store, subjects: { keyFile } }, {}, log)
    const first = await at('postgres://db/headgate', file)
    expect(warnings).toEqual([{ file }])
    expect((await at('postgres://db/headgate', file))?.did).toBe(first?.did)
    await at('sqlite:headgate.db', join(path, 'other.key'))
    expect(warnings).toHaveLength(1)
  })

  test('is made at the first start, kept beside the store for its owner only, and stays', async () => {
    const { open, file } = setUp('subjects: {}')
    const first = await open()
    expect(first.subjects?.identity.did).toMatch(/^did:key:z6Mk/)
    expect(statSync(`${file}.key`).mode & 0o777).toBe(0o600)
    expect((await open()).subjects?.identity.did).toBe(first.subjects?.identity.did)
  })

  test('comes from the environment, which turns subjects on and leaves no file', async () => {
    const { open, file } = setUp('')
    const { secret, did } = generateIdentity()
    expect((await open({ HEADGATE_UCAN_KEY: secret })).subjects?.identity.did).toBe(did)
    expect(existsSync(`${file}.key`)).toBe(false)
  })

  test('is a did:web where the section says so', async () => {
    const { open, path } = setUp('subjects: { identity: "did:web:hg.example", keyFile: my.key }')
    const { subjects } = await open()
    expect(subjects?.identity.did).toBe('did:web:hg.example')
    expect(readFileSync(join(path, 'my.key'), 'utf8').trim()).toBe(subjects?.identity.secret)
  })

  test('in a file that a group can read is logged once; in one that all can read, refused', async () => {
    const { open, file, warnings } = setUp('subjects: {}')
    const first = await open()
    expect(warnings).toEqual([])
    chmodSync(`${file}.key`, 0o640)
    expect((await open()).subjects?.identity.did).toBe(first.subjects?.identity.did)
    expect(warnings).toMatchObject([
      { code: 'KEY_FILE_SHARED', thing: `file ${file}.key`, finding: 'mode 640' },
    ])
    chmodSync(`${file}.key`, 0o644)
    await expect(open()).rejects.toMatchObject({ code: 'KEY_FILE_EXPOSED' })
  })

  test('that cannot be read stops the start, closes the store and is not repeated', async () => {
    const { open } = setUp('')
    const opening = open({ HEADGATE_UCAN_KEY: 'MgSecretText' })
    await expect(opening).rejects.toMatchObject({ code: 'KEY_INVALID' })
    await expect(opening).rejects.not.toThrow('SecretText')
  })
})

test('without section and key, subjects are off', async () => {
  const { open } = setUp('')
  expect((await open()).subjects).toBeUndefined()
})

test('a block in the store is in force from the first question on', async () => {
  const { open } = setUp('subjects: {}')
  const { subjects } = await open()
  await subjects?.rates.add({ subject: 'a.test', rate: 0 }, { issuer: 'test', chain: [] })
  const { limiter } = await open()
  const ask = { limit: 'Foos', id: 'ann', subjects: ['ann@a.test'] }
  expect(await limiter.spend(ask)).toMatchObject({ allowed: false, reason: 'BLOCKED' })
})
