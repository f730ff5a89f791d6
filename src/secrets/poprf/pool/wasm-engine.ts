/** The evaluation by `@celo/poprf` 0.1.9, compiled from Rust. */
import { blindEval, blindPartialEval } from '@celo/poprf'
import { refusePoprf } from '../poprf-mistake.ts'
import type { Engine } from './engine.ts'

/** Its refusals are strings. Anything else is a trap, after which the instance must not be used again. */
export const wasmEngine: Engine = ({ key, tag, blindedMessage }) => {
  const answer = key.kind === 'single' ? blindEval : blindPartialEval
  try {
    return answer(key.secret, tag, blindedMessage)
  } catch (refusal) {
    if (typeof refusal !== 'string') throw refusal
    return refuse(refusal)
  }
}

function refuse(refusal: string): never {
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
        rule: 'must prove that its points ask one question',
      })
}
