/**
 * Questions to the database: each waits no longer than the line allows, is asked again where the server
 * turned it back whole, and says what to do about it where our own tables are not what they were.
 */
import { StoreError } from '../../core/errors.ts'
import type { ServerLine } from '../remote/line.ts'
import { type PostgresDatabase, type Row, sqlState } from './database.ts'
import { refuseFence } from './moving.ts'
import { FENCED, quoted } from './schema.ts'

export interface PostgresPlaces {
  /** Of the schema, as it is. */
  readonly name: string
  /** The same as statements have it: in quotes, for it may be a word of SQL. */
  readonly schema: string
  /** Rejects with a `StoreError`. */
  ask(text: string, values?: unknown[]): Promise<readonly Row[]>
}

interface QuestionOptions {
  readonly thing: string
  readonly database: PostgresDatabase
  readonly line: ServerLine
  readonly name: string
  /** Called for each statement that is sent again. */
  readonly onRetry?: () => void
}

export const postgresPlaces = (options: QuestionOptions): PostgresPlaces => {
  const { database, line, name, onRetry = () => {} } = options
  return {
    name,
    schema: quoted(name),
    ask: async (text, values) => {
      try {
        return await line.ask(() => patiently(() => database.query(text, values), onRetry))
      } catch (error) {
        const isGone = error instanceof StoreError && GONE.has(sqlState(error.cause) ?? '')
        throw isGone ? await explained(options, error) : error
      }
    },
  }
}

/** Serialization failure and deadlock: the transaction was rolled back whole, and may be tried again. */
const TURNED_BACK = new Set(['40001', '40P01'])

/** We lock in one order, so that only others' work can turn us back. */
const MAX_TRIES = 3

async function patiently<T>(work: () => Promise<T>, onRetry: () => void): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (cause) {
      if (sqlState(cause) === FENCED && cause instanceof Error) refuseFence(cause.message)
      if (tries === MAX_TRIES || !TURNED_BACK.has(sqlState(cause) ?? '')) throw cause
      onRetry()
    }
  }
}

/** No such function, table, column or schema. */
const GONE = new Set(['42883', '42P01', '42703', '3F000'])

/** They were there when the store was opened: a newer Headgate has changed them, or someone removed them. */
async function explained(
  { database, line, thing, name }: QuestionOptions,
  error: StoreError,
): Promise<StoreError> {
  try {
    const text = `SELECT number FROM ${quoted(name)}.format`
    const [row] = await line.ask(() => database.query(text))
    const finding = `format ${row?.['number']}, of a newer Headgate: upgrade this server`
    return new StoreError(
      { code: 'STORE_UNAVAILABLE', thing, rule: 'must keep its format', finding },
      { cause: error.cause },
    )
  } catch {
    return error
  }
}
