/**
 * Operations that happen once: what was answered under a key is kept in the commit that did it, so
 * that a retry after a lost reply changes nothing. Between the two a crash would charge twice.
 *
 * A refusal is not kept: asking again is a new question.
 */
import { assert, HeadgateError } from './errors.ts'
import { enterShard, type Shard } from './shards.ts'
import type { Key, Value, View, Write } from './store.ts'
import { type Instant, instant } from './time.ts'

export type OperationErrorCode = 'OPERATION_ID_INVALID' | 'OPERATION_ID_REUSED'

/** Room for a transaction id with its mode, a UUID, a hash or a URL-safe name; not for a document. */
export const MAX_OPERATION_ID = 256

export interface Operation<Result> {
  readonly key: Key
  /** A hash of the question: the same key with another question is a mistake. */
  readonly digest: string
  /** From here on the answer may be forgotten; absent: never. */
  readonly expiresAt?: Instant
  /** Bounds how much is kept in all. Absent: forgetting an answer early would do harm. */
  readonly shard?: Shard
  /** Whether a result is kept at all. */
  counts(result: Result): boolean
  encode(result: Result): Value
  decode(value: Value): Result
  /** What is thrown when the key was used for another question. */
  reused(): HeadgateError
}

interface Change<Result> {
  readonly result: Result
  readonly writes: readonly Write[]
}

/** Runs `run`, and keeps its result; or, if that happened before, hands the kept result to `replay`. */
export const once = <Result, Made extends Change<Result>>(
  view: View,
  operation: Operation<Result>,
  run: () => Made,
  replay: (result: Result) => Made,
): Made => {
  const { key, digest } = operation
  const kept = remembered(view, key)
  if (kept !== undefined) {
    if (kept.digest !== digest) throw operation.reused()
    return replay(operation.decode(kept.answer))
  }
  const made = run()
  if (!operation.counts(made.result)) return made
  const keeping = keep(view, operation, made.result)
  // What was amended may be the very answer that this one takes the place of.
  const rest = made.writes.filter(({ key }) => keeping.every((write) => write.key !== key))
  return { ...made, writes: [...rest, ...keeping] }
}

/** What is kept under a key, whatever was asked: a refund looks up what its spend charged. */
export const recall = (view: View, key: Key): Value | undefined => remembered(view, key)?.answer

/** The same of a value that was read already, however old it is: for an audit. */
export const answerIn = (value: Value): Value => open(value).answer

/** Changes what is kept under a key, and nothing of how long. There must be something. */
export const amend = (view: View, key: Key, answer: Value): Write => {
  const kept = remembered(view, key)
  assert(kept !== undefined, 'only what is kept is amended')
  const value = seal({ ...kept, answer })
  return kept.until === undefined ? { key, value } : { key, value, expiresAt: kept.until }
}

/** By the time that it says itself: the store may go on showing what it may forget. */
function remembered(view: View, key: Key): Kept | undefined {
  const [value] = view.read(key)
  const kept = value === undefined ? undefined : open(value)
  return kept?.until !== undefined && kept.until <= view.now ? undefined : kept
}

/** Ids go into keys and logs as they are. */
export const checkOperationId = (id: string): string => {
  if (id.length <= MAX_OPERATION_ID && /^[\x21-\x7e]+$/.test(id)) return id
  throw new HeadgateError<OperationErrorCode>({
    code: 'OPERATION_ID_INVALID',
    thing: 'operationId',
    rule: `must be 1 to ${MAX_OPERATION_ID} printable ASCII characters without spaces`,
    finding: JSON.stringify(id.slice(0, MAX_OPERATION_ID)),
  })
}

function keep<Result>(view: View, operation: Operation<Result>, result: Result): readonly Write[] {
  const { key, digest, shard, expiresAt } = operation
  const value = seal({ digest, until: expiresAt, answer: operation.encode(result) })
  const kept: Write = expiresAt === undefined ? { key, value } : { key, value, expiresAt }
  if (shard === undefined) return [kept]
  assert(expiresAt !== undefined, 'what a shard lists ends by itself')
  const [list] = view.read(shard.key)
  const fact = { length: key.length + value.length, until: expiresAt }
  const { write, pushedOut } = enterShard(shard, list, fact, view.now)
  return [kept, write, ...pushedOut.map((entry) => ({ key: shard.keyOf(entry) }))]
}

const FOR_EVER = '-'

interface Kept {
  readonly digest: string
  /** From then on it is forgotten; undefined: never. */
  readonly until: Instant | undefined
  readonly answer: Value
}

function seal({ digest, until, answer }: Kept): Value {
  return `${digest} ${until ?? FOR_EVER} ${answer}`
}

function open(value: Value): Kept {
  const first = value.indexOf(' ')
  const second = value.indexOf(' ', first + 1)
  assert(first > 0 && second > 0, 'a kept answer begins with digest and end')
  const until = value.slice(first + 1, second)
  return {
    digest: value.slice(0, first),
    until: until === FOR_EVER ? undefined : instant(Number(until)),
    answer: value.slice(second + 1),
  }
}
