/**
 * What answers blinded messages: one small interface over two engines, `@celo/poprf` 0.1.9, compiled
 * from Rust, and our own arithmetic. Both give the same bytes and the same refusals.
 */
import {
  assert,
  HeadgateError,
  type Mistake,
  peerMissing,
  systemCode,
} from '../../../core/errors.ts'
import type { BlindedMessage } from '../blinded-message.ts'
import { type Bytes, refusePoprf, requireTag } from '../bytes.ts'
import { checkPrivateKey, shareIndexOf } from '../key-share.ts'

export interface Evaluator {
  /**
   * 1152 bytes for a single key, 1156 for a share. Rejects with a `HeadgateError` for a mistake of the
   * client's and with an `EvaluatorError` for any other failure. Charges and remembers nothing.
   */
  evaluate(key: EvaluationKey, tag: Bytes, blindedMessage: BlindedMessage): Promise<Bytes>

  load(): EvaluatorLoad

  /** Finishes what was accepted. Later calls reject. */
  close(): Promise<void>
}

export interface EvaluatorLoad {
  readonly running: number
  readonly waiting: number
}

/** `wasm`: the published library. `typescript`: our own. */
export type EngineName = 'wasm' | 'typescript'

/** The whole key of 32 bytes, or a signer's share of 36. */
export interface EvaluationKey {
  readonly kind: 'single' | 'share'
  readonly secret: Bytes
}

/** Evaluates on the calling thread, and blocks it. For tools, tests and processes that do nothing else. */
export const evaluateHere = async (name: EngineName = 'wasm'): Promise<Evaluator> => {
  const engine = await loadEngine(name)
  let open = true
  return {
    async evaluate(key, tag, blindedMessage) {
      if (!open) throw evaluatorClosed()
      return engine({ key, tag, blindedMessage })
    },
    load: () => ({ running: 0, waiting: 0 }),
    async close() {
      open = false
    },
  }
}

export interface EvaluationTask {
  readonly key: EvaluationKey
  readonly tag: Bytes
  /** As `parseBlindedMessage` passed it: the published library does not refuse every other. */
  readonly blindedMessage: Bytes
}

/** Synchronous, and takes tens of milliseconds. Refuses a client's mistake with a `HeadgateError`. */
export type Engine = (task: EvaluationTask) => Bytes

/** Loads only the engine that is named. */
export const loadEngine = async (name: EngineName): Promise<Engine> => {
  switch (name) {
    case 'wasm':
      return loadWasm()
    case 'typescript':
      return loadTypescript()
    default:
      return name satisfies never
  }
}

async function loadTypescript(): Promise<Engine> {
  const { evaluate, evaluatePartial } = await import('../evaluate.ts')
  return ({ key, tag, blindedMessage }) => {
    const respond = key.kind === 'single' ? evaluate : evaluatePartial
    return respond(key.secret, tag, blindedMessage)
  }
}

/** Its refusals are strings. Anything else is a trap, after which the instance must not be used again. */
async function loadWasm(): Promise<Engine> {
  const library = await import('@celo/poprf').catch(refuseMissing)
  const { blindEval, blindPartialEval } = library
  const forget = forgettable(library)
  return ({ key, tag, blindedMessage }) => {
    checkKey(key)
    requireTag(tag)
    const respond = key.kind === 'single' ? blindEval : blindPartialEval
    try {
      return respond(key.secret, tag, blindedMessage)
    } catch (refusal) {
      if (typeof refusal !== 'string') throw refusal
      return translate(refusal)
    } finally {
      forget()
    }
  }
}

/** More than an evaluation needs; the instance itself takes 17 pages of this size. */
const ROOM = 65_536

/**
 * The library copies each key into the memory of its instance and frees it without wiping it: key,
 * scalar and the point that evaluates a tag for ever stay there. So all of that memory is put back to
 * what it was before the first task, which also gives its allocator back the room that the task took.
 * 0.1 ms of 40.
 *
 * A tag that is too long for any task comes first and is refused at once: a memory that grew only
 * later would grow again at every task.
 */
function forgettable(library: Pick<typeof import('@celo/poprf'), 'blindEval'>): () => void {
  const instance: { memory?: { buffer?: unknown } } = Object(
    '__wasm' in library ? library.__wasm : undefined,
  )
  const memory = (): Bytes => {
    const buffer = instance.memory?.buffer
    assert(buffer instanceof ArrayBuffer, '@celo/poprf 0.1 shows the memory of its instance')
    return new Uint8Array(buffer)
  }
  try {
    library.blindEval(new Uint8Array(), new Uint8Array(ROOM), new Uint8Array())
  } catch {
    // As meant.
  }
  const before = memory().slice()
  return () => {
    const now = memory()
    now.set(before)
    now.fill(0, before.length)
    assert(now.length === before.length, 'a task fits in the memory that there was before it')
  }
}

function refuseMissing(error: unknown): never {
  if (systemCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error
  throw peerMissing('the engine wasm', ['@celo/poprf'], error)
}

/** Exact lengths, canonical numbers, an index that cannot wrap, no zero: the library checks none of these. */
function checkKey({ kind, secret }: EvaluationKey): void {
  switch (kind) {
    case 'single':
      checkPrivateKey(secret)
      return
    case 'share':
      shareIndexOf(secret)
      return
    default:
      kind satisfies never
  }
}

function translate(refusal: string): never {
  const thing = 'blinded message'
  return refusal.startsWith('could not deserialize')
    ? refusePoprf({
        code: 'POPRF_POINT_INVALID',
        thing,
        rule: 'must hold two points of the group of prime order',
      })
    : refusePoprf({
        code: 'POPRF_PROOF_INVALID',
        thing,
        rule: 'must prove that its points blind one message',
      })
}

// The evaluator has failed or is too busy. The request is not to blame, and a later one may succeed.

/** Each has a heading in docs/reference/errors.md. */
export const EVALUATOR_ERROR_CODES = [
  'EVALUATOR_QUEUE_FULL',
  'EVALUATOR_TIMEOUT',
  'EVALUATOR_LOST',
  'EVALUATOR_CLOSED',
] as const

export type EvaluatorErrorCode = (typeof EVALUATOR_ERROR_CODES)[number]

export class EvaluatorError extends HeadgateError<EvaluatorErrorCode> {
  override readonly name = 'EvaluatorError'
}

export const evaluatorError = (
  mistake: Omit<Mistake<EvaluatorErrorCode>, 'thing'>,
): EvaluatorError => new EvaluatorError({ thing: 'evaluator', ...mistake })

export const evaluatorClosed = (): EvaluatorError =>
  evaluatorError({ code: 'EVALUATOR_CLOSED', rule: 'must be open to take a task' })
