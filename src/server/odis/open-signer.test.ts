/** What a signer tells its log when it opens, and what it does beside answering. */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../../../test/support/cli.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { keyOptions, provideKey } from '../../../test/support/odis-process.ts'
import { days } from '../../core/index.ts'
import { AUDIT_STREAM } from '../../secrets/index.ts'
import { sqliteStore } from '../../stores/sqlite/index.ts'
import { fakeClock } from '../../testing/index.ts'
import { SILENT } from '../log.ts'
import { type OpenSigner, openSigner } from './open-signer.ts'
import { type OdisFlags, readSignerSettings } from './signer-options.ts'

const opened = async (folder: string, odis: OdisFlags = {}) => {
  const told: object[] = []
  const settings = readSignerSettings({
    flags: { store: `sqlite:${join(folder, 'signer.db')}` },
    odis: { ...keyOptions(folder), workers: '1', ...odis },
    environment: {},
    allowSingleKey: false,
    allowMemory: false,
  })
  const log = { ...SILENT, warn: (facts: object) => void told.push(facts) }
  return { signer: await openSigner(settings, log), told }
}

const folderWithKeys = async (): Promise<string> => {
  const folder = temporaryFolder()
  await provideKey(folder)
  await provideKey(folder, 2)
  return folder
}

test('files with secrets that a group can read are told once each, and used', async () => {
  const folder = await folderWithKeys()
  const exposed = [join(folder, 'secret'), join(folder, 'keys/key-2.json')]
  for (const file of exposed) chmodSync(file, 0o640)
  const { signer, told } = await opened(folder)
  await signer.close()
  expect(told).toEqual(
    exposed.map((file) => ({
      code: 'KEY_FILE_SHARED',
      thing: `file ${file}`,
      rule: 'should be readable by its owner only (chmod 600)',
      finding: 'mode 640',
    })),
  )
})

test('a file with a secret that all can read stops the start', async () => {
  for (const name of ['secret', 'keys/key-1.json']) {
    const folder = await folderWithKeys()
    chmodSync(join(folder, name), 0o644)
    await expect(opened(folder)).rejects.toMatchObject({
      code: 'KEY_FILE_EXPOSED',
      thing: `file ${join(folder, name)}`,
    })
  }
})

/** A database with one entry of the year 2024. */
const withOldEntry = async (folder: string): Promise<void> => {
  const clock = fakeClock('2024-01-01T00:00:00Z')
  const store = sqliteStore({ path: join(folder, 'signer.db'), clock })
  const entry = JSON.stringify({ at: clock(), event: 'signed', record: 'secrets/domain/ab' })
  await store.transact(() => ({
    writes: [],
    appends: [{ stream: AUDIT_STREAM, entry }],
    result: undefined,
  }))
  await store.close()
}

const kept = async ({ store }: OpenSigner): Promise<number> =>
  (await store.read(AUDIT_STREAM, 0, 10)).length

test('old audit entries are forgotten while a signer runs', async () => {
  const folder = await folderWithKeys()
  await withOldEntry(folder)
  const { signer } = await opened(folder)
  expect(signer.settings.keepAudit).toBe(days(90))
  await until(async () => (await kept(signer)) === 0)
  await signer.close()
})

test('or kept, if it is told so', async () => {
  const folder = await folderWithKeys()
  await withOldEntry(folder)
  const { signer } = await opened(folder, { 'audit-days': 'forever' })
  // Nothing is looked at, so there is nothing to wait for.
  await signer.store.transact(() => ({ writes: [], appends: [], result: undefined }))
  expect(await kept(signer)).toBe(1)
  await signer.close()
})
