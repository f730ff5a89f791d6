/** All that Headgate keeps in a PostgreSQL database, for those who move it; and the fence that they put up. */
import type { Moving, RestoredStream, Write } from '../../core/store.ts'
import { type Clock, instant } from '../../core/time.ts'
import { checkPage, checkRestored } from '../bounds.ts'
import { storeFenced } from '../fence.ts'
import { GRACE } from '../remote/backend.ts'
import type { PostgresPlaces } from './questions.ts'

/** Names the store in errors. */
export const THING = 'the PostgreSQL store'

/** Throws if there is one. */
export function refuseFence(fence: unknown): void {
  if (typeof fence === 'string') throw storeFenced(THING, fence)
}

export const postgresMoving = (
  { ask, schema }: PostgresPlaces,
  clock: Clock | undefined,
): Moving => {
  const sql = statementsFor(schema)
  return {
    status: async () => {
      const [row] = await ask(sql.status)
      const fence = row?.['fence']
      return {
        fence: typeof fence === 'string' ? fence : undefined,
        clocks: [clock?.() ?? instant(Number(row?.['at']))],
        keys: Number(row?.['keys']),
      }
    },
    fence: async (why) => {
      await ask(`SELECT ${schema}.fence($1)`, [why ?? null])
    },
    streams: async (after, limit) => {
      checkPage(limit)
      const found = await ask(sql.streams, [after, limit])
      const streams = found.map(({ stream, last }) => ({
        stream: String(stream),
        last: Number(last),
      }))
      const next = streams.length < limit ? undefined : streams.at(-1)?.stream
      return { streams, ...(next !== undefined && { next }) }
    },
    restore: async (writes, streams) => {
      checkRestored(writes, streams)
      // One statement takes a row once: of a key that is named twice the last word counts, as elsewhere.
      const words = [...new Map(writes.map((write) => [write.key, write])).values()]
      const kept = words.filter(({ value }) => value !== undefined)
      const gone = words.filter(({ value }) => value === undefined)
      // A clock that overrides the server's tells only how long it still is.
      if (kept.length > 0) await ask(sql.putItems, [...columnsOf(kept), clock?.() ?? null])
      if (gone.length > 0) await ask(sql.removeItems, [gone.map(({ key }) => key)])
      if (streams.length > 0) await ask(sql.putEntries, entryColumns(streams))
      if (streams.length > 0) await ask(sql.putStreams, streamColumns(streams))
    },
  }
}

/** Beyond this the planner's estimate of the number of keys will do: counting them takes seconds. */
const COUNTED = 1_000_000

const statementsFor = (schema: string) => ({
  status: `SELECT fence, ${schema}.micros() AS at, CASE
      WHEN (SELECT reltuples FROM pg_class WHERE oid = '${schema}.items'::regclass) > ${COUNTED}
      THEN (SELECT reltuples::bigint FROM pg_class WHERE oid = '${schema}.items'::regclass)
      ELSE (SELECT count(*) FROM ${schema}.items) END AS keys
    FROM ${schema}.life`,
  streams: `SELECT stream, last FROM ${schema}.streams WHERE stream > $1 ORDER BY stream LIMIT $2`,
  putItems: `INSERT INTO ${schema}.items AS i (key, value, expires_at, keep_until)
    SELECT w.key, w.value, w.expires_at + ahead,
      lived + greatest(0, w.expires_at + ahead - at)
    FROM unnest($1::text[], $2::text[], $3::bigint[]) AS w(key, value, expires_at),
      (SELECT lived, at, at - coalesce($4::bigint, at) AS ahead
       FROM ${schema}.life, ${schema}.micros() AS at, ${schema}.durable()) AS now
    ON CONFLICT (key) DO UPDATE SET value = excluded.value,
      expires_at = excluded.expires_at, keep_until = excluded.keep_until`,
  removeItems: `DELETE FROM ${schema}.items USING ${schema}.durable() WHERE key = ANY ($1)`,
  putEntries: `INSERT INTO ${schema}.entries (stream, position, entry)
    SELECT e.* FROM unnest($1::text[], $2::bigint[], $3::text[]) AS e, ${schema}.durable()
    ON CONFLICT DO NOTHING`,
  putStreams: `INSERT INTO ${schema}.streams AS s (stream, last)
    SELECT h.stream, max(h.last)
    FROM unnest($1::text[], $2::bigint[]) AS h(stream, last), ${schema}.durable()
    GROUP BY h.stream
    ON CONFLICT (stream) DO UPDATE SET last = greatest(s.last, excluded.last)`,
})

const columnsOf = (writes: readonly Write[]): unknown[] => [
  writes.map(({ key }) => key),
  writes.map(({ value }) => value),
  writes.map(({ expiresAt }) => (expiresAt === undefined ? null : expiresAt + GRACE)),
]

const entryColumns = (streams: readonly RestoredStream[]): unknown[] => [
  streams.flatMap(({ stream, entries }) => entries.map(() => stream)),
  streams.flatMap(({ entries }) => entries.map(({ position }) => position)),
  streams.flatMap(({ entries }) => entries.map(({ entry }) => entry)),
]

const streamColumns = (streams: readonly RestoredStream[]): unknown[] => [
  streams.map(({ stream }) => stream),
  streams.map(({ last }) => last),
]
