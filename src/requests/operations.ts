/**
 * Operation ids: an admitted answer is remembered, so that a retry after a lost reply changes
 * nothing. In the same transaction as the charge, or a crash between the two would charge twice.
 *
 * A refusal is not remembered: asking again is a new question. What is remembered is bounded for
 * each scope by a ring of slots; when it is full the oldest is forgotten, though it may still live.
 */
import { createHash } from 'node:crypto'
import {
  after,
  answer,
  HeadgateError,
  type Instant,
  instant,
  type Key,
  type Plan,
  type Span,
  type Value,
  type View,
  type Write,
} from '../core/index.ts'
import type { Answer } from './answer.ts'
import type { Ask, Batch } from './ask.ts'

export type OperationVerb = 'spend' | 'refund' | 'reset'

export interface Operation {
  /** Who asks: ids of different tokens never meet. */
  readonly scope: string
  readonly verb: OperationVerb
  readonly id: string
  /** What was asked. The same id with another question is a mistake. */
  readonly digest: string
}

/** What a step found out: the answer, and what it changes. */
export interface Finding {
  readonly answer: Answer
  readonly writes: readonly Write[]
  /** What was really charged; a give-back undoes this and no more. Asked for only with an id. */
  charged(): readonly Charged[]
}

export interface Charged {
  readonly asked: Ask
  readonly bucket: string
  readonly cost: number
}

export interface Memory {
  readonly digest: string
  readonly at: Instant
  readonly charged: readonly Charged[]
  readonly answer: Answer
}

export interface OperationPolicy {
  readonly rememberFor: Span
  /** How many operations one scope may have remembered. */
  readonly perScope: number
}

export type OperationErrorCode =
  | 'OPERATION_ID_INVALID'
  | 'OPERATION_ID_REUSED'
  | 'OPERATION_UNKNOWN'
  | 'OPERATION_CHARGES'

/** Room for a UUID, a hash or a URL-safe name, and not for a document. */
export const MAX_OPERATION_ID = 128

/** The operation that a batch asks to be remembered as; undefined if it has no operation id. */
export const toOperation = (
  verb: OperationVerb,
  { charges, operationId: id }: Batch,
  scope: string,
): Operation | undefined => {
  if (id === undefined) return undefined
  if (!/^[\x21-\x7e]+$/.test(id) || id.length > MAX_OPERATION_ID) {
    throw new HeadgateError<OperationErrorCode>({
      code: 'OPERATION_ID_INVALID',
      thing: 'operationId',
      rule: `must be 1 to ${MAX_OPERATION_ID} printable ASCII characters without spaces`,
      finding: JSON.stringify(id.slice(0, MAX_OPERATION_ID)),
    })
  }
  return { scope, verb, id, digest: digestOf(charges) }
}

/** The remembered answer, or a new finding, remembered if it was admitted. */
export const once = (
  view: View,
  operation: Operation | undefined,
  policy: OperationPolicy,
  find: (view: View) => Finding,
): Plan<Answer> => {
  const memory = operation === undefined ? undefined : recall(view, operation)
  if (memory !== undefined) return answer({ ...memory.answer, replayed: true })
  const found = find(view)
  const { writes, answer: result } = found
  if (operation === undefined || !result.allowed) return { writes, appends: [], result }
  const kept = remember(view, operation, found, policy)
  return { writes: [...writes, ...kept], appends: [], result }
}

/** What was answered before under this id; refuses an id that was used for another question. */
const recall = (view: View, operation: Operation): Memory | undefined => {
  const memory = peek(view, operation)
  if (memory === undefined || memory.digest === operation.digest) return memory
  throw new HeadgateError<OperationErrorCode>({
    code: 'OPERATION_ID_REUSED',
    thing: `operationId ${operation.id}`,
    rule: `must name one question only; this id was used for another ${operation.verb}`,
  })
}

/** The same without comparing questions: a refund asks what a spend of its id charged. */
export const peek = (view: View, operation: Omit<Operation, 'digest'>): Memory | undefined => {
  const [value] = view.read(keyOf(operation))
  return value === undefined ? undefined : decode(value).memory
}

/** The writes that remember an answer. */
const remember = (
  view: View,
  operation: Operation,
  { answer: given, charged }: Finding,
  { rememberFor, perScope }: OperationPolicy,
): readonly Write[] => {
  const counterKey = `operations/${operation.scope}`
  const [counter = '0'] = view.read(counterKey)
  const turn = Number(counter)
  const slotKey = `${counterKey}/${turn % perScope}`
  const [evicted] = view.read(slotKey)
  const key = keyOf(operation)
  const expiresAt = after(view.now, rememberFor)
  const entry = { answer: given, charged: charged(), digest: operation.digest, at: view.now }
  return [
    { key, value: encode({ memory: entry, turn }), expiresAt },
    { key: slotKey, value: key, expiresAt },
    { key: counterKey, value: String(turn + 1) },
    ...forget(view, evicted, turn - perScope, key),
  ]
}

interface Remembered {
  readonly memory: Memory
  /** Which turn of the ring it was written in: a later one under the same id must not be evicted. */
  readonly turn: number
}

/** Over what was asked, field by field in a fixed order: how the JSON was written does not matter. */
function digestOf(charges: Batch['charges'] = []): string {
  const question = charges.map(({ limit, id, parts, cost = 1, mode, subjects }) => [
    limit,
    id,
    parts?.regId,
    parts?.ip,
    parts?.identifier && [parts.identifier.type, parts.identifier.value],
    parts?.identifiers?.map(({ type, value }) => [type, value]),
    cost,
    mode,
    subjects,
  ])
  return createHash('sha256').update(JSON.stringify(question)).digest('base64url')
}

function forget(view: View, evicted: Key | undefined, turn: number, kept: Key): readonly Write[] {
  if (evicted === undefined || evicted === kept) return []
  const [value] = view.read(evicted)
  return value !== undefined && decode(value).turn === turn ? [{ key: evicted }] : []
}

function keyOf({ scope, verb, id }: Omit<Operation, 'digest'>): Key {
  return `operation/${scope}/${verb}/${id}`
}

function encode({ memory, turn }: Remembered): Value {
  return JSON.stringify({ turn, ...memory })
}

/** JSON has no infinity: where nothing limits, `remaining` is null at rest. */
function decode(value: Value): Remembered {
  const { turn, ...memory } = JSON.parse(value, (field, held) =>
    field === 'remaining' && held === null ? Number.POSITIVE_INFINITY : held,
  ) as Memory & { turn: number }
  return { turn, memory: { ...memory, at: instant(memory.at) } }
}
