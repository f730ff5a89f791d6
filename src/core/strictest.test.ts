import { expect, test } from 'vitest'
import { vectors } from '../../test/support/vectors.ts'
import { strictest } from './decide.ts'
import type { Decision } from './limit.ts'
import { span, type Wait } from './time.ts'

interface Pair {
  readonly a: { allowed: boolean; retryInNs: string; remaining: number }
  readonly b: { allowed: boolean; retryInNs: string; remaining: number }
  readonly winner: 'a' | 'b'
}

const decision = (allowed: boolean, retryIn: Wait, remaining: number | bigint): Decision => {
  const facts = { remaining, resetIn: span(0), retryIn }
  return allowed ? { allowed, ...facts } : { allowed, reason: 'RATE_LIMIT', ...facts }
}

const fromVector = ({ allowed, retryInNs, remaining }: Pair['a']): Decision =>
  decision(allowed, span(Number(retryInNs)), remaining)

test('denied first, then the longest wait, then the fewest remaining, then the later one', () => {
  const { pairs } = vectors<{ pairs: readonly Pair[] }>('boulder/stricter.json')
  for (const pair of pairs) {
    const [a, b] = [fromVector(pair.a), fromVector(pair.b)]
    expect(strictest(a, b), JSON.stringify(pair)).toBe(pair.winner === 'a' ? a : b)
  }
})

test('no wait is longer than never', () => {
  const never = decision(false, 'never', 5)
  const long = decision(false, span(2 ** 52), 0)
  expect(strictest(never, long)).toBe(never)
  expect(strictest(long, never)).toBe(never)
  expect(strictest(never, decision(false, 'never', 6))).toBe(never)
})

test('tokens and money are compared by their amount', () => {
  const tokens = decision(true, span(0), 3)
  const money = decision(true, span(0), 2n)
  expect(strictest(tokens, money)).toBe(money)
})
