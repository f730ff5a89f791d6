import { describe, expect, test } from 'vitest'
import type { Commit, Write } from '../core/store.ts'
import {
  checkCommit,
  checkKeys,
  checkPage,
  checkPosition,
  MAX_COMMIT_WRITES,
  MAX_NAME_BYTES,
  MAX_STORE_PAGE,
  MAX_VALUE_LENGTH,
} from './bounds.ts'

const commitOf = (...writes: readonly Write[]): Commit<void> => ({
  writes,
  appends: [],
  result: undefined,
})

describe('keys', () => {
  test('have a bound in bytes, not in characters', () => {
    expect(() => checkKeys(['k'.repeat(MAX_NAME_BYTES), '水'.repeat(682)])).not.toThrow()
    expect(() => checkKeys(['k'.repeat(MAX_NAME_BYTES + 1)])).toThrow('at most 2048 bytes')
    expect(() => checkKeys(['水'.repeat(683)])).toThrow('at most 2048 bytes')
  })

  test('are not empty and hold only what every store keeps to the letter', () => {
    expect(() => checkKeys([''])).toThrow('the empty key cannot be listed')
    expect(() => checkKeys(['a\0b'])).toThrow('a key holds no NUL')
    expect(() => checkKeys(['\ud800'])).toThrow('a key is well-formed Unicode')
    expect(() => checkKeys(['🚰'])).not.toThrow()
  })
})

describe('plans', () => {
  test('write a key at most once', () => {
    expect(() => checkCommit(commitOf({ key: 'a', value: '1' }, { key: 'a' }))).toThrow(
      'at most once',
    )
  })

  test('have a bound on their writes and on each value', () => {
    const many = Array.from({ length: MAX_COMMIT_WRITES + 1 }, (_, i) => ({ key: `${i}` }))
    expect(() => checkCommit(commitOf(...many))).toThrow('at most 65536 writes')
    const value = 'x'.repeat(MAX_VALUE_LENGTH)
    expect(() => checkCommit(commitOf({ key: 'a', value }))).not.toThrow()
    expect(() => checkCommit(commitOf({ key: 'a', value: `${value}x` }))).toThrow(
      '1048576 characters',
    )
  })
})

test('pages hold at least one and at most as many as fit in memory at once', () => {
  for (const limit of [1, MAX_STORE_PAGE]) expect(() => checkPage(limit)).not.toThrow()
  for (const limit of [0, -1, 1.5, Number.NaN, MAX_STORE_PAGE + 1]) {
    expect(() => checkPage(limit)).toThrow('a page holds 1 to 10000')
  }
})

test('positions are whole numbers from 0', () => {
  expect(() => checkPosition(0)).not.toThrow()
  for (const position of [-1, 0.5, Number.POSITIVE_INFINITY]) {
    expect(() => checkPosition(position)).toThrow('a position is a whole number from 0')
  }
})
