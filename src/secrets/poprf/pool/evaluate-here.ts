/** Evaluations on the calling thread, which they block. For tools, tests and processes that do nothing else. */

import { loadEngine } from './engine.ts'
import type { EngineName, Evaluator } from './evaluator.ts'
import { evaluatorError } from './evaluator-error.ts'
import { checkedTask } from './task.ts'

export const evaluateHere = async (name: EngineName = 'wasm'): Promise<Evaluator> => {
  const engine = await loadEngine(name)
  let open = true
  return {
    async evaluate(key, tag, blindedMessage) {
      if (!open) {
        throw evaluatorError({ code: 'EVALUATOR_CLOSED', rule: 'must be open to take a task' })
      }
      const task = checkedTask(key, tag, blindedMessage)
      try {
        return engine(task)
      } finally {
        task.key.secret.fill(0)
      }
    },
    load: () => ({ running: 0, waiting: 0 }),
    async close() {
      open = false
    },
  }
}
