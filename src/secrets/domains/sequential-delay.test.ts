/** The deployed rule as the published library plays it, through the domain that a request carries. */
import { describe, expect, test } from 'vitest'
import { jsonField } from '../../../test/support/json-field.ts'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { blindedMessage } from '../../../test/support/odis-requests.ts'
import { none } from '../../../test/support/odis-samples.ts'
import { vectors } from '../../../test/support/vectors.ts'
import type { Value } from '../../core/store.ts'
import { instant } from '../../core/time.ts'
import type { Rule } from '../rules/rule.ts'
import { sequentialDelay } from './sequential-delay.ts'

interface Trace {
  id: number
  name: string
  kind: string
  degenerate?: boolean
  stages: {
    delay: number
    batchSize: { defined: boolean; value: number }
    repetitions: { defined: boolean; value: number }
    resetTimer: { defined: boolean; value: boolean }
  }[]
  initialState: { counter: number; timer: number; disabled: boolean } | null
  attempts: (
    | {
        t: number
        accepted: boolean
        notBefore?: number
        state: { counter: number; timer: number }
      }
    | { event: 'disable' }
  )[]
}

const { traces } = vectors<{ traces: Trace[] }>('odis/ratelimit-traces.json')

const ruleOf = ({ stages }: Trace): Promise<Rule> => {
  const body = {
    type: 'DomainRestrictedSignatureRequest',
    domain: {
      name: 'ODIS Sequential Delay Domain',
      version: '1',
      stages,
      address: none(`0x${'0'.repeat(40)}`),
      salt: none(''),
    },
    options: { nonce: none(0), signature: none('') },
    blindedMessage,
    sessionID: none(''),
  }
  return sequentialDelay.read('sign', jsonField(body)).claim.rule()
}

/**
 * Traces that a signer cannot meet: stages beyond the bounds of the endpoint (no attempts at all, or
 * too many), values that are not defined and yet not zero, and times that are not whole seconds of
 * our era.
 */
const excluded = ({ degenerate, stages, attempts }: Trace): boolean =>
  degenerate === true ||
  stages.some(({ batchSize, repetitions, resetTimer }) => {
    const size =
      (batchSize.defined ? batchSize.value : 1) * (repetitions.defined ? repetitions.value : 1)
    const unsaid = [batchSize, repetitions, resetTimer].filter(({ defined }) => !defined)
    return size < 1 || size > 1e9 || unsaid.some(({ value }) => value !== 0 && value !== false)
  }) ||
  attempts.some((step) => 't' in step && !(Number.isInteger(step.t) && step.t >= 0))

describe('the traces of the published library', () => {
  const played = traces.filter((trace) => !excluded(trace) && trace.initialState === null)

  test('are answered alike, attempt by attempt, in whole seconds', async () => {
    expect(played.length).toBeGreaterThan(250)
    for (const trace of played) {
      const rule = await ruleOf(trace)
      let state: Value | undefined
      for (const step of trace.attempts) {
        if ('event' in step) break
        const now = instant(step.t * 1_000_000 + 999_999)
        const found = rule.attempt(state, now)
        expect(found.allowed, `trace ${trace.id} at ${step.t}`).toBe(step.accepted)
        if (found.allowed) state = found.next
        expect(rule.status(state, now)).toMatchObject({
          counter: step.state.counter,
          timer: step.state.timer,
        })
      }
    }
  })

  test('what has no meaning is refused when it is read', () => {
    const meaningless = traces.filter(({ degenerate }) => degenerate === true)
    expect(meaningless.length).toBeGreaterThan(0)
    for (const trace of meaningless) {
      expect(['FIELD_TYPE', 'FIELD_VALUE', 'DOMAIN_INVALID']).toContain(
        mistakeOf(() => ruleOf(trace)).code,
      )
    }
  })
})
