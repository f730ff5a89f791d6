import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  charged,
  decodeRecord,
  disabledRecord,
  encodeRecord,
  MAX_ANSWERED,
  NEW_RECORD,
} from './domain-record.ts'

describe("a domain's record", () => {
  test('comes back as it was written', () => {
    const record = fc.record(
      {
        quota: fc.stringMatching(/^[0-9 ]{1,20}$/),
        disabled: fc.boolean(),
        answered: fc.array(fc.stringMatching(/^[0-9a-f]{64}$/), { maxLength: MAX_ANSWERED }),
      },
      { requiredKeys: ['disabled', 'answered'] },
    )
    fc.assert(
      fc.property(record, (each) => {
        expect(decodeRecord(encodeRecord(each))).toEqual(each)
      }),
    )
  })

  test('that nobody wrote is live and unused', () => {
    expect(decodeRecord(undefined)).toEqual({ disabled: false, answered: [] })
  })

  test('remembers the last 64 answers', () => {
    const hashes = Array.from({ length: 70 }, (_, i) => `${i}`)
    const record = hashes.reduce((each, hash) => charged(each, '1 0 0', hash), NEW_RECORD)
    expect(record.answered).toEqual(hashes.slice(-64))
  })

  test('keeps its count as a tombstone, and forgets the answers', () => {
    const record = disabledRecord(charged(NEW_RECORD, '1 0 0', 'a'))
    expect(record).toEqual({ quota: '1 0 0', disabled: true, answered: [] })
  })

  test('that is none fails loudly, rather than giving attempts back', () => {
    expect(() => decodeRecord('{}')).toThrow(/record/)
  })
})
