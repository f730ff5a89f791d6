/** The connections to a PostgreSQL database, through pg: statements without names, so that poolers between pass them. */
import { Pool } from 'pg'
import { type Span, toMillis } from '../../core/time.ts'
import { checkPostgresUrl } from './address.ts'

export interface PostgresDatabase {
  query(text: string, values?: unknown[]): Promise<readonly Row[]>
  close(): Promise<void>
}

export type Row = Readonly<Record<string, unknown>>

/** Commits come one at a time; the others serve looks and lists beside it. */
const MAX_CONNECTIONS = 4

export const openPostgres = (url: string, timeout: Span): PostgresDatabase => {
  checkPostgresUrl(url)
  const pool = new Pool({
    connectionString: url,
    max: MAX_CONNECTIONS,
    application_name: 'headgate',
    keepAlive: true,
    connectionTimeoutMillis: toMillis(timeout),
    // The pool then throws the connection away, on which the answer may yet come.
    query_timeout: toMillis(timeout),
  })
  // Of a connection that nobody was using: the next call opens another.
  pool.on('error', () => {})
  return {
    query: async (text, values) => {
      const { rows } = await pool.query<Row>(text, values)
      return rows
    },
    close: () => pool.end(),
  }
}

/** Whether an error is the server's own word: then it carries a state of SQL. */
export const isPostgresReply = (cause: unknown): boolean => sqlState(cause) !== undefined

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
export const sqlState = (cause: unknown): string | undefined =>
  cause instanceof Error && 'severity' in cause && 'code' in cause ? String(cause.code) : undefined
