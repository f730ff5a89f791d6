/**
 * The ledger as text, JSON Lines or CSV, line by line. Each line carries a hash over itself and the
 * one before: whoever kept the last hash can tell whether anything before it was changed.
 */
import { createHash } from 'node:crypto'
import type { Store } from '../core/store.ts'
import type { LedgerEntry, Move } from './entry.ts'
import type { Keys } from './keys.ts'
import { readLedger } from './ledger.ts'
import { writeMoney } from './money-json.ts'
import { familyOf } from './party.ts'
import { toTimestamp } from './timestamp.ts'

export type ExportFormat = 'jsonl' | 'csv'

/** Before the first line. */
const START = '0'.repeat(64)

/** Without line ends. The stream may grow meanwhile; the export ends where it finds the end. */
export async function* exportLedger(
  store: Store,
  keys: Keys,
  format: ExportFormat,
): AsyncGenerator<string, void, undefined> {
  const columns = [...COLUMNS, 'hash']
  if (format === 'csv') yield csvLine(columns)
  let hash = START
  for await (const { entry } of readLedger(store, keys)) {
    for (const body of format === 'csv' ? csvBodies(entry) : [jsonBody(entry)]) {
      hash = chain(hash, body)
      yield format === 'csv' ? `${body},${hash}` : `${body.slice(0, -1)},"hash":"${hash}"}`
    }
  }
}

/** The number of the first line whose hash is wrong, from 1; undefined if the chain holds. */
export const brokenLine = (lines: readonly string[], format: ExportFormat): number | undefined => {
  let hash = START
  for (const [i, line] of lines.entries()) {
    if (format === 'csv' && i === 0) continue
    const tail = format === 'csv' ? 65 : '"hash":""},'.length + 64
    const body = format === 'csv' ? line.slice(0, -tail) : `${line.slice(0, -tail)}}`
    hash = chain(hash, body)
    const found = format === 'csv' ? line.slice(-64) : line.slice(-66, -2)
    if (found !== hash) return i + 1
  }
  return undefined
}

const COLUMNS = [
  'seq',
  'at',
  'window',
  'kind',
  'from',
  'to',
  'amount',
  'plan',
  'tier',
  'member',
  'ip',
  'operation',
  'family',
  'mode',
  'hold',
  'operationId',
  'transactionId',
  'caller',
  'interactingEntity',
  'requestId',
  'actor',
  'flags',
  'grant',
  'detail',
] as const

function chain(before: string, body: string): string {
  return createHash('sha256').update(`${before}\n${body}`).digest('hex')
}

function jsonBody(entry: LedgerEntry): string {
  const { at, window, party } = entry
  const times = { at: toTimestamp(at), window: toTimestamp(window) }
  const category = party === undefined ? {} : { family: familyOf(party.operation) }
  return writeMoney({ ...entry, ...times, party: party && { ...party, ...category } })
}

/** One row for each move; one without amounts for an entry that moves nothing. */
function csvBodies(entry: LedgerEntry): readonly string[] {
  const moves: readonly (Move | undefined)[] = entry.moves.length > 0 ? entry.moves : [undefined]
  return moves.map((move) => csvLine(cells(entry, move)))
}

function cells(entry: LedgerEntry, move: Move | undefined): readonly unknown[] {
  const { party, note } = entry
  const row: Readonly<Record<(typeof COLUMNS)[number], unknown>> = {
    ...NO_NOTE,
    ...note,
    seq: entry.seq,
    at: toTimestamp(entry.at),
    window: toTimestamp(entry.window),
    kind: entry.kind,
    from: move?.from,
    to: move?.to,
    amount: move?.amount,
    plan: party?.plan,
    tier: party?.tier,
    member: party?.member,
    ip: party?.ip,
    operation: party?.operation,
    family: party && familyOf(party.operation),
    mode: party?.mode,
    hold: entry.hold,
    operationId: entry.operationId,
    flags: entry.flags?.join(' '),
    grant: entry.grant,
    detail: entry.detail,
  }
  return COLUMNS.map((column) => row[column])
}

const NO_NOTE = {
  transactionId: undefined,
  caller: undefined,
  interactingEntity: undefined,
  requestId: undefined,
  actor: undefined,
}

function csvLine(fields: readonly unknown[]): string {
  return fields.map((field) => csvField(field === undefined ? '' : String(field))).join(',')
}

/** RFC 4180. A leading quote keeps spreadsheets from running what a caller wrote as a formula. */
function csvField(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
