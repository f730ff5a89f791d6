/** Evaluations on worker threads: a bounded queue in front of as many threads as there are processors. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { HeadgateError, type Mistake, systemCode } from '../../../core/errors.ts'
import { type Span, seconds, toMillis } from '../../../core/time.ts'
import { type Bytes, type PoprfErrorCode, secretCopy } from '../bytes.ts'
import {
  type EngineName,
  type EvaluationKey,
  type EvaluationTask,
  type Evaluator,
  EvaluatorError,
  evaluatorClosed,
  evaluatorError,
} from './evaluator.ts'

export type EvaluatorOptionErrorCode = 'EVALUATOR_OPTION_INVALID'

export interface EvaluatorPoolOptions {
  /** Default `wasm`. */
  readonly engine?: EngineName
  /** Threads. Default: as many as processors. */
  readonly workers?: number
  /** Tasks that may wait for a thread. Default 64: about 1.3 s of work for two processors. */
  readonly queue?: number
  /** For one task on its thread, including the thread's start but not the wait for it. Default 5 s. */
  readonly timeout?: Span
  /** The file that a thread runs. Default: the one beside this module, once it is built. */
  readonly file?: URL
  /** Called once for each thread that ended, trapped or took too long, also without a task. Must not throw. */
  readonly onFailure?: (error: EvaluatorError) => void
}

/** Each thread has its own instance; on a machine with more processors run a second signer. */
export const MAX_WORKERS = 64

/** At the end of a longer queue a caller would wait longer than any client does. */
export const MAX_QUEUE = 4_096
const DEFAULT_QUEUE = 64
const DEFAULT_TIMEOUT = seconds(5)

export const startEvaluatorPool = (options: EvaluatorPoolOptions = {}): Evaluator => {
  const { engine = 'wasm', timeout = DEFAULT_TIMEOUT } = options
  const count = requireCount('workers', options.workers ?? defaultWorkers(), MAX_WORKERS)
  const most = requireCount('queue', options.queue ?? DEFAULT_QUEUE, MAX_QUEUE)
  const file = options.file ?? new URL('./worker.js', import.meta.url)
  const { onFailure = () => {} } = options
  const runners = Array.from({ length: count }, () =>
    startRunner({ engine, timeout, file, onFailure }),
  )
  const idle = [...runners]
  const queue: ((runner: Runner) => void)[] = []
  const running = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined

  const release = (runner: Runner): void => {
    const next = queue.shift()
    if (next === undefined) idle.push(runner)
    else next(runner)
  }

  const run = (task: PostedTask, runner: Runner): Promise<Bytes> => {
    const result = runner.run(task).finally(() => release(runner))
    const quiet = result.catch(() => undefined).finally(() => running.delete(quiet))
    running.add(quiet)
    return result
  }

  const wait = (task: PostedTask): Promise<Bytes> =>
    new Promise((resolve, reject) => {
      queue.push((runner) => run(task, runner).then(resolve, reject))
    })

  const drain = async (): Promise<void> => {
    while (running.size > 0) await Promise.all(running)
    await Promise.all(runners.map((runner) => runner.close()))
  }

  return {
    async evaluate(key, tag, blindedMessage) {
      if (closing !== undefined) throw evaluatorClosed()
      if (idle.length === 0 && queue.length >= most) throw queueFull(most)
      const task = copyTask({ key, tag, blindedMessage })
      const runner = idle.pop()
      return runner === undefined ? wait(task) : run(task, runner)
    },
    load: () => ({ running: count - idle.length, waiting: queue.length }),
    close: () => (closing ??= drain()),
  }
}

const defaultWorkers = (): number => Math.min(availableParallelism(), MAX_WORKERS)

function requireCount(thing: string, count: number, most: number): number {
  if (Number.isInteger(count) && count >= 1 && count <= most) return count
  const rule = `must be a whole number from 1 to ${most}`
  throw new HeadgateError<EvaluatorOptionErrorCode>({
    code: 'EVALUATOR_OPTION_INVALID',
    thing: `evaluator, ${thing}`,
    rule,
    finding: String(count),
  })
}

/** A task whose key a thread can take over. */
interface PostedTask extends EvaluationTask {
  readonly key: EvaluationKey & { readonly secret: Uint8Array<ArrayBuffer> }
}

/** The caller may wipe or reuse its own bytes as soon as it has called. */
const copyTask = ({ key, tag, blindedMessage }: EvaluationTask): PostedTask => ({
  key: { kind: key.kind, secret: secretCopy(key.secret) },
  tag: Uint8Array.from(tag),
  blindedMessage: Uint8Array.from(blindedMessage),
})

const queueFull = (most: number) =>
  evaluatorError({
    code: 'EVALUATOR_QUEUE_FULL',
    rule: `must have at most ${most} tasks waiting`,
    finding: 'one more',
  })

/** A refusal travels as its fields: an instance of a class does not survive the passage between threads. */
export type WorkerReply =
  | { readonly kind: 'response'; readonly response: Bytes }
  | { readonly kind: 'refusal'; readonly mistake: Mistake<PoprfErrorCode> }

interface RunnerOptions {
  readonly engine: EngineName
  readonly timeout: Span
  readonly file: URL
  readonly onFailure: (error: EvaluatorError) => void
}

/** One worker thread and its successors. */
interface Runner {
  /** Not to be called while a task runs. */
  run(task: PostedTask): Promise<Bytes>
  close(): Promise<void>
}

/** An evaluation needs a few megabytes; a thread that needs this many has gone wrong. */
const MAX_HEAP_MEGABYTES = 256

/**
 * A thread that trapped, ended or took too long is never used again: a trapped instance leaks its
 * stack and in the end answers nothing. The next task starts another, so a thread that cannot start
 * costs one refusal per task and no busy loop.
 */
const startRunner = ({ engine, timeout, file, onFailure }: RunnerOptions): Runner => {
  const start = (): Worker => {
    const resourceLimits = { maxOldGenerationSizeMb: MAX_HEAP_MEGABYTES }
    const started = new Worker(file, { workerData: engine, resourceLimits })
    // Without a listener the failure of an idle thread would end the process.
    started.on('error', (cause) => forget(started, lost(cause)))
    started.on('exit', () => forget(started, lost()))
    return started
  }
  const forget = (gone: Worker, error: EvaluatorError): void => {
    if (worker !== gone) return
    worker = undefined
    onFailure(error)
  }
  let worker: Worker | undefined = start()

  return {
    async run(task) {
      worker ??= start()
      const current = worker
      try {
        return await ask(current, task, timeout)
      } catch (error) {
        if (!(error instanceof HeadgateError) || error instanceof EvaluatorError) {
          forget(current, error instanceof EvaluatorError ? error : lost(error))
          await current.terminate()
        }
        throw error
      }
    },
    async close() {
      const last = worker
      worker = undefined
      await last?.terminate()
    },
  }
}

function ask(worker: Worker, task: PostedTask, timeout: Span): Promise<Bytes> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      clearTimeout(timer)
      worker.off('message', onReply).off('error', onError).off('exit', onExit)
    }
    const fail = (error: EvaluatorError): void => {
      settle()
      reject(error)
    }
    const onReply = (reply: WorkerReply): void => {
      settle()
      if (reply.kind === 'response') resolve(reply.response)
      else reject(new HeadgateError(reply.mistake))
    }
    const onError = (cause: unknown): void => fail(lost(cause))
    const onExit = (): void => fail(lost())
    const timer = setTimeout(() => fail(tooSlow(timeout)), toMillis(timeout))
    worker.on('message', onReply).on('error', onError).on('exit', onExit)
    // Moved, not copied: no second copy of the key stays behind in this thread.
    worker.postMessage(task, [task.key.secret.buffer])
  })
}

/** Names the cause by its class and code alone: nothing guarantees that a trap's text holds no secret. */
function lost(cause?: unknown): EvaluatorError {
  const code = systemCode(cause)
  const named = cause instanceof Error ? cause.name : 'an end of its thread'
  const finding = /^[A-Z][A-Z_]+$/.test(code) ? `${named} ${code}` : named
  return evaluatorError({ code: 'EVALUATOR_LOST', rule: 'must answer every task', finding })
}

function tooSlow(timeout: Span): EvaluatorError {
  const rule = `must answer within ${toMillis(timeout)} ms`
  return evaluatorError({ code: 'EVALUATOR_TIMEOUT', rule })
}
