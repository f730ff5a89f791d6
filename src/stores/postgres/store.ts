/**
 * A store in a PostgreSQL database that any number of servers share. Its time is the database's; a
 * commit is one call of a function, and all calls of one moment travel in one.
 */
import { quote } from '../../core/errors.ts'
import type { Item, KeptItem } from '../../core/store.ts'
import { type Clock, instant, type Span, type Uptime } from '../../core/time.ts'
import { uptime as processUptime } from '../../lib/clock.ts'
import { GRACE } from '../remote/backend.ts'
import { createBell, type Wire } from '../remote/bell.ts'
import { ANSWER_WITHIN, openLines } from '../remote/line.ts'
import { type OptimistSettings, optimist } from '../remote/optimist.ts'
import { type Pages, type SharedStore, sharedStore } from '../remote/shared-store.ts'
import { postgresBackend } from './backend.ts'
import { isPostgresReply, openPostgres, type Row } from './database.ts'
import { postgresMistake } from './errors.ts'
import { inspectPostgres, prepareSchema } from './fitness.ts'
import { postgresMoving, refuseFence, THING } from './moving.ts'
import { type PostgresPlaces, postgresPlaces } from './questions.ts'
import { sweepCall } from './schema.ts'

export interface PostgresOptions extends OptimistSettings {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with the parameters that pg knows. */
  readonly url: string
  /** Where in the database; created if it is missing; `headgate`. */
  readonly schema?: string
  /** How long an answer may take before a call rejects with STORE_UNAVAILABLE; 2 s. */
  readonly timeout?: Span
}

export interface PostgresStore extends SharedStore {
  /** What the database is like, by name, for people. */
  inspect(): Promise<Readonly<Record<string, string | number>>>
}

/**
 * Connects when it is first used, and again whenever a connection is lost. Throws POSTGRES_URL_INVALID
 * and POSTGRES_SCHEMA_INVALID.
 *
 * @example
 * import { limiter } from 'headgate'
 * import { postgres } from 'headgate/postgres'
 *
 * const store = postgres('postgres://localhost/headgate')
 * const exports = limiter({ store, limits: { Exports: { burst: 2, period: '24h' } } })
 * console.log((await exports.spend('Exports', 'ann')).allowed)
 * await store.close()
 */
export const postgres = (urlOrOptions: string | PostgresOptions): PostgresStore => {
  const options = typeof urlOrOptions === 'string' ? { url: urlOrOptions } : urlOrOptions
  const { url, schema = 'headgate', timeout = ANSWER_WITHIN, uptime = processUptime } = options
  checkSchema(schema)
  const thing = THING
  const database = openPostgres(url, timeout)
  const { observe = () => {} } = options
  const line = openLines({ thing, isAnswer: isPostgresReply, timeout, observe })()
  const onRetry = () => observe({ kind: 'retry' })
  const places = postgresPlaces({ thing, database, line, name: schema, onRetry })
  // A channel and a schema may have the same name.
  const wire: Wire = {
    ring: (stream) => places.ask('SELECT pg_notify($1, $2)', [schema, stream]),
    hear: (heard, listening) => database.subscribe(schema, heard, listening),
  }
  const bell = createBell(wire, observe)
  const sweeper = createSweeper(places, uptime)
  const store = sharedStore({
    thing,
    open: () => prepareSchema(thing, places),
    calls: optimist({
      ...options,
      thing,
      backend: postgresBackend(places),
      onAppended: bell.rang,
      onGroup: (group) => {
        sweeper.wrote(group.writes)
        options.onGroup?.(group)
      },
    }),
    pages: postgresPages(places, options.clock),
    moving: postgresMoving(places, options.clock),
    bell,
    partition: () => '',
    close: async () => {
      await sweeper.drained()
      await database.close()
    },
  })
  return {
    ...store,
    inspect: async () => {
      await store.opened()
      return inspectPostgres(places)
    },
  }
}

/** It becomes part of statements, in quotes: there it may be a word of SQL, and end none. */
function checkSchema(schema: string): void {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(schema) && !schema.startsWith('pg_')) return
  const rule = 'must be lower-case letters, digits and underscores, and not begin with pg_'
  throw postgresMistake('POSTGRES_SCHEMA_INVALID', 'schema', rule, quote(schema))
}

// Streams, indexes and the scan.

/** Entries forgotten at once: a long stream must not hold a lock for long. */
const TRIM_BATCH = 1_000

const postgresPages = ({ ask, schema }: PostgresPlaces, clock: Clock | undefined): Pages => {
  /** Asks who answers as well: a page of a standby may be an old one, and so may an empty page. */
  const page = async (
    by: 'position' | 'key',
    text: string,
    values: unknown[],
  ): Promise<readonly Row[]> => {
    const who = '(SELECT pg_is_in_recovery() AS standby) AS who'
    const rows = await ask(
      `SELECT * FROM ${who} LEFT JOIN (${text}) AS page ON true ORDER BY ${by}`,
      values,
    )
    return rows.filter((row) => row[by] !== null)
  }
  return {
    entries: async (stream, after, limit) => {
      const found = await page(
        'position',
        `SELECT position, entry FROM ${schema}.entries
          WHERE stream = $1 AND position > $2 ORDER BY position LIMIT $3`,
        [stream, after, limit],
      )
      return found.map(({ position, entry }) => ({
        position: Number(position),
        entry: String(entry),
      }))
    },
    range: async (index, after, limit) => {
      // An index lists what begins with its name and a hash, and no name of an index has one.
      if (index.includes('#')) return []
      const found = await page(
        'key',
        `SELECT key, value FROM ${schema}.items
          WHERE key > $1 AND key < $2 AND key > $3 ORDER BY key LIMIT $4`,
        [`${index}#`, `${index}$`, beforeNul(after), limit],
      )
      return found.map(toItem)
    },
    trim: async (stream, before) => {
      const trim = `WITH fence AS (SELECT fence FROM ${schema}.life, ${schema}.durable()), gone AS (
        DELETE FROM ${schema}.entries WHERE stream = $1 AND position IN (
          SELECT position FROM ${schema}.entries
          WHERE stream = $1 AND position < $2 ORDER BY position LIMIT ${TRIM_BATCH}
        ) AND (SELECT fence FROM fence) IS NULL RETURNING 1
      ) SELECT (SELECT count(*) FROM gone) AS forgotten, fence FROM fence`
      let forgotten = TRIM_BATCH
      while (forgotten === TRIM_BATCH) {
        const [row] = await ask(trim, [stream, before])
        refuseFence(row?.['fence'])
        forgotten = Number(row?.['forgotten'])
      }
    },
    scan: async (cursor, limit) => {
      const text = `SELECT key, value, expires_at, ${schema}.micros() AS at
        FROM ${schema}.items WHERE key > $1 ORDER BY key LIMIT $2`
      const found = await page('key', text, [beforeNul(cursor), limit])
      const items = found.map((row) => toKeptItem(row, clock))
      const last = items.at(-1)
      return last === undefined || items.length < limit ? { items } : { items, next: last.key }
    },
  }
}

/** PostgreSQL takes no NUL; and no key has one, so that the same keys lie beyond. */
const beforeNul = (after: string): string => after.split('\0', 1)[0] ?? ''

/** A clock that overrides the server's, in tests, is somewhere else: what counts is how long it still is. */
function toKeptItem(row: Row, clock: Clock | undefined): KeptItem {
  const { expires_at: expiry, at } = row
  const ahead = clock === undefined ? 0 : Number(at) - clock()
  const expiresAt = instant(Number(expiry) - GRACE - ahead)
  return { ...toItem(row), ...(expiry !== null && { expiresAt }) }
}

const toItem = ({ key, value }: Row): Item => ({ key: String(key), value: String(value) })

// Expired keys are forgotten by going round the table, a little in step with the writes, beside all calls.

interface Sweeper {
  /** To be told of every commit. Never waits, never throws. */
  wrote(writes: number): void
  /** Resolves when no sweep is under way. */
  drained(): Promise<void>
}

/** Above one a write, so that it comes round before as many keys were added as it passed. */
const SWEPT_PER_WRITE = 2

/** Keys that one sweep may pass: a few milliseconds of the server. */
const MAX_SWEPT = 1_024

const createSweeper = ({ ask, schema }: PostgresPlaces, uptime: Uptime): Sweeper => {
  let due = 0
  let passed = ''
  let heard: { readonly lived: number; readonly at: number } | undefined
  let sweeping: Promise<void> | undefined

  const sweep = async (count: number): Promise<void> => {
    const { lived, at } = heard ?? { lived: 0, at: uptime() }
    const [row] = await ask(sweepCall(schema), [passed, count, lived, uptime() - at])
    heard = { lived: Number(row?.['lived']), at: uptime() }
    const last = row?.['last']
    passed = typeof last === 'string' ? last : ''
  }

  return {
    wrote: (writes) => {
      due = Math.min(MAX_SWEPT, due + writes * SWEPT_PER_WRITE)
      if (due < MAX_SWEPT || sweeping !== undefined) return
      due = 0
      // What fails now is done by the next one.
      sweeping = sweep(MAX_SWEPT)
        .catch(() => {})
        .finally(() => {
          sweeping = undefined
        })
    },
    drained: async () => sweeping,
  }
}
