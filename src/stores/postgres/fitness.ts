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
  { ask: askServer, schema, name }: PostgresPlaces,
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
  if (found < FORMAT) await ask(migration(name))
  const reached = await format()
  if (reached > FORMAT) {
    const rule = `holds data of format ${FORMAT}, which is all that this version reads`
    throw postgresMistake('POSTGRES_FORMAT_NEWER', thing, rule, `format ${reached}`)
  }
}

/** What the database is like, for those who check it; by name, for people. */
export const inspectPostgres = async ({
  ask,
  schema,
  name,
}: PostgresPlaces): Promise<Readonly<Record<string, string | number>>> => {
  const [row = {}] = await ask(`SELECT current_setting('server_version') AS version,
      (SELECT number FROM ${schema}.format) AS format,
      current_setting('fsync') AS fsync,
      current_setting('full_page_writes') AS "full_page_writes",
      current_setting('synchronous_commit') AS "synchronous_commit",
      current_setting('default_transaction_isolation') AS isolation,
      pg_is_in_recovery()::text AS standby,
      (SELECT count(*) FROM pg_stat_replication)::integer AS replicas,
      has_schema_privilege('${name}', 'CREATE')::text AS "may create",
      (SELECT bool_and(pg_get_userbyid(relowner) = current_user) FROM pg_class
        WHERE relnamespace = '${schema}'::regnamespace AND relkind = 'r')::text AS "may alter",
      (SELECT sum(pg_total_relation_size(oid)) FROM pg_class
        WHERE relnamespace = '${schema}'::regnamespace AND relkind = 'r')::float8 AS bytes`)
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'number' ? value : String(value),
    ]),
  )
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
