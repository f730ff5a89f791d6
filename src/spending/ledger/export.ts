/**
 * The ledger as text, JSON Lines or CSV, line by line: first what outlived compactions, then all that is
 * there. Each line carries the hash of its entry and that of the entry before it, as the store keeps them:
 * an export says what the ledger said, and can be verified without it.
 */
import type { Store } from '../../core/store.ts'
import { toTimestamp } from '../../lib/moments.ts'
import { familyOf } from '../flow/ask.ts'
import type { SpendingKeys } from '../keys.ts'
import { writeMoney } from '../money-json.ts'
import type { LedgerEntry, Move } from './entry.ts'
import { decodeEntry, hashOfEntry } from './entry-text.ts'
import { readStream } from './pages.ts'

export type ExportFormat = 'jsonl' | 'csv'

/** Without line ends. The ledger may grow meanwhile; the export ends where it finds the end. */
export async function* exportLedger(
  store: Store,
  keys: SpendingKeys,
  format: ExportFormat,
): AsyncGenerator<string, void, undefined> {
  if (format === 'csv') yield csvLine(COLUMNS)
  let last = 0
  const linesOf = ({ text, entry }: ReadEntry): readonly string[] => {
    last = entry.seq
    const hash = hashOfEntry(text)
    return format === 'csv' ? csvLines(entry, hash) : [jsonLine(entry, hash)]
  }
  for await (const found of entriesIn(store, keys.archive)) yield* linesOf(found)
  for await (const found of entriesIn(store, keys.ledger)) {
    const { seq } = found.entry
    // A compaction meanwhile puts into the archive what is still in the ledger, or was read from it.
    if (seq <= last) continue
    // Or what is gone from it by now.
    if (seq > last + 1) {
      for await (const kept of entriesIn(store, keys.archive)) {
        if (kept.entry.seq > last && kept.entry.seq < seq) yield* linesOf(kept)
      }
    }
    yield* linesOf(found)
  }
}

interface ReadEntry {
  readonly text: string
  readonly entry: LedgerEntry
}

async function* entriesIn(store: Store, stream: string): AsyncGenerator<ReadEntry> {
  for await (const { entry: text } of readStream(store, stream)) {
    yield { text, entry: decodeEntry(text) }
  }
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
  'prev',
  'hash',
] as const

function jsonLine(entry: LedgerEntry, hash: string): string {
  const { at, window, party } = entry
  const times = { at: toTimestamp(at), window: toTimestamp(window) }
  const category = party === undefined ? {} : { family: party.family ?? familyOf(party.operation) }
  return writeMoney({ ...entry, ...times, party: party && { ...party, ...category }, hash })
}

/** One row for each move; one without amounts for an entry that moves nothing. */
function csvLines(entry: LedgerEntry, hash: string): readonly string[] {
  const moves: readonly (Move | undefined)[] = entry.moves.length > 0 ? entry.moves : [undefined]
  return moves.map((move) => csvLine(cells(entry, move, hash)))
}

function cells(entry: LedgerEntry, move: Move | undefined, hash: string): readonly unknown[] {
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
    family: party && (party.family ?? familyOf(party.operation)),
    mode: party?.mode,
    hold: entry.hold,
    operationId: entry.operationId,
    flags: entry.flags?.join(' '),
    grant: entry.grant,
    detail: entry.detail,
    prev: entry.prev,
    hash,
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
