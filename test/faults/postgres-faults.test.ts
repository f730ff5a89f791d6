/** What PostgreSQL itself may answer, or not: each is a store that is unwell, or nothing that anyone notices. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { answer, type View } from '../../src/core/store.ts'
import { millis } from '../../src/core/time.ts'
import { createLimiter } from '../../src/requests/limiter/verbs.ts'
import { acmeCatalog } from '../support/acme-catalog.ts'
import { times } from '../support/counts.ts'
import { addOne, counted, ENTRIES, entriesOf, untilItAnswers } from '../support/hot-count.ts'
import { openProxy } from '../support/proxy.ts'
import { isCommit } from '../support/remote-contract.ts'
import { placeAt } from '../support/remote-stores.ts'
import { ownService, sharedUrl } from '../support/services.ts'

const UNAVAILABLE = expect.objectContaining({ code: 'STORE_UNAVAILABLE' })
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

const clientOf = async (url: string): Promise<Client> => {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.end().catch(() => {}))
  return client
}

const shared = await sharedUrl('postgres')

/** On a server that the test may end. */
const ownServer = async () => {
  const service = await ownService('postgres')
  const store = placeAt('postgres', service.url).open({ timeout: millis(60_000) })
  onTestFinished(() => store.close())
  await addOne(store)
  return { service, store, client: await clientOf(service.url) }
}

const fail = (): never => {
  throw new Error('a store that can be moved')
}

let databases = 0

/** A database and a user of its own on the server that all share: what is done to them concerns nobody else. */
const ownDatabase = async (parameters = '') => {
  const client = await clientOf(shared ?? '')
  const name = `faults_${process.pid}_${databases++}`
  await client.query(`CREATE ROLE ${name} LOGIN`)
  await client.query(`CREATE DATABASE ${name} OWNER ${name}`)
  const own = (shared ?? '').replace(/headgate@/, `${name}@`).replace(/postgres$/, name)
  const place = placeAt('postgres', `${own}${parameters}`)
  const store = place.open({ timeout: millis(60_000) })
  onTestFinished(async () => {
    await store.close()
    await client.query(`DROP DATABASE ${name} WITH (FORCE)`)
    await client.query(`DROP ROLE ${name}`)
  })
  await addOne(store)
  return {
    name,
    place,
    store,
    /** Elsewhere on the server. */
    outside: client,
    /** In the database, and allowed everything. */
    client: await clientOf((shared ?? '').replace(/postgres$/, name)),
    endSessions: () =>
      client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${name}'`,
      ),
  }
}

/** Where the server keeps its data, and the process that does. */
const dataOf = async (client: Client) => {
  const folder = String((await client.query('SHOW data_directory')).rows[0].data_directory)
  const pid = Number(readFileSync(`${folder}/postmaster.pid`, 'utf8').split('\n')[0])
  return { folder, pid }
}

/** Until so many sessions of a database wait for locks that others have. */
const untilSomeWait = async (client: Client, sessions = 1) => {
  const text = `SELECT 1 FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND datname = current_database()`
  while ((await client.query(text)).rows.length < sessions) {}
}

describe.skipIf(shared === undefined)('a PostgreSQL server', () => {
  test('that ends our connections costs the calls on them, and no more', async () => {
    const { store, client, place, endSessions } = await ownDatabase()
    await client.query(`BEGIN; LOCK TABLE ${place.name}.items`)
    const lost = addOne(store)
    lost.catch(() => {})
    await untilSomeWait(client)
    await endSessions()
    await expect(lost).rejects.toThrow('administrator command')
    await client.query('ROLLBACK')
    expect(await addOne(store)).toBe(2)
    expect(await entriesOf(store)).toEqual([1, 2])
  })

  test('that became read-only takes nothing, and is used again once it takes writes', async () => {
    const { name, store, outside, endSessions } = await ownDatabase()
    const readOnly = async (on: boolean) => {
      await outside.query(`ALTER DATABASE ${name} SET default_transaction_read_only = ${on}`)
    }
    await readOnly(true)
    await endSessions()
    expect(await refusalOf(() => addOne(store), /read-only/)).toContain('read-only transaction')
    // Sessions keep what they began with: none of them may be kept.
    await readOnly(false)
    const count = await untilItAnswers(() => addOne(store))
    expect(await entriesOf(store)).toEqual(upTo(count))
  })

  test('that became a standby shows nothing, as it may be old; and is used again once promoted', async () => {
    const { service, store, client } = await ownServer()
    const { folder } = await dataOf(client)
    const { uid, gid } = statSync(folder)
    writeFileSync(`${folder}/standby.signal`, '')
    chownSync(`${folder}/standby.signal`, uid, gid)
    await service.restart()
    for (const ask of [counted, entriesOf, addOne]) {
      const refused = await refusalOf(() => ask(store), /standby|read-only/)
      expect(refused).toMatch(/STORE_UNAVAILABLE|must be reachable and take writes/)
    }
    const again = await clientOf(service.url)
    await again.query('SELECT pg_promote()')
    expect(await untilItAnswers(() => addOne(store))).toBe(2)
    expect(await entriesOf(store)).toEqual([1, 2])
  })

  test('without a connection left is tried now and then, and used once there is one', async () => {
    const { name, place, store, outside, endSessions } = await ownDatabase()
    const limit = (count: number) => outside.query(`ALTER ROLE ${name} CONNECTION LIMIT ${count}`)
    await limit(0)
    await endSessions()
    const late = place.open()
    await expect(late.opened()).rejects.toThrow('too many connections')
    expect(await refusalOf(() => addOne(store), /too many/)).toContain('too many connections')
    await limit(-1)
    expect(await untilItAnswers(() => addOne(store))).toBe(2)
    await untilItAnswers(() => late.opened())
    await late.close()
  })

  test('that ends a deadlock at our cost rolled all of it back: it is sent again, and nobody notices', async () => {
    const { client, place, store, name, outside } = await ownDatabase()
    await outside.query(`ALTER ROLE ${name} SUPERUSER`)
    await outside.query(`ALTER ROLE ${name} SET deadlock_timeout = 50`)
    let retries = 0
    const patient = place.open({
      observe: ({ kind }) => {
        if (kind === 'retry') retries += 1
      },
    })
    const commit = {
      writes: ['a', 'b', 'c'].map((key) => ({ key, value: '1' })),
      appends: [],
      result: 'done',
    }
    await store.transact(() => commit)
    const inside = (shared ?? '').replace(/postgres$/, name)
    const [other, third] = [await clientOf(inside), await clientOf(inside)]
    const lock = (by: Client, key: string) =>
      by.query(`SELECT 1 FROM ${place.name}.items WHERE key = '${key}' FOR UPDATE`)
    await other.query("BEGIN; SET LOCAL deadlock_timeout = '10min'")
    await third.query('BEGIN')
    await lock(third, 'b')
    await lock(other, 'c')
    const call = patient.transact(() => commit)
    await untilSomeWait(client, 1)
    // Ours has the first and waits for the second; now another waits for the first, and has the last.
    const locked = lock(other, 'a')
    await untilSomeWait(client, 2)
    await third.query('COMMIT')
    await locked
    expect(retries).toBe(1)
    await other.query('COMMIT')
    expect(await call).toBe('done')
    await patient.close()
  })

  test('that cannot serialise our transaction with another is asked again', async () => {
    const { client, place, store } = await ownDatabase()
    await client.query(`CREATE SEQUENCE ${place.name}.tries;
      CREATE FUNCTION ${place.name}.fail() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
      BEGIN
        IF nextval('${place.name}.tries') < 3 THEN
          RAISE EXCEPTION 'could not serialize access' USING ERRCODE = '40001';
        END IF;
        RETURN new;
      END $$;
      CREATE TRIGGER fail BEFORE UPDATE ON ${place.name}.items
        FOR EACH ROW EXECUTE FUNCTION ${place.name}.fail()`)
    expect(await addOne(store)).toBe(2)
    expect(await entriesOf(store)).toEqual([1, 2])
  })

  test('restarted or crashed in the middle of our transaction has done nothing of it', async () => {
    const service = await ownService('postgres')
    const place = placeAt('postgres', service.url)
    const store = place.open({ timeout: millis(60_000) })
    onTestFinished(() => store.close())
    await addOne(store)
    for (const [i, signal] of (['SIGINT', 'SIGKILL'] as const).entries()) {
      const client = await clientOf(service.url)
      const { pid } = await dataOf(client)
      await client.query(`BEGIN; LOCK TABLE ${place.name}.entries`)
      const lost = addOne(store)
      lost.catch(() => {})
      await untilSomeWait(client)
      process.kill(pid, signal)
      await expect(lost).rejects.toEqual(UNAVAILABLE)
      await service.restart()
      expect(await untilItAnswers(() => counted(store))).toBe(1 + i)
      expect(await untilItAnswers(() => addOne(store))).toBe(2 + i)
    }
    expect(await entriesOf(store)).toEqual([1, 2, 3])
  })

  test('that does not wait for its disk by default has a fence, what is put back and a trim all the same', async () => {
    const lazy = ['-c', 'synchronous_commit=off', '-c', 'wal_writer_delay=10s']
    const service = await ownService('postgres', lazy)
    const store = placeAt('postgres', service.url).open({ timeout: millis(60_000) })
    onTestFinished(() => store.close())
    await addOne(store)
    const crash = async () => {
      await service.kill()
      await service.restart()
      await untilItAnswers(() => store.moving?.status() ?? fail())
    }
    await store.trim(ENTRIES, 2)
    await crash()
    expect(await entriesOf(store)).toEqual([])
    await store.moving?.restore([{ key: 'put back', value: '1' }], [])
    await crash()
    expect((await store.scan('', 10)).items).toContainEqual({ key: 'put back', value: '1' })
    await store.moving?.fence('export-1, of a test')
    await crash()
    expect((await store.moving?.status())?.fence).toBe('export-1, of a test')
  })

  test('whose disk is full takes nothing, not a part of it, until there is room', async ({
    skip,
  }) => {
    const { name, client, store, place } = await ownDatabase()
    const { folder: data } = await dataOf(client)
    const folder = `${data}/../full`
    const reason = mountSmall(folder, data)
    if (reason !== undefined) {
      console.log(`headgate: the test of a full disk is skipped: ${reason}`)
      skip(reason)
    }
    await client.query(`CREATE TABLESPACE ${name} LOCATION '${folder}'`)
    const move = (to: string) =>
      client.query(`ALTER TABLE ${place.name}.entries SET TABLESPACE ${to}`)
    await move(name)
    const add = (i: number) =>
      store.transact(() => ({
        writes: [{ key: 'count', value: String(i) }],
        appends: [{ stream: 'big', entry: randomBytes(40_000).toString('base64') }],
        result: i,
      }))
    let written = 0
    const refused = await refusalOf(async () => {
      written = await add(written + 1)
    }, /./)
    expect(refused).toContain('No space left on device')
    expect(await store.read('big', 0, 100)).toHaveLength(written)
    const read = (view: View) => answer(view.read('count'))
    expect(await store.transact(read, ['count'], 'look')).toEqual([String(written)])
    await move('pg_default')
    expect(await add(written + 1)).toBe(written + 1)
    await client.query(`DROP TABLESPACE ${name}`)
  })
})

/** Calls until it is refused in such words. The first calls may succeed, or fail for having been cut. */
const refusalOf = async (call: () => Promise<unknown>, words: RegExp): Promise<string> => {
  for (;;) {
    const refused = await call().then(
      () => '',
      (error: unknown) => String(error),
    )
    if (refused !== '' && words.test(refused)) return refused
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Why not, or undefined. Unmounted with the test. */
function mountSmall(folder: string, like: string): string | undefined {
  const { uid, gid } = statSync(like)
  mkdirSync(folder)
  try {
    const owned = `size=2m,uid=${uid},gid=${gid},mode=700`
    execFileSync('mount', ['-t', 'tmpfs', '-o', owned, 'tmpfs', folder], { stdio: 'pipe' })
  } catch (error) {
    rmSync(folder, { recursive: true })
    return `no small file system can be mounted here: ${String(error).split('\n')[0]}`
  }
  onTestFinished(() => {
    execFileSync('umount', ['-l', folder])
  })
  return undefined
}

describe.skipIf(shared === undefined)('the way to PostgreSQL', () => {
  const far = async () => {
    const port = Number(/:(\d+)\//.exec(shared ?? '')?.[1])
    const proxy = await openProxy({ port, isCommit })
    onTestFinished(() => proxy.close())
    return proxy
  }

  test('of 200 ms lets exactly the burst through, shared with one that is near', async () => {
    const { place, store } = await ownDatabase()
    const proxy = await far()
    const away = place.open({ timeout: millis(60_000), patience: millis(60_000) }, proxy.port)
    await away.opened()
    proxy.delayMs = 200
    const limits = 'Orders: { id: opaque, burst: 20, count: 1, period: 24h }'
    const catalog = acmeCatalog({ limits })
    const [here, there] = [store, away].map((one) =>
      createLimiter({ store: one, catalog: () => catalog }),
    )
    const order = { limit: 'Orders', id: 'one' }
    const asked = upTo(60).map((i) => (i % 2 === 0 ? here : there)?.spend(order))
    const answers = await Promise.all(asked)
    expect(answers.filter((found) => found?.allowed)).toHaveLength(20)
    await away.close()
  })

  test('cut again and again under load: each effect that was told is there, each at most once', async () => {
    const { place } = await ownDatabase()
    const proxy = await far()
    const store = place.open({ timeout: millis(60_000) }, proxy.port)
    const told: number[] = []
    let failed = 0
    let isOver = false
    const lanes = upTo(8).map(async () => {
      while (!isOver) {
        await addOne(store).then(
          (count) => told.push(count),
          (error: unknown) => {
            expect(error).toEqual(UNAVAILABLE)
            failed += 1
            return new Promise((resolve) => setTimeout(resolve, 5))
          },
        )
      }
    })
    for (let cut = 0; cut < times(3, 30); cut++) {
      const before = told.length
      await untilItAnswers(async () => expect(told.length).toBeGreaterThan(before))
      proxy.cut()
    }
    const before = told.length
    await untilItAnswers(async () => expect(told.length).toBeGreaterThan(before))
    isOver = true
    await Promise.all(lanes)
    const count = await counted(store)
    expect(new Set(told).size).toBe(told.length)
    expect(count).toBeGreaterThanOrEqual(told.length + 1)
    expect(count).toBeLessThanOrEqual(told.length + failed + 1)
    expect(await entriesOf(store)).toEqual(upTo(count).slice(0, 10_000))
    await store.close()
  })
})

describe.skipIf((await sharedUrl('pgbouncer')) === undefined)('a PgBouncer', () => {
  test('that was killed and is back, and one whose sessions were ended, costs only the calls then', async () => {
    const service = await ownService('pgbouncer')
    const store = placeAt('pgbouncer', service.url).open({ timeout: millis(60_000) })
    onTestFinished(() => store.close())
    await addOne(store)
    const client = await clientOf(service.url.replace(/:\d+\//, `:${service.ports[1]}/`))
    await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'headgate'",
    )
    const count = await untilItAnswers(() => addOne(store))
    await service.restart()
    expect(await untilItAnswers(() => addOne(store))).toBe(count + 1)
    expect(await entriesOf(store)).toEqual(upTo(count + 1))
  })
})
