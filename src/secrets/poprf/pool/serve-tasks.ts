/** A worker's life: one task at a time, one reply each. Whatever else is thrown ends the worker. */
import type { MessagePort } from 'node:worker_threads'
import { HeadgateError } from '../../../core/errors.ts'
import { POPRF_ERROR_CODES } from '../poprf-mistake.ts'
import type { Engine } from './engine.ts'
import type { Task } from './task.ts'
import type { WorkerReply } from './worker-message.ts'

export const serveTasks = (port: MessagePort, engine: Engine): void => {
  port.on('message', (task: Task) => {
    try {
      port.postMessage(replyTo(task, engine))
    } finally {
      // The key's last copy outside the engine; the numbers made of it are the collector's.
      task.key.secret.fill(0)
    }
  })
}

function replyTo(task: Task, engine: Engine): WorkerReply {
  try {
    return { kind: 'response', response: engine(task) }
  } catch (error) {
    if (!(error instanceof HeadgateError)) throw error
    const { thing, rule, finding } = error
    const code = POPRF_ERROR_CODES.find((known) => known === error.code)
    if (code === undefined) throw error
    return { kind: 'refusal', mistake: { code, thing, rule, finding } }
  }
}
