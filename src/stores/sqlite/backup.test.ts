import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { everything } from '../../../test/support/everything.ts'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import type { Store } from '../../core/store.ts'
import { millis } from '../../core/time.ts'
import { backupSqlite, inspectSqlite } from './backup.ts'
import { openDatabaseFile } from './driver.ts'
import { sqlite } from './store.ts'

const NOBODY = 65_534

const opened = (path: string, readOnly = false): Store => {
  const store = sqlite({ path, readOnly, patience: millis(50) })
  onTestFinished(() => store.close())
  return store
}

const put = (store: Store, key: string) =>
  store.transact(() => ({
    writes: [{ key, value: 'x' }],
    appends: [{ stream: 's', entry: key }],
    result: undefined,
  }))

const look = (store: Store, key: string) =>
  store.transact((view) => ({ writes: [], appends: [], result: view.read(key) }))

/** The lock that writing takes, as of another process. */
const lockFile = (path: string): void => {
  const other = openDatabaseFile(path, { timeout: 0 })
  other.exec('BEGIN IMMEDIATE')
  onTestFinished(() => other.close())
}

/** As one who may read the file and write neither it nor its folder. */
const asReader = <T>(path: string, work: () => T): T => {
  chmodSync(path, 0o444)
  chmodSync(dirname(path), 0o555)
  const isRoot = process.geteuid?.() === 0
  try {
    if (isRoot) process.seteuid?.(NOBODY)
    return work()
  } finally {
    if (isRoot) process.seteuid?.(0)
    chmodSync(dirname(path), 0o755)
  }
}

describe('a backup', () => {
  test('is all of one moment, while the file is written, and opens as a store', async () => {
    const [path, to] = [scratchFile(), scratchFile('copy.db')]
    const store = opened(path)
    for (let i = 0; i < 50; i++) await put(store, `k${i}`)
    const later = put(store, 'later')
    const found = backupSqlite({ from: path, to })
    await later
    expect(found).toEqual({ keys: 50, entries: 50, bytes: statSync(to).size })
    const copy = opened(to)
    expect((await everything(copy)).map(({ key }) => key)).not.toContain('later')
    expect(await copy.read('s', 0, 100)).toEqual((await store.read('s', 0, 100)).slice(0, 50))
    await put(copy, 'new')
    expect(statSync(to).mode & 0o077).toBe(0)
  })

  test('needs no lock: one who writes all the while is not waited for', async () => {
    const [path, to] = [scratchFile(), scratchFile('copy.db')]
    await put(opened(path), 'a')
    lockFile(path)
    expect(backupSqlite({ from: path, to })).toMatchObject({ keys: 1 })
  })

  test('of a fenced file is fenced too', async () => {
    const [path, to] = [scratchFile(), scratchFile('copy.db')]
    await opened(path).moving?.fence('moved')
    backupSqlite({ from: path, to })
    await expect(put(opened(to), 'a')).rejects.toMatchObject({ code: 'STORE_FENCED' })
  })

  test('never takes the place of a file, and leaves none where it failed', async () => {
    const [path, to] = [scratchFile(), scratchFile('copy.db')]
    await put(opened(path), 'a')
    writeFileSync(to, 'mine')
    const refused = expect.objectContaining({ code: 'STORE_BACKUP_FAILED' })
    expect(() => backupSqlite({ from: path, to })).toThrow(refused)
    expect(readFileSync(to, 'utf8')).toBe('mine')
    const noFile = expect.objectContaining({ code: 'STORE_UNOPENABLE' })
    expect(() => backupSqlite({ from: `${path}-none`, to: `${to}2` })).toThrow(noFile)
    const foreign = expect.objectContaining({ code: 'STORE_NOT_A_DATABASE' })
    expect(() => backupSqlite({ from: to, to: `${to}2` })).toThrow(foreign)
    expect(() => backupSqlite({ from: path, to: join(to, 'none', 'b.db') })).toThrow(refused)
    expect(readdirSync(dirname(to))).toEqual(['copy.db'])
  })
})

describe('one who only looks', () => {
  test('waits for no lock, not even to open the file, and sees what is committed meanwhile', async () => {
    const path = scratchFile()
    const store = opened(path)
    await put(store, 'a')
    const looker = opened(path, true)
    await put(store, 'b')
    expect(await look(looker, 'b')).toEqual(['x'])
    lockFile(path)
    expect(await look(opened(path, true), 'a')).toEqual(['x'])
    expect(await looker.range('list', '', 10)).toEqual([])
  })

  test('changes nothing', async () => {
    const path = scratchFile()
    await put(opened(path), 'a')
    const looker = opened(path, true)
    await expect(put(looker, 'b')).rejects.toMatchObject({ code: 'STORE_READ_ONLY' })
    expect(await look(looker, 'b')).toEqual([undefined])
    const absent = scratchFile()
    expect(() => opened(absent, true)).toThrow(
      expect.objectContaining({ code: 'STORE_UNOPENABLE' }),
    )
    expect(existsSync(absent)).toBe(false)
  })

  test('needs no right to write the file or its folder', async () => {
    const path = scratchFile()
    const store = opened(path)
    await put(store, 'a')
    await store.close()
    for (const part of readdirSync(dirname(path))) chmodSync(join(dirname(path), part), 0o644)
    const looker = asReader(path, () => opened(path, true))
    expect(await look(looker, 'a')).toEqual(['x'])
  })
})

test('an inspection tells what a file is like, and makes none', async () => {
  const path = scratchFile()
  expect(inspectSqlite(path)).toMatchObject({ exists: false, faults: [] })
  expect(existsSync(path)).toBe(false)
  await put(opened(path), 'a')
  expect(inspectSqlite(path)).toMatchObject({
    exists: true,
    facts: { format: 2, journal: 'wal', entries: 1 },
    faults: [],
  })
  expect(inspectSqlite(join(path, 'none', 'a.db')).faults).toEqual([
    'files cannot be made in its folder here',
  ])
  const folder = join(dirname(path), 'folder')
  mkdirSync(folder)
  expect(() => inspectSqlite(folder)).toThrow(expect.objectContaining({ code: 'STORE_UNOPENABLE' }))
})
