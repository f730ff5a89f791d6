/** The two engines behind one function. A caller gets only what it names: the other is never loaded. */
import type { Bytes } from '../bytes.ts'
import type { EngineName } from './evaluator.ts'
import type { Task } from './task.ts'

/** Synchronous, and tens of milliseconds of it. Refuses what a client got wrong with a `HeadgateError`. */
export type Engine = (task: Task) => Bytes

export const loadEngine = async (name: EngineName): Promise<Engine> => {
  switch (name) {
    case 'wasm':
      return (await import('./wasm-engine.ts')).wasmEngine
    case 'typescript':
      return (await import('./typescript-engine.ts')).typescriptEngine
    default:
      return name satisfies never
  }
}
