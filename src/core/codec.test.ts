import { expect, test } from 'vitest'
import {
  decodeBudget,
  decodeGcra,
  decodeStaged,
  encodeBudget,
  encodeGcra,
  encodeStaged,
} from './codec.ts'
import { instant, span } from './time.ts'

test('every state reads back as it was written', () => {
  const gcra = { tat: instant(1_700_000_000_123_456), capacity: span(2 ** 52), since: instant(7) }
  expect(decodeGcra(encodeGcra(gcra))).toEqual(gcra)
  for (const disabled of [true, false]) {
    const staged = { counter: 4_294_967_291, timer: instant(-1), disabled }
    expect(decodeStaged(encodeStaged(staged))).toEqual(staged)
  }
})

test('a budget too, whether its text was lately written here or comes from elsewhere', () => {
  const written = { spent: -(2n ** 70n), held: [{ expiresAt: instant(5), amount: 2n ** 65n }] }
  expect(decodeBudget(encodeBudget(written))).toEqual(written)
  const text = '1180591620717411303424 5:36893488147419103232 17:0'
  const met = {
    spent: 2n ** 70n,
    held: [
      { expiresAt: instant(5), amount: 2n ** 65n },
      { expiresAt: instant(17), amount: 0n },
    ],
  }
  expect(decodeBudget(text)).toEqual(met)
  expect(encodeBudget(met)).toBe(text)
})

test('text that no state was written as is a bug to stop at, not a bucket to fill', () => {
  expect(() => decodeGcra('1 2')).toThrow(/three numbers/)
  expect(() => decodeGcra('1 x 3')).toThrow(/whole number/)
  expect(() => decodeStaged('1  3')).toThrow(/whole number/)
  expect(() => decodeBudget('1.5')).toThrow(/amount/)
  expect(() => decodeBudget('1 5')).toThrow(/amount/)
})
