import { describe, expect, test } from 'vitest'
import { vectors } from '../../test/support/vectors.ts'
import {
  checkStages,
  decideStaged,
  disable,
  dueAt,
  type Stage,
  type StagedLimit,
  type StagedState,
} from './staged.ts'
import { days, instant, seconds, span } from './time.ts'

interface Option<T> {
  readonly defined: boolean
  readonly value: T
}
interface Trace {
  readonly id: number
  readonly name: string
  readonly kind: 'upstream' | 'seed' | 'edge' | 'preset' | 'random'
  readonly degenerate?: boolean
  readonly stages: readonly {
    delay: number
    resetTimer: Option<boolean>
    batchSize: Option<number>
    repetitions: Option<number>
  }[]
  readonly initialState: { counter: number; timer: number; disabled: boolean } | null
  readonly attempts: readonly (
    | { event: 'disable' }
    | {
        event?: undefined
        t: number
        accepted: boolean
        notBefore: number | null
        state: { counter: number; timer: number; disabled: boolean }
      }
  )[]
}

const { traces } = vectors<{ traces: readonly Trace[] }>('odis/ratelimit-traces.json')

const inMicros = (secs: number) => Math.round(secs * 1_000_000)

const stagesOf = (trace: Trace): Stage[] =>
  trace.stages.map(({ delay, resetTimer, batchSize, repetitions }) => ({
    delay: span(inMicros(delay)),
    resetTimer: resetTimer.defined ? resetTimer.value : true,
    batch: batchSize.defined ? batchSize.value : 1,
    repetitions: repetitions.defined ? repetitions.value : 1,
  }))

const replay = (trace: Trace): void => {
  const limit: StagedLimit = { kind: 'staged', stages: stagesOf(trace) }
  const start = trace.initialState
  let state: StagedState | undefined =
    start === null ? undefined : { ...start, timer: instant(inMicros(start.timer)) }
  for (const [i, attempt] of trace.attempts.entries()) {
    const where = `trace ${trace.id} (${trace.name}), attempt ${i}`
    if (attempt.event === 'disable') {
      state = disable(state)
      continue
    }
    const now = instant(inMicros(attempt.t))
    const { decision, next } = decideStaged(limit, state, { now, cost: 1, mode: 'spend' })
    expect(decision.allowed, where).toBe(attempt.accepted)
    if (!attempt.accepted) {
      const due = attempt.notBefore === null ? undefined : inMicros(attempt.notBefore)
      expect(dueAt(limit, state), where).toBe(due)
      expect(decision.retryIn, where).toBe(due === undefined ? 'never' : due - now)
    }
    state = next ?? state
    const { counter, timer, disabled } = state ?? { counter: 0, timer: 0, disabled: false }
    const expected = attempt.state
    expect({ counter, timer, disabled }, where).toEqual({
      counter: expected.counter,
      timer: inMicros(expected.timer),
      disabled: expected.disabled,
    })
  }
}

describe('the deployed rule, on the traces of the published library', () => {
  for (const kind of ['upstream', 'seed', 'edge', 'preset', 'random'] as const) {
    test(`${kind} traces give the recorded answers and states`, () => {
      const sound = traces.filter((trace) => trace.kind === kind && trace.degenerate !== true)
      expect(sound.length).toBeGreaterThan(0)
      sound.forEach(replay)
    })
  }

  for (const trace of traces.filter((trace) => trace.degenerate === true)) {
    test(`refused at validation: ${trace.name}`, () => {
      expect(() => checkStages(stagesOf(trace))).toThrow(/stage \d/)
    })
  }
})

const daily = (n: number, rest: Partial<Stage> = {}): Stage => ({
  delay: days(n),
  resetTimer: true,
  batch: 1,
  repetitions: 1,
  ...rest,
})

const T0 = instant(1_700_000_000_000_000)

describe('what a refusal or an admission says', () => {
  const limit: StagedLimit = { kind: 'staged', stages: [daily(0, { batch: 2 }), daily(1)] }

  test('remaining counts the attempts that would succeed now, one after the other', () => {
    const first = decideStaged(limit, undefined, { now: T0, cost: 1, mode: 'spend' })
    expect(first.decision).toEqual({ allowed: true, remaining: 1, resetIn: 'never', retryIn: 0 })
    const second = decideStaged(limit, first.next, { now: T0, cost: 1, mode: 'spend' })
    expect(second.decision).toEqual({
      allowed: true,
      remaining: 0,
      resetIn: 'never',
      retryIn: days(1),
    })
  })

  test('after the last attempt there is nothing to wait for', () => {
    const used: StagedState = { counter: 3, timer: T0, disabled: false }
    const { decision } = decideStaged(limit, used, { now: T0, cost: 1, mode: 'spend' })
    expect(decision).toMatchObject({ allowed: false, reason: 'EXHAUSTED', retryIn: 'never' })
  })

  test('disabling outranks any quota left', () => {
    const { decision } = decideStaged(limit, disable(undefined), {
      now: T0,
      cost: 1,
      mode: 'spend',
    })
    expect(decision).toMatchObject({
      allowed: false,
      reason: 'DISABLED',
      remaining: 0,
      retryIn: 'never',
    })
  })

  test('a check answers as an attempt would, and makes none', () => {
    const { decision, next } = decideStaged(limit, undefined, { now: T0, cost: 1, mode: 'check' })
    expect(decision).toMatchObject({ allowed: true, remaining: 1 })
    expect(next).toBeUndefined()
  })
})

test('remaining, counted stage by stage, is what trying one by one gives', () => {
  for (const trace of traces.filter((trace) => trace.kind === 'random')) {
    const limit: StagedLimit = { kind: 'staged', stages: stagesOf(trace) }
    for (const attempt of trace.attempts) {
      if (attempt.event !== undefined || !attempt.accepted) continue
      const now = instant(inMicros(attempt.t))
      let state: StagedState = { ...attempt.state, timer: instant(inMicros(attempt.state.timer)) }
      const { decision } = decideStaged(limit, state, { now, cost: 1, mode: 'check' })
      let count = 0
      for (; count < 1_000; count++) {
        const { next } = decideStaged(limit, state, { now, cost: 1, mode: 'spend' })
        if (next === undefined) break
        state = next
      }
      expect(decision.remaining, `trace ${trace.id}`).toBe(decision.allowed ? count - 1 : count)
    }
  }
})

test('an attempt cannot be weighed, recorded or given back', () => {
  const limit: StagedLimit = { kind: 'staged', stages: [daily(0)] }
  const ask = (cost: number, mode: 'spend' | 'refund' | 'record') => () =>
    decideStaged(limit, undefined, { now: T0, cost, mode })
  expect(ask(2, 'spend')).toThrow(/costs 1/)
  expect(ask(1, 'refund')).toThrow(/never undone/)
  expect(ask(1, 'record')).toThrow(/never undone/)
})

test('a delay beyond 2^53 microseconds is refused for good, not wrongly', () => {
  const limit: StagedLimit = { kind: 'staged', stages: [{ ...daily(0), delay: seconds(2 ** 33) }] }
  const { decision } = decideStaged(limit, undefined, { now: T0, cost: 1, mode: 'spend' })
  expect(decision).toMatchObject({ allowed: false, reason: 'NOT_DUE' })
})
