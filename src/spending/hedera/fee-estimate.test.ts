import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { vectors } from '../../../test/support/vectors.ts'
import { rateOf } from './exchange-rate.ts'
import { estimateFileFee, type FeeTableName, MAX_CHUNK_SIZE } from './fee-estimate.ts'

interface Estimate {
  readonly op: string
  readonly callDataSize: number
  readonly chunkSize: number
  readonly centsPerHbar: number
  readonly table?: FeeTableName
  readonly expect: { readonly tinybars?: string; readonly error?: { readonly code: string } }
}

interface Suite {
  readonly scenarios: readonly { id: string; title: string; steps: readonly Estimate[] }[]
}

const { scenarios } = vectors<Suite>('spending/07-preemptive-fees.json')
const estimates = scenarios.flatMap(({ id, title, steps }) =>
  steps.filter(({ op }) => op === 'estimateFileFee').map((step) => ({ id, title, step })),
)

test.each(estimates)('$id: $title', ({ step: { expect: expected, centsPerHbar, ...size } }) => {
  const estimate = () => estimateFileFee({ ...size, rate: rateOf(centsPerHbar) })
  if (expected.error !== undefined) expect(mistakeOf(estimate).code).toBe(expected.error.code)
  else expect(estimate()).toBe(BigInt(expected.tinybars ?? ''))
})

test('whole chunks cost a create and appends, and no last chunk of nothing', () => {
  const rate = { cents: 1n, hbars: 1n }
  expect(estimateFileFee({ callDataSize: 10_240, chunkSize: 5_120, rate })).toBe(10_032_500_000n)
})

test('half a tinybar is rounded up', () => {
  const rate = { cents: 501_840n * 2n, hbars: 3n * 10n ** 4n }
  expect(estimateFileFee({ callDataSize: 1, chunkSize: 1, rate })).toBe(150_000_000n)
  const odd = { cents: 501_840n * 200_000_000n, hbars: 3n * 10n ** 4n }
  expect(estimateFileFee({ callDataSize: 1, chunkSize: 1, rate: odd })).toBe(2n)
})

test.each([
  [-1, 5_120],
  [1.5, 5_120],
  [Number.NaN, 5_120],
  [2 ** 53, 5_120],
  [10, 0],
  [10, MAX_CHUNK_SIZE + 1],
])('%d bytes in chunks of %d are no file', (callDataSize, chunkSize) => {
  const estimate = () => estimateFileFee({ callDataSize, chunkSize, rate: rateOf(12) })
  expect(mistakeOf(estimate).code).toBe('FILE_SIZE_INVALID')
})

describe('for every table, chunk and price', () => {
  const asked = fc.record({
    size: fc.nat(200_000),
    more: fc.nat(20_000),
    chunkSize: fc.integer({ min: 1, max: MAX_CHUNK_SIZE }),
    cents: fc.double({ min: 0.0001, max: 100_000, noNaN: true }),
    table: fc.constantFrom<FeeTableName>('current', 'legacy'),
  })

  test('more data never costs less, and no data never earns', () => {
    fc.assert(
      fc.property(asked, ({ size, more, chunkSize, cents, table }) => {
        const options = { chunkSize, rate: rateOf(cents), table }
        const less = estimateFileFee({ callDataSize: size, ...options })
        expect(less).toBeGreaterThanOrEqual(0n)
        const full = estimateFileFee({ callDataSize: size + more, ...options })
        expect(full).toBeGreaterThanOrEqual(less)
      }),
    )
  })

  test('a dearer HBAR needs fewer of them', () => {
    fc.assert(
      fc.property(asked, ({ size, chunkSize, cents, table }) => {
        const at = (price: number) =>
          estimateFileFee({ callDataSize: size, chunkSize, rate: rateOf(price), table })
        expect(at(cents * 2)).toBeLessThanOrEqual(at(cents))
      }),
    )
  })
})
