/** The file that each worker thread runs: one task at a time, one reply each. Any other error ends the thread. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { assert, HeadgateError } from '../../../core/errors.ts'
import { POPRF_ERROR_CODES } from '../bytes.ts'
import { type Engine, type EvaluationTask, loadEngine } from './evaluator.ts'
import type { WorkerReply } from './evaluator-pool.ts'

const serveTasks = (port: MessagePort, engine: Engine): void => {
  port.on('message', (task: EvaluationTask) => port.postMessage(replyTo(task, engine)))
}

function replyTo(task: EvaluationTask, engine: Engine): WorkerReply {
  try {
    return { kind: 'response', response: engine(task) }
  } catch (error) {
    if (!(error instanceof HeadgateError)) throw error
    const { thing, rule, finding } = error
    const code = POPRF_ERROR_CODES.find((known) => known === error.code)
    if (code === undefined) throw error
    return { kind: 'refusal', mistake: { code, thing, rule, finding } }
  } finally {
    // The last copy of the key outside the engine.
    task.key.secret.fill(0)
  }
}

assert(parentPort !== null, 'the evaluation worker runs in a worker thread')
serveTasks(parentPort, await loadEngine(workerData === 'typescript' ? 'typescript' : 'wasm'))
