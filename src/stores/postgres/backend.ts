/** Compares and sets in PostgreSQL, by one call of a function: one round trip, one commit. */
import { randomUUID } from 'node:crypto'
import { assert } from '../../core/errors.ts'
import type { Value } from '../../core/store.ts'
import { type Instant, instant } from '../../core/time.ts'
import {
  type Backend,
  CLAIM,
  type DecidedAt,
  GRACE,
  type Part,
  type PartOutcome,
} from '../remote/backend.ts'
import type { Row } from './database.ts'
import { refuseFence } from './moving.ts'
import type { PostgresPlaces } from './questions.ts'
import { commitCall } from './schema.ts'

export const postgresBackend = ({ ask, schema }: PostgresPlaces): Backend => {
  const who = randomUUID()
  const commit = commitCall(schema)
  const look = `SELECT (SELECT fence FROM ${schema}.life) AS fence, ${schema}.micros() AS at, pg_is_in_recovery() AS standby, (SELECT jsonb_agg(i.value ORDER BY k.ord)
    FROM unnest($1::text[]) WITH ORDINALITY AS k(key, ord)
    LEFT JOIN ${schema}.items i ON i.key = k.key) AS found`
  const askOne = async (text: string, values: unknown[]): Promise<Row> => {
    const [row] = await ask(text, values)
    assert(row !== undefined, 'a function answers one row')
    return row
  }
  return {
    commit: async (parts, decided) => {
      const { at, conflicts, kept } = await askOne(commit, toArguments(parts, decided, who))
      assert(typeof conflicts === 'object' && conflicts !== null, 'conflicts come by part')
      const shown = new Map<string, unknown>(Object.entries(conflicts))
      const claimed = new Set(Array.isArray(kept) ? kept : [])
      const outcomes = parts.map((_, i) => toOutcome(shown.get(String(i)), claimed.has(i)))
      return { now: toInstant(at), outcomes }
    },
    look: async (keys) => {
      const { at, found, fence } = await askOne(look, [keys])
      refuseFence(fence)
      return { now: toInstant(at), values: Array.isArray(found) ? found.map(textOf) : [] }
    },
  }
}

/** Columns, one for each argument of the function. */
function toArguments(
  parts: readonly Part[],
  { now, overridden, maxAge }: DecidedAt,
  who: string,
): unknown[] {
  const expected = columns(3)
  const guessed = columns(2)
  const written = columns(4)
  const appended = columns(3)
  const claiming = columns(1)
  for (const [i, part] of parts.entries()) {
    for (const [key, value] of part.expected) expected.add(i, key, value ?? null)
    for (const key of part.guessed) guessed.add(i, key)
    for (const { key, value, expiresAt } of part.writes) {
      const life = expiresAt === undefined ? null : Math.max(0, expiresAt - now) + GRACE
      written.add(i, key, value ?? null, life)
    }
    for (const { stream, entry } of part.appends) appended.add(i, stream, entry)
    if (part.claims) claiming.add(i)
  }
  return [
    ...[overridden ? null : now, maxAge, who, CLAIM],
    ...expected.lists,
    ...guessed.lists,
    ...written.lists,
    ...appended.lists,
    ...claiming.lists,
  ]
}

function columns(count: number) {
  const lists: (string | number | null)[][] = Array.from({ length: count }, () => [])
  return {
    lists,
    add: (...row: readonly (string | number | null)[]) => {
      for (const [i, field] of row.entries()) lists[i]?.push(field)
    },
  }
}

const toOutcome = (current: unknown, claimed: boolean): PartOutcome =>
  Array.isArray(current)
    ? { kind: 'conflict', current: current.map(textOf), claimed }
    : { kind: 'applied' }

const toInstant = (at: unknown): Instant => instant(Number(at))

const textOf = (found: unknown): Value | undefined =>
  typeof found === 'string' ? found : undefined
