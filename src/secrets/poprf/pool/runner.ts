/** One worker thread, and its successors: it runs one task at a time and outlives no failure. */
import { Worker } from 'node:worker_threads'
import { HeadgateError } from '../../../core/errors.ts'
import { type Span, toMillis } from '../../../core/time.ts'
import type { Bytes } from '../bytes.ts'
import type { EngineName } from './evaluator.ts'
import { EvaluatorError, evaluatorError } from './evaluator-error.ts'
import type { Task } from './task.ts'
import type { WorkerReply } from './worker-message.ts'

export interface RunnerOptions {
  readonly engine: EngineName
  readonly timeout: Span
  readonly file: URL
}

export interface Runner {
  /** Not to be called while a task runs. */
  run(task: Task): Promise<Bytes>
  close(): Promise<void>
}

/** An evaluation needs a few megabytes; a thread that wants this many has gone wrong. */
const MAX_HEAP_MEGABYTES = 256

/**
 * A thread that trapped, ended or took too long is never asked again: a trapped instance leaks its
 * stack and in the end answers nothing. The next task starts another, so that a thread which cannot
 * start costs one refusal a task, and no busy loop.
 */
export const startRunner = ({ engine, timeout, file }: RunnerOptions): Runner => {
  const start = (): Worker => {
    const resourceLimits = { maxOldGenerationSizeMb: MAX_HEAP_MEGABYTES }
    const started = new Worker(file, { workerData: engine, resourceLimits })
    // Without a listener the failure of an idle thread would end the process.
    started.on('error', () => forget(started))
    started.on('exit', () => forget(started))
    return started
  }
  const forget = (gone: Worker): void => {
    if (worker === gone) worker = undefined
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
          forget(current)
          await current.terminate()
        }
        throw error
      }
    },
    async close() {
      await worker?.terminate()
    },
  }
}

function ask(worker: Worker, task: Task, timeout: Span): Promise<Bytes> {
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

/** The cause is named by its class alone: a trap's text is of no use to anyone, and not ours to vouch for. */
function lost(cause?: unknown): EvaluatorError {
  const finding = cause instanceof Error ? cause.name : 'an end of its thread'
  return evaluatorError({ code: 'EVALUATOR_LOST', rule: 'must answer every task', finding })
}

function tooSlow(timeout: Span): EvaluatorError {
  const rule = `must answer within ${toMillis(timeout)} ms`
  return evaluatorError({ code: 'EVALUATOR_TIMEOUT', rule })
}
