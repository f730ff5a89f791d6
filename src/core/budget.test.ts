import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { times } from '../../test/support/counts.ts'
import {
  type BudgetLimit,
  type BudgetState,
  decideBudget,
  endHold,
  holdExpiry,
  holdGrid,
  MAX_FINE_HOLDS,
  openAt,
  totalHeld,
} from './budget.ts'
import type { Mode } from './limit.ts'
import { type Instant, instant, minutes, seconds } from './time.ts'

const T0 = instant(1_700_000_000_000_000)
const at = (offset: number): Instant => instant(T0 + offset)

const daily = (amount: bigint | 'unlimited'): BudgetLimit => ({
  kind: 'budget',
  amount,
  endsAt: at(minutes(60)),
})

const ask = (
  limit: BudgetLimit,
  state: BudgetState | undefined,
  cost: bigint,
  mode: Mode,
  now = T0,
) => decideBudget(limit, state, { now, cost, mode })

describe('an amount for a window', () => {
  test('is spent to the last unit, and not beyond', () => {
    const first = ask(daily(100n), undefined, 60n, 'spend')
    expect(first.decision).toMatchObject({ allowed: true, remaining: 40n })
    expect(ask(daily(100n), first.next, 41n, 'spend').decision).toMatchObject({
      allowed: false,
      reason: 'BUDGET_LIMIT',
      remaining: 40n,
      retryIn: minutes(60),
    })
    expect(ask(daily(100n), first.next, 40n, 'try').decision).toMatchObject({
      allowed: true,
      remaining: 0n,
    })
  })

  test('once exhausted covers nothing, not even a cost of zero', () => {
    const { next } = ask(daily(100n), undefined, 100n, 'spend')
    expect(ask(daily(100n), next, 0n, 'spend').decision.allowed).toBe(false)
  })

  test('counts beyond what a double can hold', () => {
    const huge = 2n ** 70n
    const { next } = ask(daily(huge), undefined, huge - 1n, 'spend')
    expect(ask(daily(huge), next, 2n, 'spend').decision).toMatchObject({
      allowed: false,
      remaining: 1n,
    })
  })

  test('a cost above the whole amount never fits, whatever one waits for', () => {
    expect(ask(daily(100n), undefined, 101n, 'spend').decision).toMatchObject({ retryIn: 'never' })
  })

  test('without an end, an exhausted budget is not worth waiting for', () => {
    const limit: BudgetLimit = { kind: 'budget', amount: 5n }
    const { next } = ask(limit, undefined, 5n, 'spend')
    expect(ask(limit, next, 1n, 'spend').decision).toMatchObject({
      retryIn: 'never',
      resetIn: 'never',
    })
  })

  test('an unlimited budget keeps count all the same', () => {
    const { decision, next } = ask(daily('unlimited'), undefined, 7n, 'spend')
    expect(decision).toMatchObject({ allowed: true, remaining: Number.POSITIVE_INFINITY })
    expect(next?.spent).toBe(7n)
  })

  test('a check answers as a spend would, and writes nothing', () => {
    expect(ask(daily(10n), undefined, 4n, 'check')).toEqual({
      decision: { allowed: true, remaining: 6n, resetIn: minutes(60), retryIn: 0 },
    })
    expect(ask(daily(10n), undefined, 11n, 'check').decision.allowed).toBe(false)
  })

  test('what was already spent is recorded past the cap, and stays owed', () => {
    const { decision, next } = ask(daily(100n), undefined, 130n, 'record')
    expect(decision).toMatchObject({ allowed: true, remaining: 0n })
    expect(next?.spent).toBe(130n)
    const given = ask(daily(100n), next, 20n, 'refund')
    expect(given.decision).toMatchObject({ remaining: 0n })
    expect(ask(daily(100n), given.next, 200n, 'refund')).toMatchObject({
      decision: { remaining: 100n, resetIn: 0 },
      next: { spent: 0n },
    })
  })

  test('a negative cost is a bug, not a question', () => {
    expect(() => ask(daily(1n), undefined, -1n, 'spend')).toThrow(/not negative/)
  })
})

describe('a hold', () => {
  const holding = (until: Instant): BudgetLimit => ({ ...daily(100n), holdUntil: until })

  test('keeps its amount aside until it ends by itself', () => {
    const { next } = ask(holding(at(seconds(30))), undefined, 70n, 'spend')
    expect(ask(daily(100n), next, 31n, 'spend').decision).toMatchObject({
      allowed: false,
      remaining: 30n,
      retryIn: seconds(30),
    })
    expect(ask(daily(100n), next, 100n, 'spend', at(seconds(30))).decision.allowed).toBe(true)
  })

  test('is not waited for beyond the end of the window, when the budget renews anyway', () => {
    const { next } = ask(holding(at(minutes(90))), undefined, 100n, 'spend')
    expect(ask(daily(100n), next, 1n, 'spend').decision).toMatchObject({ retryIn: minutes(60) })
  })

  test('two that end together are one entry, and each can be ended by its amount', () => {
    const until = at(seconds(30))
    const first = ask(holding(until), undefined, 10n, 'spend')
    const second = ask(holding(until), first.next, 20n, 'spend')
    expect(second.next?.held).toEqual([{ expiresAt: until, amount: 30n }])
    const state = second.next ?? { spent: 0n, held: [] }
    expect(endHold(state, { expiresAt: until, amount: 20n }).held).toEqual([
      { expiresAt: until, amount: 10n },
    ])
    expect(endHold(state, { expiresAt: until, amount: 30n }).held).toEqual([])
    expect(endHold(state, { expiresAt: at(1), amount: 30n })).toEqual(state)
  })

  test('entries stay in order of their end', () => {
    const late = ask(holding(at(seconds(60))), undefined, 10n, 'spend')
    const early = ask(holding(at(seconds(30))), late.next, 20n, 'spend')
    expect(early.next?.held.map((hold) => hold.amount)).toEqual([20n, 10n])
    expect(totalHeld(early.next ?? { spent: 0n, held: [] }, at(seconds(45)))).toBe(10n)
  })

  test('where many are open, further ones end on a grid, sooner and never later', () => {
    const held = Array.from({ length: MAX_FINE_HOLDS }, (_, i) => ({
      expiresAt: at(seconds(i + 1)),
      amount: 1n,
    }))
    const crowded: BudgetState = { spent: 0n, held }
    const rounded = holdExpiry(crowded, at(seconds(100) + 1), T0)
    expect(rounded % holdGrid(seconds(100))).toBe(0)
    expect(rounded).toBeGreaterThanOrEqual(at(seconds(100) * (15 / 16)))
    expect(rounded).toBeLessThan(at(seconds(100)))
    expect(holdExpiry(crowded, at(seconds(3)), T0)).toBe(at(seconds(3)))
    expect(holdExpiry({ spent: 0n, held: [] }, at(seconds(100) + 1), T0)).toBe(at(seconds(100) + 1))
  })
})

test('holds that have ended are not in the state as of then', () => {
  const held = [1, 2, 3].map((n) => ({ expiresAt: at(seconds(n)), amount: 10n }))
  const state = { spent: 5n, held }
  expect(openAt(state, at(seconds(2)))).toEqual({ spent: 5n, held: held.slice(2) })
  expect(openAt(state, T0)).toBe(state)
})

test('no history of spends and holds admits more than the amount', () => {
  const step = fc.record({
    cost: fc.bigInt({ min: 0n, max: 60n }),
    hold: fc.option(fc.integer({ min: 1, max: 50 })),
    gap: fc.integer({ min: 0, max: 20 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let state: BudgetState | undefined
      let now: number = T0
      for (const { cost, hold, gap } of steps) {
        now += gap
        const limit = {
          ...daily(100n),
          ...(hold === null ? {} : { holdUntil: instant(now + hold) }),
        }
        state = ask(limit, state, cost, 'spend', instant(now)).next ?? state
        const { spent, held } = state ?? { spent: 0n, held: [] }
        const open = held.reduce((sum, one) => (one.expiresAt > now ? sum + one.amount : sum), 0n)
        expect(spent + open).toBeLessThanOrEqual(100n)
      }
    }),
    { numRuns: times(300, 20_000) },
  )
})
