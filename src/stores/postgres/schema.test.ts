import { Pool } from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { remotePlace } from '../../../test/support/remote-stores.ts'
import { answer } from '../../core/store.ts'

const place = await remotePlace('postgres')

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
        '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')) IS NOT NULL AS done,
        current_setting('synchronous_commit') AS waits`,
    )
    expect(rows).toEqual([{ done: true, waits: 'on' }])
    await other.end()
  })
})
