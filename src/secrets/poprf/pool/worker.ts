/** The file that each worker thread runs. */
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '../../../core/errors.ts'
import { loadEngine } from './engine.ts'
import { serveTasks } from './serve-tasks.ts'

assert(parentPort !== null, 'the evaluation worker runs in a worker thread')
serveTasks(parentPort, await loadEngine(workerData === 'typescript' ? 'typescript' : 'wasm'))
