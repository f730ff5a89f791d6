/** Evaluations on worker threads: a bounded queue before as many threads as there are processors. */
import { availableParallelism } from 'node:os'
import { HeadgateError } from '../../../core/errors.ts'
import { type Span, seconds } from '../../../core/time.ts'
import type { Bytes } from '../bytes.ts'
import type { EngineName, Evaluator } from './evaluator.ts'
import { evaluatorError } from './evaluator-error.ts'
import { type Runner, startRunner } from './runner.ts'
import { checkedTask, type Task } from './task.ts'

export type EvaluatorOptionErrorCode = 'EVALUATOR_OPTION_INVALID'

export interface EvaluatorPoolOptions {
  /** Default `wasm`. */
  readonly engine?: EngineName
  /** Threads. Default: as many as processors. */
  readonly workers?: number
  /** Tasks that may wait for a thread. Default 64: some 1.3 s of work for two processors. */
  readonly queue?: number
  /** For one task on its thread, the thread's start included; waiting does not count. Default 5 s. */
  readonly timeout?: Span
  /** The file that a thread runs. Default: the one beside this module, once it is built. */
  readonly file?: URL
}

/** Each thread has an instance of its own; a machine with more processors runs a second signer. */
export const MAX_WORKERS = 64

/** Beyond this a caller waits longer than any client does. */
export const MAX_QUEUE = 4_096
const DEFAULT_QUEUE = 64
const DEFAULT_TIMEOUT = seconds(5)

export const startEvaluatorPool = (options: EvaluatorPoolOptions = {}): Evaluator => {
  const { engine = 'wasm', timeout = DEFAULT_TIMEOUT } = options
  const count = requireCount('workers', options.workers ?? defaultWorkers(), MAX_WORKERS)
  const most = requireCount('queue', options.queue ?? DEFAULT_QUEUE, MAX_QUEUE)
  const file = options.file ?? new URL('./worker.js', import.meta.url)
  const runners = Array.from({ length: count }, () => startRunner({ engine, timeout, file }))
  const idle = [...runners]
  const queue: ((runner: Runner) => void)[] = []
  const running = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined

  const release = (runner: Runner): void => {
    const next = queue.shift()
    if (next === undefined) idle.push(runner)
    else next(runner)
  }

  const run = (task: Task, runner: Runner): Promise<Bytes> => {
    const result = runner.run(task).finally(() => release(runner))
    const quiet = result.catch(() => undefined).finally(() => running.delete(quiet))
    running.add(quiet)
    return result
  }

  const wait = (task: Task): Promise<Bytes> =>
    new Promise((resolve, reject) => {
      queue.push((runner) => run(task, runner).then(resolve, reject))
    })

  const drain = async (): Promise<void> => {
    while (running.size > 0) await Promise.all(running)
    await Promise.all(runners.map((runner) => runner.close()))
  }

  return {
    async evaluate(key, tag, blindedMessage) {
      if (closing !== undefined) throw closed()
      if (idle.length === 0 && queue.length >= most) throw queueFull(most)
      const task = checkedTask(key, tag, blindedMessage)
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

const closed = () =>
  evaluatorError({ code: 'EVALUATOR_CLOSED', rule: 'must be open to take a task' })

const queueFull = (most: number) =>
  evaluatorError({
    code: 'EVALUATOR_QUEUE_FULL',
    rule: `must have at most ${most} tasks waiting`,
    finding: 'one more',
  })
