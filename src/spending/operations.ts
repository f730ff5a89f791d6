/**
 * Operation ids: what was answered under an id is kept in the transaction that did it, so that a
 * message that comes twice counts once. Kept by time only, not by number: forgetting one early
 * would charge somebody twice.
 */
import { createHash } from 'node:crypto'
import { type Change, type Context, forgetAt, unchanged } from './context.ts'
import { mistake, quote, type SpendingErrorCode } from './mistake.ts'
import { readMoney, writeMoney } from './money-json.ts'

export interface Operation {
  readonly verb: 'hold' | 'capture' | 'record'
  readonly id: string | undefined
  /** What was asked, canonical and in a fixed order. The same id with another question is a mistake. */
  readonly question: readonly unknown[]
}

/** Room for a transaction id with its mode, a UUID or a hash. */
export const MAX_OPERATION_ID = 256

/** The remembered answer, or a new one, remembered if it `counts`. */
export const once = <R extends { readonly duplicate?: true }>(
  context: Context,
  { verb, id, question }: Operation,
  run: () => Change<R>,
  counts: (result: R) => boolean,
): Change<R> => {
  if (id === undefined) return run()
  const key = context.keys.operation(verb, checkId(id))
  const digest = digestOf(question)
  const [value] = context.view.read(key)
  if (value !== undefined) {
    const memory = readMoney<Memory<R>>(value)
    if (memory.digest !== digest) throw reused(verb, id)
    return unchanged({ ...memory.answer, duplicate: true })
  }
  const change = run()
  if (!counts(change.result)) return change
  const memory = writeMoney({ digest, answer: change.result })
  const write = { key, value: memory, expiresAt: forgetAt(context) }
  return { ...change, writes: [...change.writes, write] }
}

interface Memory<R> {
  readonly digest: string
  readonly answer: R
}

function checkId(id: string): string {
  if (id.length <= MAX_OPERATION_ID && /^[\x21-\x7e]+$/.test(id)) return id
  const rule = `must be 1 to ${MAX_OPERATION_ID} printable ASCII characters without spaces`
  throw mistake('OPERATION_ID_INVALID', 'operationId', rule, quote(id))
}

function reused(verb: Operation['verb'], id: string) {
  const code: SpendingErrorCode = verb === 'hold' ? 'HOLD_CONFLICT' : 'OPERATION_ID_REUSED'
  const rule = `must name one ${verb} only, asked again in the same words`
  return mistake(code, `operationId ${id}`, rule, `an id that was used for another ${verb}`)
}

function digestOf(question: readonly unknown[]): string {
  const text = JSON.stringify(question, (_, held) =>
    typeof held === 'bigint' ? held.toString() : held,
  )
  return createHash('sha256').update(text).digest('base64url')
}
