/** What PostgreSQL itself may answer, or not: each is a store that is unwell, or nothing that anyone notices. */
import { execFileSync } from 'node:child_process'
import { chownSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Service } from '../../scripts/services.js'
import { millis } from '../../src/core/time.ts'
import { createLimiter } from '../../src/requests/limiter/verbs.ts'
import { acmeCatalog } from '../support/acme-catalog.ts'
import { times } from '../support/counts.ts'
import { addOne, counted, entriesOf, untilItAnswers } from '../support/hot-count.ts'
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

interface Opened {
  readonly settings?: readonly string[]
  readonly timeout?: number
  readonly parameters?: string
}

const open = async ({ settings = [], timeout = 60_000, parameters = '' }: Opened = {}) => {
  const service = await ownService('postgres', settings)
  const place = placeAt('postgres', `${service.url}${parameters}`)
  const store = place.open({ timeout: millis(timeout) })
  onTestFinished(() => store.close())
  const client = await clientOf(service.url)
  await addOne(store)
  return { service, place, store, client }
}

/** Where the server keeps its data, and the process that does. */
const dataOf = async (client: Client) => {
  const folder = String((await client.query('SHOW data_directory')).rows[0].data_directory)
  const pid = Number(readFileSync(`${folder}/postmaster.pid`, 'utf8').split('\n')[0])
  return { folder, pid }
}

/** Until so many sessions wait for locks that others have. */
const untilSomeWait = async (client: Client, sessions = 1) => {
  const text = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
  while ((await client.query(text)).rows.length < sessions) {}
}

describe.skipIf((await sharedUrl('postgres')) === undefined)('a PostgreSQL server', () => {
  test('that ends our connections costs the calls on them, and no more', async () => {
    const { store, client, place } = await open()
    await client.query(`BEGIN; LOCK TABLE ${place.name}.items`)
    const lost = addOne(store)
    await untilSomeWait(client)
    await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'headgate'",
    )
    await expect(lost).rejects.toThrow('administrator command')
    await client.query('ROLLBACK')
    expect(await addOne(store)).toBe(2)
    expect(await entriesOf(store)).toEqual([1, 2])
  })

  test('that became read-only takes nothing, and is used again once it takes writes', async () => {
    const { store, client } = await open()
    const readOnly = async (on: boolean) => {
      await client.query(`ALTER SYSTEM SET default_transaction_read_only = ${on ? 'on' : 'off'}`)
      await client.query('SELECT pg_reload_conf()')
    }
    await client.query('SET default_transaction_read_only = off')
    await readOnly(true)
    let refused: unknown
    while (refused === undefined) {
      await addOne(store).catch((error: unknown) => {
        refused = error
      })
    }
    expect(String(refused)).toContain('read-only transaction')
    await readOnly(false)
    const count = await untilItAnswers(() => addOne(store))
    expect(await entriesOf(store)).toEqual(upTo(count))
  })

  test('that became a standby shows nothing, as it may be old; and is used again once promoted', async () => {
    const { service, store, client } = await open()
    const { folder } = await dataOf(client)
    const { uid, gid } = statSync(folder)
    writeFileSync(`${folder}/standby.signal`, '')
    chownSync(`${folder}/standby.signal`, uid, gid)
    await service.restart()
    const refusals: string[] = []
    for (const ask of [counted, entriesOf, addOne]) {
      let refused: string | undefined
      // The connections of before are cut first, and then nobody is asked for a moment.
      while (refused === undefined || !/standby|read-only/.test(refused)) {
        await ask(store).then(
          () => expect.unreachable('a standby was asked'),
          (error: unknown) => {
            refused = String(error)
          },
        )
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      refusals.push(refused)
    }
    expect(refusals).toHaveLength(3)
    const again = await clientOf(service.url)
    await again.query('SELECT pg_promote()')
    const count = await untilItAnswers(() => addOne(store))
    expect(count).toBe(2)
    expect(await entriesOf(store)).toEqual([1, 2])
  })

  test('without a connection left is tried now and then, and used once there is one', async () => {
    const { service, place, store, client } = await open({ settings: ['-c', 'max_connections=12'] })
    await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'headgate'",
    )
    const held: Client[] = []
    for (let full = false; !full; ) {
      const more = new Client({ connectionString: service.url })
      await more.connect().then(
        () => held.push(more),
        () => {
          full = true
        },
      )
    }
    const late = place.open()
    await expect(late.opened()).rejects.toThrow(/too many clients|connection slots/)
    await expect(addOne(store)).rejects.toEqual(UNAVAILABLE)
    for (const one of held) await one.end()
    expect(await untilItAnswers(() => addOne(store))).toBeGreaterThan(1)
    await untilItAnswers(() => late.opened())
    await late.close()
  })

  test('that ends a deadlock at our cost rolled all of it back: it is sent again, and nobody notices', async () => {
    let retries = 0
    const { client, place, store, service } = await open({
      settings: ['-c', 'deadlock_timeout=50'],
    })
    const patient = place.open({
      observe: ({ kind }) => {
        if (kind === 'retry') retries += 1
      },
    })
    onTestFinished(() => patient.close())
    const commit = {
      writes: ['a', 'b', 'c'].map((key) => ({ key, value: '1' })),
      appends: [],
      result: 'done',
    }
    await store.transact(() => commit)
    const [other, third] = [await clientOf(service.url), await clientOf(service.url)]
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
  })

  test('that cannot serialise our transaction with another is asked again', async () => {
    const { client, place, store } = await open()
    await client.query(`CREATE SEQUENCE ${place.name}.tries;
      CREATE FUNCTION ${place.name}.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
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
    const { service, place, store, client } = await open()
    const ends: readonly ((pid: number) => void)[] = [
      (pid) => process.kill(pid, 'SIGINT'),
      (pid) => process.kill(pid, 'SIGKILL'),
    ]
    for (const [i, end] of ends.entries()) {
      const before = i === 0 ? client : await clientOf(service.url)
      const { pid } = await dataOf(before)
      await before.query(`BEGIN; LOCK TABLE ${place.name}.entries`)
      const lost = addOne(store)
      lost.catch(() => {})
      await untilSomeWait(await clientOf(service.url))
      end(pid)
      await expect(lost).rejects.toEqual(UNAVAILABLE)
      await service.restart()
      expect(await untilItAnswers(() => counted(store))).toBe(1 + i)
      expect(await untilItAnswers(() => addOne(store))).toBe(2 + i)
    }
    expect(await entriesOf(store)).toEqual([1, 2, 3])
  })

  test('whose disk is full takes nothing, not a part of it, until there is room', async ({
    skip,
  }) => {
    const { client, store, place, service } = await open()
    const folder = `${(await dataOf(client)).folder}/../full`
    const mounted = mountSmall(folder, (await dataOf(client)).folder)
    if (mounted !== undefined) {
      console.log(`headgate: the test of a full disk is skipped: ${mounted}`)
      skip(mounted)
    }
    await client.query(`CREATE TABLESPACE small LOCATION '${folder}'`)
    for (const table of ['items', 'entries']) {
      await client.query(`ALTER TABLE ${place.name}.${table} SET TABLESPACE small`)
    }
    const write = (i: number) => ({
      writes: [{ key: 'big', value: `${i}${'x'.repeat(4_000)}` }],
      appends: [{ stream: 'big', entry: `${i}` }],
      result: i,
    })
    let written = 0
    let refused: unknown
    while (refused === undefined) {
      await store
        .transact(() => write(written))
        .then(
          () => {
            written += 1
          },
          (error: unknown) => {
            refused = error
          },
        )
    }
    expect(String(refused)).toMatch(/No space left on device/)
    expect(await store.read('big', 0, 10_000)).toHaveLength(Math.min(written, 10_000))
    const room = await clientOf(service.url)
    await room.query(`ALTER TABLE ${place.name}.items SET TABLESPACE pg_default`)
    await room.query(`ALTER TABLE ${place.name}.entries SET TABLESPACE pg_default`)
    expect(await untilItAnswers(() => store.transact(() => write(written)))).toBe(written)
    await room.query('DROP TABLESPACE small')
  })
})

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

describe.skipIf((await sharedUrl('postgres')) === undefined)('the way to PostgreSQL', () => {
  const far = async (service: Service) => {
    const proxy = await openProxy({ port: service.ports[0] ?? 0, isCommit })
    onTestFinished(() => proxy.close())
    return proxy
  }

  test('of 200 ms lets exactly the burst through, shared with one that is near', async () => {
    const { service, place, store } = await open()
    const proxy = await far(service)
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
    const { service, place } = await open()
    const proxy = await far(service)
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
