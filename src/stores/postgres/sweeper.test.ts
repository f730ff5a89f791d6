import { Pool } from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { remotePlace } from '../../../test/support/remote-stores.ts'
import { after, hours, minutes, span } from '../../core/time.ts'
import { fakeClock } from '../../testing/index.ts'

const place = await remotePlace('postgres')

describe.skipIf(place === undefined)('on a real server', () => {
  if (place === undefined) return
  const pool = new Pool({ connectionString: place.url, max: 1 })
  afterAll(() => pool.end())
  const count = async (like: string) => {
    const text = `SELECT count(*)::integer AS n FROM ${place.name}.items WHERE key LIKE $1`
    return (await pool.query(text, [like])).rows[0].n
  }
  /** Resolves when no sweep is under way. */
  const swept = async () => {
    const text = `SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid()
      AND query LIKE '%${place.name}".sweep(%'`
    // Once more: so that its answer has arrived too.
    for (let quiet = 0; quiet < 3; ) quiet = (await pool.query(text)).rowCount === 0 ? quiet + 1 : 0
  }
  /** Sets the clock of the database ahead, as far as keys know. */
  const age = (micros: number) =>
    pool.query(`UPDATE ${place.name}.items SET expires_at = expires_at - ${micros}`)

  const setting = async () => {
    await place.clear()
    const clock = fakeClock()
    const open = () => place.open({ clock, uptime: clock.uptime })
    const store = open()
    const write = (prefix: string, many: number, lives?: number, on = store) =>
      on.transact((view) => ({
        writes: Array.from({ length: many }, (_, i) => ({
          key: `${prefix}${i}`,
          value: 'x',
          ...(lives !== undefined && { expiresAt: after(view.now, span(lives)) }),
        })),
        appends: [],
        result: undefined,
      }))
    return { clock, open, store, write }
  }

  test('what has expired is forgotten while others write, and nothing else is', async () => {
    const { clock, store, write } = await setting()
    await write('old', 500, minutes(1))
    await write('long', 500, hours(10))
    await write('ever', 500)
    await age(hours(1))
    for (let round = 0; (await count('old%')) > 0; round++) {
      clock.advance(minutes(2))
      await write(`new${round}-`, 1_000)
    }
    await store.close()
    expect([await count('long%'), await count('ever%')]).toEqual([500, 500])
  })

  test('a clock that leapt ahead empties nothing: the database has not lived so long', async () => {
    const { store, write } = await setting()
    await write('old', 500, minutes(1))
    // The clock of the server says that an hour has passed; the one that sweeps knows better.
    await age(hours(1))
    for (let round = 0; round < 10; round++) await write(`new${round}-`, 1_000)
    await store.close()
    expect(await count('old%')).toBe(500)
  })

  test('nothing is forgotten behind a fence: the store is being moved', async () => {
    const { store, write } = await setting()
    await write('old', 50, minutes(1))
    await age(hours(1))
    await store.moving?.fence('of a test')
    const sweep = () => pool.query(`SELECT * FROM ${place.name}.sweep('', 1000, ${hours(2)}, 0)`)
    await sweep()
    expect(await count('old%')).toBe(50)
    await store.moving?.fence(undefined)
    await sweep()
    expect(await count('old%')).toBe(0)
    await store.close()
  })

  test('a clock that stepped back lets nothing expire before its time', async () => {
    const { clock, store, write } = await setting()
    await write('old', 500, minutes(1))
    await age(-hours(1))
    for (let round = 0; round < 4; round++) {
      await write('ever', 1_000)
      await swept()
      clock.advance(minutes(10))
    }
    await store.close()
    expect(await count('old%')).toBe(500)
  })

  test('nor does it where a server sweeps that was idle while others told how long they ran', async () => {
    const { clock, open, store, write } = await setting()
    const idle = open()
    for (const on of [store, idle]) await write('ever', 1_000, undefined, on)
    await swept()
    clock.advance(hours(1))
    await write('ever', 1_000)
    await swept()
    await write('old', 500, minutes(1))
    await age(hours(1))
    for (let round = 0; round < 6; round++) {
      await write('ever', 1_000, undefined, idle)
      await swept()
    }
    await Promise.all([store.close(), idle.close()])
    expect(await count('old%')).toBe(500)
  })
})
