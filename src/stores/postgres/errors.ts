/** What can be wrong with a PostgreSQL database before it is used. Its failures in use are `StoreError`s. */
import { type MakeMistake, makeMistake } from '../../core/errors.ts'

/**
 * - `POSTGRES_URL_INVALID`: the URL names no database.
 * - `POSTGRES_SCHEMA_INVALID`: a name of other than lower-case letters, digits and underscores, or of PostgreSQL's own.
 * - `POSTGRES_DENIED`: the server does not let us in, or not make our schema.
 * - `POSTGRES_TOO_OLD`: a server older than we use.
 * - `POSTGRES_FORMAT_NEWER`: holds data of a newer Headgate.
 */
export type PostgresErrorCode =
  | 'POSTGRES_URL_INVALID'
  | 'POSTGRES_SCHEMA_INVALID'
  | 'POSTGRES_DENIED'
  | 'POSTGRES_TOO_OLD'
  | 'POSTGRES_FORMAT_NEWER'

export const postgresMistake: MakeMistake<PostgresErrorCode> = makeMistake
