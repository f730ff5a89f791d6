import { relative } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fileSize, scratchFile, scratchFileToRemove } from '../../../test/support/scratch-file.ts'
import { answer, type Key, type Store } from '../../core/store.ts'
import { after, millis, seconds } from '../../core/time.ts'
import { limiter } from '../../requests/limiter/typed-limiter.ts'
import { fakeClock, type OpenedStore, type OpenStore, storeContract } from '../../testing/index.ts'
import { openDatabaseFile } from './driver.ts'
import { type SqliteOptions, sqlite } from './store.ts'
import type { CommittedGroup } from './transactions.ts'

describe('the store contract', () => {
  const open: OpenStore = async ({ clock, uptime }) => {
    const { path, remove } = scratchFileToRemove()
    const store = sqlite({ path, clock, uptime })
    const others: Store[] = []
    const another = async () => {
      const server = sqlite({ path, clock, uptime })
      others.push(server)
      return server
    }
    const dispose = async () => {
      for (const open of [store, ...others]) await open.close()
      remove()
    }
    return { store, another, reopen: another, dispose, ...faults(path) }
  }
  const skip = {
    'a reply that is lost after its commit is an unwell store to the caller, and the commit stays':
      NO_REPLIES,
    'a call that carries an id and is made again after a lost reply has its effect once':
      NO_REPLIES,
  }
  for (const { name, run, skipped } of storeContract(open, { skip })) {
    test(skipped === undefined ? name : `does not apply: ${name} (${skipped})`, run)
  }
})

const NO_REPLIES = 'the process that commits is the one that is answered'

/** What another program could do to the file. */
function faults(path: string): Pick<OpenedStore, 'breakCommits' | 'breakReads'> {
  const change = (sql: string): void => {
    const db = openDatabaseFile(path)
    db.exec(sql)
    db.close()
  }
  return {
    breakCommits: async (on) => change(on ? FAIL_AT_COMMIT : MEND_COMMITS),
    breakReads: async (on) =>
      change(on ? 'ALTER TABLE items RENAME TO lost' : 'ALTER TABLE lost RENAME TO items'),
  }
}

/** Each change leaves an orphan, which SQLite takes until COMMIT and no further. */
const FAIL_AT_COMMIT = `
  CREATE TABLE parents (id INTEGER PRIMARY KEY);
  CREATE TABLE orphans (parent REFERENCES parents DEFERRABLE INITIALLY DEFERRED);
  CREATE TRIGGER fail_put AFTER INSERT ON items BEGIN INSERT INTO orphans VALUES (1); END;
  CREATE TRIGGER fail_change AFTER UPDATE ON items BEGIN INSERT INTO orphans VALUES (1); END;
  CREATE TRIGGER fail_append AFTER INSERT ON entries BEGIN INSERT INTO orphans VALUES (1); END;`

const MEND_COMMITS = `
  DROP TRIGGER fail_put; DROP TRIGGER fail_change; DROP TRIGGER fail_append;
  DROP TABLE orphans; DROP TABLE parents;`

describe('group commit', () => {
  test('256 calls of one moment share one commit, each seeing those before it', async () => {
    const { store, groups } = counted()
    const answers = await Promise.all(Array.from({ length: 256 }, () => increment(store, 'a')))
    expect(answers).toEqual(Array.from({ length: 256 }, (_, i) => i + 1))
    // The key that all of them changed is written once.
    expect(groups).toEqual([{ calls: 256, writes: 1, appends: 0 }])
  })

  test('callers that come back at once go on sharing commits', async () => {
    const { store, groups } = counted()
    const caller = async (_: unknown, i: number) => {
      for (let turn = 0; turn < 5; turn++) await increment(store, `key:${i}`)
    }
    await Promise.all(Array.from({ length: 256 }, caller))
    expect(groups).toEqual(Array(5).fill({ calls: 256, writes: 256, appends: 0 }))
  })

  test('a group has a bound; the rest follow in the next', async () => {
    const { store, groups } = counted()
    await Promise.all(Array.from({ length: 600 }, () => increment(store, 'a')))
    expect(groups.map(({ calls }) => calls)).toEqual([512, 88])
  })

  test('a step that throws is alone in failing: its group commits without it', async () => {
    const { store, groups } = counted()
    const [one, two, three] = await Promise.allSettled([
      increment(store, 'a'),
      store.transact(() => {
        throw new Error('on purpose')
      }),
      increment(store, 'a'),
    ])
    expect([one.status, two.status, three.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(groups).toEqual([{ calls: 3, writes: 1, appends: 0 }])
  })

  test('a group that only looks commits nothing and adds nothing to the log', async () => {
    const { store, groups, path } = counted()
    await increment(store, 'a')
    const before = fileSize(`${path}-wal`)
    const looks = Array.from({ length: 256 }, () =>
      store.transact((view) => answer(view.read('a'))),
    )
    expect((await Promise.all(looks)).at(-1)).toEqual(['1'])
    expect(fileSize(`${path}-wal`)).toBe(before)
    expect(before).toBeGreaterThan(0)
    expect(groups).toHaveLength(1)
  })

  test('a listener that throws fails no call', async () => {
    const thrown: unknown[] = []
    const listeners = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.once('uncaughtException', (error) => thrown.push(error))
    onTestFinished(() => {
      for (const listener of listeners) process.on('uncaughtException', listener)
    })
    const store = opened({
      path: scratchFile(),
      onCommit: () => {
        throw new Error('on purpose')
      },
    })
    expect(await increment(store, 'a')).toBe(1)
    await new Promise(setImmediate)
    expect(thrown).toHaveLength(1)
  })
})

test('expired keys leave the file as others are written, so that new keys cannot fill the disk', async () => {
  const clock = fakeClock()
  const { store, path } = counted({ clock, uptime: clock.uptime })
  const visitors = async (round: number) => {
    clock.advance(seconds(10))
    const expiresAt = after(clock(), seconds(15))
    const writes = Array.from({ length: 1_000 }, (_, i) => ({
      key: `visitor:${i}:${round}`,
      value: 'x'.repeat(100),
      expiresAt,
    }))
    await store.transact(() => ({ writes, appends: [], result: undefined }))
  }
  for (let round = 0; round < 100; round++) await visitors(round)
  await store.close()
  // A hundred thousand keys passed through a file that would need 14 MB to keep them.
  expect(fileSize(path)).toBeLessThan(3_000_000)
})

test('a look answers while another process holds the write lock; a spend waits for it', async () => {
  const path = scratchFile()
  const store = opened({ path, patience: millis(50) })
  const orders = limiter({ store, limits: { Orders: { burst: 3, period: '1h' } } })
  await orders.spend('Orders', 'ann')
  const other = openDatabaseFile(path)
  other.exec('BEGIN IMMEDIATE')
  expect(await orders.check('Orders', 'ann')).toMatchObject({ allowed: true, remaining: 1 })
  await expect(orders.spend('Orders', 'ann')).rejects.toMatchObject({ code: 'STORE_CONTENDED' })
  // Behind a spend that waits, too: looks have a queue of their own.
  const waiting = orders.spend('Orders', 'ann').catch(({ code }) => code)
  expect(await orders.check('Orders', 'ann')).toMatchObject({ remaining: 1 })
  other.exec('ROLLBACK')
  other.close()
  expect(await waiting).toMatchObject({ allowed: true })
  expect(await orders.check('Orders', 'ann')).toMatchObject({ remaining: 0 })
})

test('a long stream is trimmed in bites, all of it, though the store is closed meanwhile', async () => {
  const { store, path } = counted()
  const appends = Array.from({ length: 3_500 }, (_, i) => ({ stream: 's', entry: `${i}` }))
  await store.transact(() => ({ writes: [], appends, result: undefined }))
  const last = (await store.read('s', 0, 10_000)).at(-1)
  const trimmed = store.trim('s', last?.position ?? 0)
  await store.close()
  await trimmed
  expect(await opened({ path }).read('s', 0, 10)).toEqual([last])
})

test('the path is settled at the start: the process may go elsewhere afterwards', async () => {
  const home = process.cwd()
  const path = scratchFile()
  const store = opened({ path: relative(home, path) })
  process.chdir('/')
  try {
    expect(await increment(store, 'a')).toBe(1)
    expect(fileSize(path)).toBeGreaterThan(0)
  } finally {
    process.chdir(home)
  }
})

const increment = (store: Store, key: Key): Promise<number> =>
  store.transact((view) => {
    const count = Number(view.read(key)[0] ?? 0) + 1
    return { writes: [{ key, value: `${count}` }], appends: [], result: count }
  })

function opened(options: SqliteOptions): Store {
  const store = sqlite(options)
  onTestFinished(() => store.close())
  return store
}

/** A store whose commits are counted. */
function counted(options: Partial<SqliteOptions> = {}) {
  const path = scratchFile()
  const groups: CommittedGroup[] = []
  const store = opened({ path, ...options, onCommit: (group) => groups.push(group) })
  return { store, path, groups }
}
