import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { times } from './counts.ts'
import { linearize, type SequentialModel, type TimedCall } from './linearizable.ts'

/** A number that is read, or written. */
type Ask = 'read' | { readonly write: number }
type Call = TimedCall<Ask, number>

const register: SequentialModel<number, Ask, number> = {
  initial: 0,
  apply: (state, { ask, answer }) => {
    if (ask === 'read') return answer === undefined || answer === state ? state : undefined
    return ask.write
  },
  text: String,
}

const read = (begin: number, end: number, answer: number): Call => ({
  ask: 'read',
  begin,
  end,
  answer,
})
const write = (begin: number, end: number, value: number): Call => ({
  ask: { write: value },
  begin,
  end,
  answer: end === Number.POSITIVE_INFINITY ? undefined : 0,
})
const isLinear = (...history: readonly Call[]) => linearize(history, register) !== undefined

describe('a read', () => {
  test('during a write sees it or does not', () => {
    expect(isLinear(write(0, 10, 1), read(2, 3, 0))).toBe(true)
    expect(isLinear(write(0, 10, 1), read(2, 3, 1))).toBe(true)
    expect(isLinear(write(0, 10, 1), read(2, 3, 2))).toBe(false)
  })

  test('after a write sees it', () => {
    expect(isLinear(write(0, 1, 1), read(2, 3, 0))).toBe(false)
  })

  test('after a read that saw a write sees it too', () => {
    expect(isLinear(write(0, 10, 1), read(2, 3, 1), read(4, 5, 0))).toBe(false)
    expect(isLinear(write(0, 10, 1), read(2, 3, 0), read(4, 5, 1))).toBe(true)
  })

  test('may see a write whose client never heard of it, at any time, and then on', () => {
    const lost = write(0, Number.POSITIVE_INFINITY, 1)
    expect(isLinear(lost, read(5, 6, 0), read(7, 8, 1))).toBe(true)
    expect(isLinear(lost, read(5, 6, 1), read(7, 8, 0))).toBe(false)
    expect(isLinear(lost, read(5, 6, 0))).toBe(true)
    expect(isLinear(read(5, 6, 1), write(7, Number.POSITIVE_INFINITY, 1))).toBe(false)
  })
})

test('what happened at one moment of each call is found to be so, however the calls overlap', () => {
  const steps = fc.array(
    fc.record({
      value: fc.option(fc.nat(3)),
      before: fc.nat(30),
      after: fc.nat(30),
      isLost: fc.boolean(),
    }),
    { maxLength: 40 },
  )
  fc.assert(
    fc.property(steps, (all) => {
      let state = 0
      const history = all.map(({ value, before, after, isLost }, i): Call => {
        if (value !== null) state = value
        const [begin, end] = [10 * i - before, 10 * i + after]
        if (value === null) return read(begin, end, state)
        return write(begin, isLost ? Number.POSITIVE_INFINITY : end, value)
      })
      expect(linearize(history, register)).toBeDefined()
    }),
    { numRuns: times(100, 5_000) },
  )
})
