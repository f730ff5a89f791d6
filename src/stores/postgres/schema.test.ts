import { Pool } from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { remotePlace } from '../../../test/support/remote-stores.ts'
import { listedName, nameOf } from '../../core/names.ts'
import { answer, type Store } from '../../core/store.ts'
import { seconds } from '../../core/time.ts'
import { migration } from './schema.ts'

const place = await remotePlace('postgres')

const FOLLOWED = { stream: 's', entry: 'x', followed: true } as const

describe.skipIf(place === undefined)('on a real server', () => {
  if (place === undefined) return
  const pool = new Pool({ connectionString: place.url, max: 2 })
  afterAll(() => pool.end())
  const format = async () => (await pool.query(`SELECT number FROM ${place.name}.format`)).rows

  test('many servers that open an empty database at once make its tables once', async () => {
    const stores = Array.from({ length: 8 }, () => place.open())
    await Promise.all(stores.map((store) => store.opened()))
    expect(await format()).toEqual([{ number: 1 }])
    for (const store of stores) await store.close()
  })

  test('a connection that looked for the schema before another made it finds it made', async () => {
    const [schema, warm] = [`${place.name}_late`, `${place.name}_warm`]
    const [first, late] = [await pool.connect(), await pool.connect()]
    // A connection remembers what it did not find, and one that has made a schema before looks nothing else up.
    await late.query(migration(warm))
    await late.query(`SELECT to_regclass('${schema}.format')`)
    await first.query(`BEGIN; ${migration(schema)}`)
    const made = late.query(migration(schema)).then(
      () => 'made',
      (error: Error) => error.message,
    )
    const blocked = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`
    while ((await first.query(blocked)).rowCount === 0);
    await first.query('COMMIT')
    const how = await made
    await first.query(`DROP SCHEMA ${schema} CASCADE; DROP SCHEMA ${warm} CASCADE`)
    for (const client of [first, late]) client.release()
    expect(how).toBe('made')
  })

  test('a list with a long name takes long keys, and a page may begin where no key can be', async () => {
    const store = place.open()
    const text = (seed: number) => {
      let state = seed
      const next = () => {
        state = (state * 48_271) % 2_147_483_647
        return (state % 36).toString(36)
      }
      // Such as PostgreSQL cannot compress.
      return Array.from({ length: 900 }, next).join('')
    }
    const index = nameOf('test', 'a', text(1))
    const keys = [listedName(index, text(2)), listedName(index, text(3))].toSorted()
    const put = () => ({
      writes: [...keys, `${index}$`, index].map((key) => ({ key, value: 'x' })),
      appends: [],
      result: 1,
    })
    await store.transact(put)
    const listed = async (after: string) =>
      (await store.range(index, after, 9)).map(({ key }) => key)
    expect(await listed('')).toEqual(keys)
    expect(await listed(`${keys[0]}\0a`)).toEqual(keys.slice(1))
    expect(await store.range(`${index}#`, '', 9)).toEqual([])
    expect((await store.scan('\0', 9)).items).toHaveLength(4)
    await store.close()
  })

  test('a key that was kept for a server before the clock stepped back is kept no longer', async () => {
    const store = place.open({ patience: seconds(1) })
    await store.opened()
    await pool.query(
      `INSERT INTO ${place.name}.claims VALUES ('kept', 'gone', ${place.name}.micros() + 3600000000)`,
    )
    const found = await store.transact((view) => answer(view.read('kept')))
    expect(found).toEqual([undefined])
    await store.close()
  })

  test('a conflict shows nothing that is newer than its time, though it waited after it was read', async () => {
    const [one, other] = [place.open(), place.open()]
    const write = (store: Store, key: string, value: string) =>
      store.transact(() => ({ writes: [{ key, value }], appends: [], result: undefined }))
    const append = { writes: [], appends: [{ stream: 's', entry: 'x' }], result: undefined }
    await write(one, 'link', 'old')
    await other.transact(() => append)
    await write(other, 'link', 'new')
    const holder = await pool.connect()
    await holder.query(`BEGIN; SELECT 1 FROM ${place.name}.streams FOR UPDATE`)
    const found = one.transact(
      (view) => {
        const isNew = view.read('link')[0] === 'new'
        return answer({ now: view.now, stamp: Number(isNew ? view.read('stamp')[0] : 0) })
      },
      ['link', 'stamp'],
    )
    const waiting = one.transact(() => append)
    const blocked = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%${place.name}".compare_and_set%'`
    while ((await holder.query(blocked)).rowCount === 0);
    await other.transact((view) => ({
      writes: [{ key: 'stamp', value: String(view.now) }],
      appends: [],
      result: undefined,
    }))
    await holder.query('COMMIT')
    holder.release()
    await waiting
    const { now, stamp } = await found
    expect(stamp).toBeGreaterThan(0)
    expect(now).toBeGreaterThanOrEqual(stamp)
    await Promise.all([one.close(), other.close()])
  })

  test('a schema may be named by a word of SQL', async () => {
    const { postgres } = await import('./store.ts')
    for (const schema of ['user', 'order']) {
      const store = postgres({ url: place.url, schema })
      let woken = (): void => {}
      const hearing = new Promise<void>((resolve) => {
        woken = resolve
      })
      await store.opened()
      const deaf = store.listen?.('s', woken)
      const ring = { writes: [{ key: 'a', value: '1' }], appends: [FOLLOWED], result: undefined }
      await store.transact(() => ring)
      await hearing
      deaf?.()
      await store.trim('s', 2)
      await store.moving?.fence('of a test')
      expect(await store.moving?.status()).toMatchObject({ fence: 'of a test', keys: 1 })
      expect(await store.inspect()).toMatchObject({ 'may create': 'true' })
      await store.close()
      await pool.query(`DROP SCHEMA "${schema}" CASCADE`)
    }
  })

  test('data of a newer format is refused, and not touched', async () => {
    await pool.query(`UPDATE ${place.name}.format SET number = 2`)
    const store = place.open()
    const refused = { code: 'POSTGRES_FORMAT_NEWER', finding: 'format 2' }
    await expect(store.opened()).rejects.toMatchObject(refused)
    await expect(store.transact(() => answer(1))).rejects.toMatchObject(refused)
    expect(await format()).toEqual([{ number: 2 }])
    await store.close()
    await pool.query(`UPDATE ${place.name}.format SET number = 1`)
  })

  test('a server that runs while a newer one changes the format is told to be upgraded, and writes nothing', async () => {
    const store = place.open()
    const write = () => ({ writes: [{ key: 'a', value: '1' }], appends: [], result: 1 })
    await store.transact(write)
    const rename = (from: string, to: string) =>
      pool.query(`ALTER FUNCTION ${place.name}.${from} RENAME TO ${to}`)
    await rename('compare_and_set', 'compare_and_set_2')
    await pool.query(`UPDATE ${place.name}.format SET number = 2`)
    const told = 'must keep its format, found format 2, of a newer Headgate: upgrade this server'
    await expect(store.transact(write)).rejects.toThrow(told)
    await expect(store.transact(write)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await rename('compare_and_set_2', 'compare_and_set')
    await pool.query(`UPDATE ${place.name}.format SET number = 1`)
    expect(await store.transact(write)).toBe(1)
    await store.close()
  })

  test('who is not let in, and who may make no schema, is told so by name', async () => {
    const { postgres } = await import('./store.ts')
    const name = `${place.name}_guest`
    await pool.query(`CREATE ROLE ${name} LOGIN`)
    const asked = async (change: (url: string) => string) => {
      const store = postgres({ url: change(place.url), schema: `${place.name}_none` })
      const found = await store.opened().catch((error: unknown) => error)
      await store.close()
      return found
    }
    const denied = (finding: string) =>
      expect.objectContaining({
        code: 'POSTGRES_DENIED',
        finding: expect.stringContaining(finding),
      })
    const as = (user: string) => (url: string) => url.replace('headgate@', `${user}@`)
    expect(await asked(as(name))).toEqual(denied('permission denied for database'))
    expect(await asked(as('stranger'))).toEqual(denied('role "stranger" does not exist'))
    const nowhere = (url: string) => url.replace(/postgres$/, 'nowhere')
    expect(await asked(nowhere)).toEqual(denied('database "nowhere" does not exist'))
    await pool.query(`DROP ROLE ${name}`)
  })

  test('who may use our schema needs no right to make one', async () => {
    const { postgres } = await import('./store.ts')
    const name = `${place.name}_user`
    await pool.query(`CREATE ROLE ${name} LOGIN;
      GRANT USAGE ON SCHEMA ${place.name} TO ${name};
      GRANT ALL ON ALL TABLES IN SCHEMA ${place.name} TO ${name}`)
    const url = place.url.replace('headgate@', `${name}@`)
    const store = postgres({ url, schema: place.name })
    const write = () => ({ writes: [{ key: 'b', value: '1' }], appends: [], result: 1 })
    expect(await store.transact(write)).toBe(1)
    await store.close()
    await pool.query(`DROP OWNED BY ${name}; DROP ROLE ${name}`)
  })

  test('a database whose transactions see an old moment is refused, not trusted', async () => {
    const url = `${place.url}?options=${encodeURIComponent('-c default_transaction_isolation=serializable')}`
    const { postgres } = await import('./store.ts')
    const store = postgres({ url, schema: place.name })
    const write = () => ({ writes: [{ key: 'a', value: '1' }], appends: [], result: 1 })
    await expect(store.transact(write)).rejects.toThrow('read committed')
    await store.close()
  })

  test('a commit is durable before its answer, though the database does not wait by default', async () => {
    const off = encodeURIComponent('-c synchronous_commit=off')
    const other = new Pool({ connectionString: `${place.url}?options=${off}`, max: 1 })
    const empty = "'{}'::integer[], '{}'::text[], '{}'::text[]"
    const { rows } = await other.query(
      `SELECT (SELECT at FROM ${place.name}.compare_and_set(NULL, 0, 'me', 0, ${empty},
        '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')) IS NOT NULL AS done,
        current_setting('synchronous_commit') AS waits`,
    )
    expect(rows).toEqual([{ done: true, waits: 'on' }])
    await other.end()
  })
})
