/** Whether a PostgreSQL server is one that we can use: new enough, open to us, and of a format that we read. */
import { StoreError } from '../../core/errors.ts'
import { sqlState } from './database.ts'
import { postgresMistake } from './errors.ts'
import type { PostgresPlaces } from './questions.ts'
import { FORMAT, migration } from './schema.ts'

/** The oldest that its makers still mend. */
const OLDEST = 14

/** Any number of servers may do this at once: one does it, the others wait and find it done. */
export const prepareSchema = async (
  thing: string,
  { ask: askServer, schema }: PostgresPlaces,
): Promise<void> => {
  const ask = (text: string) =>
    askServer(text).catch((error: unknown) => refuseDenial(thing, error))
  const [server] = await ask(
    `SELECT current_setting('server_version_num')::integer / 10000 AS version,
      to_regclass('${schema}.format') IS NOT NULL AS formatted, pg_is_in_recovery() AS standby`,
  )
  if (Number(server?.['version']) < OLDEST) {
    const rule = `must be PostgreSQL ${OLDEST} or newer`
    throw postgresMistake('POSTGRES_TOO_OLD', thing, rule, String(server?.['version']))
  }
  const format = async (): Promise<number> => {
    const [row] = await ask(`SELECT number FROM ${schema}.format`)
    return Number(row?.['number'])
  }
  const found = server?.['formatted'] === true ? await format() : 0
  if (found < FORMAT) await ask(migration(schema))
  const reached = await format()
  if (reached > FORMAT) {
    const rule = `holds data of format ${FORMAT}, which is all that this version reads`
    throw postgresMistake('POSTGRES_FORMAT_NEWER', thing, rule, `format ${reached}`)
  }
}

/** Wrong password, no right to connect, no such database, no right to make or use our schema. */
const DENIALS = new Set(['28000', '28P01', '3D000', '42501'])

/** No waiting mends these: whoever wrote the URL must. */
function refuseDenial(thing: string, error: unknown): never {
  const cause = error instanceof StoreError ? error.cause : undefined
  if (!(cause instanceof Error) || !DENIALS.has(sqlState(cause) ?? '')) throw error
  const rule = 'must let us in, and have or let us make our schema'
  throw postgresMistake('POSTGRES_DENIED', thing, rule, cause.message)
}
