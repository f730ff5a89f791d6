/** The evaluation by our own arithmetic. */
import { evaluate, evaluatePartial } from '../evaluate.ts'
import type { Engine } from './engine.ts'

export const typescriptEngine: Engine = ({ key, tag, blindedMessage }) => {
  const answer = key.kind === 'single' ? evaluate : evaluatePartial
  return answer(key.secret, tag, blindedMessage)
}
