import { expect, test } from 'vitest'
import { decodeBudget, encodeBudget } from './budget.ts'
import { decodeGcra, encodeGcra } from './gcra.ts'
import { decodeStaged, encodeStaged } from './staged.ts'
import { instant, span } from './time.ts'

test('every state reads back as it was written', () => {
  const seen = instant(1_700_000_000_123_456)
  const plain = { burst: 12, interval: span(2 ** 48), largest: undefined }
  const gcra = { tat: instant(seen + 2 ** 52), seen, since: instant(7), ...plain }
  expect(decodeGcra(encodeGcra(gcra))).toEqual(gcra)
  const largest = { tat: instant(seen + 5), burst: 1_000, interval: span(1) }
  const owing = { ...gcra, tat: seen, since: instant(seen + 1), largest }
  expect(encodeGcra(owing)).toBe('1700000000123456 0 -1 12 281474976710656 5 1000 1')
  expect(decodeGcra(encodeGcra(owing))).toEqual(owing)
  for (const disabled of [true, false]) {
    const staged = { counter: 4_294_967_291, timer: instant(-1), disabled }
    expect(decodeStaged(encodeStaged(staged))).toEqual(staged)
  }
})

test('a budget too, with amounts beyond any double', () => {
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
  for (const text of ['1 2', '1 2 3 4 5 6', '1 2 3 4 5 6 7 8 9']) {
    expect(() => decodeGcra(text), text).toThrow(/5 numbers/)
  }
  for (const text of [
    '1 x 3 4 5',
    '1  3 4 5',
    '1 --2 3 4 5',
    '1 2- 3 4 5',
    '9007199254740993 2 3 4 5',
    '',
  ]) {
    expect(() => decodeGcra(text), text).toThrow(/whole number/)
  }
  expect(() => decodeStaged('1  3')).toThrow(/whole number/)
  expect(() => decodeBudget('1.5')).toThrow(/amount/)
  expect(() => decodeBudget('1 5')).toThrow(/amount/)
  for (const text of ['1 5:', '1 :5', '1 5:x', '1 -5:1', '1 5:1 ', '1  5:1', '1 5:1 6']) {
    expect(() => decodeBudget(text), text).toThrow(/amount/)
  }
})
