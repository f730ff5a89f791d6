/** The connections to a PostgreSQL database, through pg: statements without names, so that poolers between pass them. */
import { Pool } from 'pg'
import { type Span, toMillis } from '../../core/time.ts'
import { checkPostgresUrl } from './address.ts'

export interface PostgresDatabase {
  /** A row that says `standby` is refused: what a standby shows is old. */
  query(text: string, values?: unknown[]): Promise<readonly Row[]>
  close(): Promise<void>
}

export type Row = Readonly<Record<string, unknown>>

/** Commits come one at a time; the others serve looks and lists beside it. */
const MAX_CONNECTIONS = 4

export const openPostgres = (url: string, timeout: Span): PostgresDatabase => {
  checkPostgresUrl(url)
  const pools = new Set<Pool>()
  let pool = open()

  function open(): Pool {
    const opened = new Pool({
      ...connectionOf(url, timeout),
      max: MAX_CONNECTIONS,
      // The pool then throws the connection away, on which the answer may yet come.
      query_timeout: toMillis(timeout),
    })
    // Of a connection that nobody was using: the next call opens another.
    opened.on('error', () => {})
    pools.add(opened)
    return opened
  }
  const end = async (ending: Pool): Promise<void> => {
    pools.delete(ending)
    await ending.end()
  }

  return {
    query: async (text, values) => {
      const used = pool
      try {
        const { rows } = await used.query<Row>(text, values)
        if (rows[0]?.['standby'] === true) throw new StandbyAnswered()
        return rows
      } catch (cause) {
        // After a failover the address may lead to another server: no connection is kept to this one.
        if (takesNoWrites(cause) && used === pool) {
          pool = open()
          void end(used)
        }
        throw cause
      }
    },
    close: async () => {
      await Promise.all([...pools].map(end))
    },
  }
}

/** What all connections share, those that only listen included. */
export const connectionOf = (url: string, timeout: Span) => ({
  connectionString: url,
  application_name: 'headgate',
  keepAlive: true,
  connectionTimeoutMillis: toMillis(timeout),
})

class StandbyAnswered extends Error {
  override readonly message = 'a standby, which takes no writes'
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
export const sqlState = (cause: unknown): string | undefined =>
  cause instanceof Error && 'severity' in cause && 'code' in cause ? String(cause.code) : undefined

const READ_ONLY = '25006'

const takesNoWrites = (cause: unknown): boolean =>
  cause instanceof StandbyAnswered || sqlState(cause) === READ_ONLY

/** Starting, shutting down or recovering; and no connection left. PgBouncer says 08P01 of a server it cannot reach. */
const TURNS_AWAY = new Set(['57P03', '53300', '08000', '08001', '08004', '08006', '08P01'])

/**
 * Whether an error is the word of a server that we can work with: it carries a state of SQL. One that lets
 * nobody in, or takes no writes, is as good as none.
 */
export const isPostgresReply = (cause: unknown): boolean => {
  const state = sqlState(cause)
  return state !== undefined && !TURNS_AWAY.has(state) && !takesNoWrites(cause)
}
