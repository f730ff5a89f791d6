/** The connections to a PostgreSQL database, through pg: statements without names, so that poolers between pass them. */
import { Client, Pool } from 'pg'
import { millis, type Span, toMillis } from '../../core/time.ts'
import { checkPostgresUrl } from './address.ts'

export interface PostgresDatabase {
  /** A row that says `standby` is refused: what a standby shows is old. */
  query(text: string, values?: unknown[]): Promise<readonly Row[]>
  /**
   * Hears what is notified, until the returned function is called, over a connection of its own that is
   * opened again when it is lost. `listening` is told when it begins and when it ends; or that it does
   * not, as a pooler stands between: those hand a session, and what it listens to, from client to client.
   */
  subscribe(
    channel: string,
    heard: (message: string) => void,
    listening: (on: boolean) => void,
  ): () => void
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
    subscribe: (channel, heard, listening) => subscribeAt(url, timeout, channel, heard, listening),
    close: async () => {
      await Promise.all([...pools].map(end))
    },
  }
}

/** After a connection that listens was lost, or could not be had. */
const LISTEN_AGAIN: Span = millis(500)

function subscribeAt(
  url: string,
  timeout: Span,
  ...[channel, heard, listening]: Parameters<PostgresDatabase['subscribe']>
): () => void {
  let ear: Client | undefined
  let timer: NodeJS.Timeout | undefined
  let isOver = false

  const open = async (client: Client): Promise<void> => {
    await client.connect()
    if (await isPooled(client)) {
      isOver = true
      listening(false)
      await client.end()
      return
    }
    await client.query(`LISTEN "${channel}"`)
    listening(true)
    await new Promise((resolve) => client.once('end', resolve))
    listening(false)
  }
  const start = async (): Promise<void> => {
    const client = new Client({ ...connectionOf(url, timeout), query_timeout: toMillis(timeout) })
    ear = client
    // Its end tells the same.
    client.on('error', () => {})
    client.on('notification', ({ payload }) => heard(payload ?? ''))
    await open(client).catch(() => void client.end().catch(() => {}))
    if (!isOver) timer = setTimeout(start, toMillis(LISTEN_AGAIN)).unref()
  }
  void start()
  return () => {
    isOver = true
    clearTimeout(timer)
    void ear?.end().catch(() => {})
  }
}

/** PostgreSQL names the process that will serve a connection; if another answers, a pooler made up the name. */
async function isPooled(client: Client): Promise<boolean> {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  return !('processID' in client) || rows[0]?.pid !== client.processID
}

/** What all connections share, those that only listen included. */
const connectionOf = (url: string, timeout: Span) => ({
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
