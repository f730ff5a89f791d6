import { chmodSync, copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { everything } from '../../../test/support/everything.ts'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import { millis } from '../../core/time.ts'
import { APPLICATION_ID, MIGRATIONS, migrate } from './database.ts'
import { type Database, openDatabaseFile } from './driver.ts'
import { sqlite } from './store.ts'

test('a missing file is created for its owner alone', async () => {
  const path = scratchFile()
  const store = sqlite({ path })
  await store.transact(() => ({ writes: [{ key: 'a', value: '1' }], appends: [], result: 0 }))
  expect([path, `${path}-wal`, `${path}-shm`].map(modeOf)).toEqual(['600', '600', '600'])
  await store.close()
})

test('after a close everything is in the file itself, and a copy of it has all', async () => {
  const path = scratchFile()
  const store = sqlite({ path })
  await store.transact(() => ({ writes: [{ key: 'a', value: '1' }], appends: [], result: 0 }))
  await store.close()
  const copy = scratchFile()
  copyFileSync(path, copy)
  const copied = sqlite({ path: copy })
  expect(await everything(copied)).toEqual([{ key: 'a', value: '1' }])
  await copied.close()
})

test('an empty file is as good as none', async () => {
  const path = scratchFile()
  writeFileSync(path, '')
  const store = sqlite({ path })
  expect(await everything(store)).toEqual([])
  await store.close()
})

describe('what cannot be a store is refused by name, and left as it was', () => {
  test.each(['', ':memory:', 'a\0b'])('a path that names no file: %j', (path) => {
    expect(() => sqlite({ path })).toThrow(
      expect.objectContaining({ code: 'STORE_PATH_INVALID', finding: JSON.stringify(path) }),
    )
  })

  test('a file in a directory that does not exist', () => {
    const path = join(dirname(scratchFile()), 'nowhere', 'headgate.db')
    expect(() => sqlite({ path })).toThrow(
      `${path}: must be a file that this process can create or write, found no directory ${dirname(path)}`,
    )
  })

  test('a directory', () => {
    const path = scratchFile()
    mkdirSync(path)
    expect(() => sqlite({ path })).toThrow(
      expect.objectContaining({ code: 'STORE_UNOPENABLE', thing: path, finding: 'a directory' }),
    )
  })

  test('a new file where nothing may be written', () => {
    const path = scratchFile()
    chmodSync(dirname(path), 0o555)
    expect(() => withoutPrivileges(() => sqlite({ path }))).toThrow(
      expect.objectContaining({
        code: 'STORE_UNOPENABLE',
        finding: 'no right to write there',
      }),
    )
    chmodSync(dirname(path), 0o755)
  })

  test('a file of another format', () => {
    const path = scratchFile()
    writeFileSync(path, 'limits:\n  NewOrders: { burst: 20 }\n'.repeat(100))
    const before = readFileSync(path)
    expect(() => sqlite({ path })).toThrow(
      expect.objectContaining({ code: 'STORE_NOT_A_DATABASE', thing: path }),
    )
    expect(readFileSync(path)).toEqual(before)
  })

  test('a database of another program', () => {
    const path = scratchFile()
    withDatabase(path, (db) => db.exec('CREATE TABLE orders (id); PRAGMA user_version = 7'))
    const before = readFileSync(path)
    expect(() => sqlite({ path })).toThrow(
      expect.objectContaining({
        code: 'STORE_FOREIGN_FILE',
        finding: 'a database of another program (application id 0)',
      }),
    )
    expect(readFileSync(path)).toEqual(before)
  })

  test('a file of a newer Headgate', () => {
    const path = scratchFile()
    const version = MIGRATIONS.length + 1
    withDatabase(path, (db) => {
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}`)
    })
    const before = readFileSync(path)
    expect(() => sqlite({ path })).toThrow(
      expect.objectContaining({
        code: 'STORE_SCHEMA_NEWER',
        rule: `must have schema version ${MIGRATIONS.length} or older`,
        finding: `version ${version}, of a newer Headgate`,
      }),
    )
    expect(readFileSync(path)).toEqual(before)
  })

  test.each(['wal', 'delete'])('a file that may only be read (journal: %s)', (journal) => {
    const path = scratchFile()
    withDatabase(path, (db) => {
      db.exec(`PRAGMA journal_mode = ${journal}`)
      migrate(db, path)
    })
    chmodSync(path, 0o444)
    // The directory is open to all, so that only the file is in the way.
    chmodSync(dirname(path), 0o777)
    expect(() => withoutPrivileges(() => sqlite({ path }))).toThrow(
      expect.objectContaining({ code: 'STORE_UNOPENABLE', finding: 'no right to write there' }),
    )
  })

  test('a file that another process keeps for itself', () => {
    const path = scratchFile()
    const other = openDatabaseFile(path)
    onTestFinished(() => other.close())
    other.exec('BEGIN EXCLUSIVE')
    expect(() => sqlite({ path, patience: millis(20) })).toThrow(
      expect.objectContaining({ code: 'STORE_CONTENDED', thing: path }),
    )
    other.exec('ROLLBACK')
  })
})

describe('migrations', () => {
  test('lead from any earlier version to the newest, in order, keeping what is there', () => {
    const steps = ['CREATE TABLE a (x)', 'INSERT INTO a VALUES (2)', 'INSERT INTO a VALUES (3)']
    for (const from of [1, 2, 3]) {
      withDatabase(scratchFile(), (db) => {
        migrate(db, 'a file', steps.slice(0, from))
        migrate(db, 'a file', steps)
        migrate(db, 'a file', steps)
        expect(db.prepare('SELECT x FROM a ORDER BY x').all()).toMatchObject([{ x: 2 }, { x: 3 }])
        expect(db.prepare('PRAGMA user_version').get()).toMatchObject({ user_version: 3 })
      })
    }
  })

  test('a migration that fails leaves the file at the version it had', () => {
    withDatabase(scratchFile(), (db) => {
      migrate(db, 'a file', ['CREATE TABLE a (x)'])
      const broken = ['CREATE TABLE a (x)', 'DROP TABLE a', 'not SQL']
      expect(() => migrate(db, 'a file', broken)).toThrow('syntax error')
      expect(db.prepare('SELECT x FROM a').all()).toEqual([])
      expect(db.prepare('PRAGMA user_version').get()).toMatchObject({ user_version: 1 })
    })
  })
})

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

function withDatabase(path: string, work: (db: Database) => void): void {
  const db = openDatabaseFile(path)
  try {
    work(db)
  } finally {
    db.close()
  }
}

/** Root may write whatever it likes, so root steps down for the moment. */
function withoutPrivileges(work: () => unknown): unknown {
  const nobody = 65_534
  if (process.geteuid?.() !== 0) return work()
  process.seteuid?.(nobody)
  try {
    return work()
  } finally {
    process.seteuid?.(0)
  }
}
