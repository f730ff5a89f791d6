/** The encoder's laws: one encoding for each value, and one text for each type. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonField } from '../../../test/support/json-field.ts'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { toHex, ZERO_ADDRESS } from './ethereum.ts'
import { address, bool, list, MAX_STRING, optional, string, struct, uint256 } from './typed-data.ts'

const Leaf = struct('Leaf', { size: optional(uint256), label: string })
const Branch = struct('Branch', { leaves: list(Leaf, 4), owner: optional(address), alive: bool })

const leaf = fc.record({
  size: fc.oneof(
    fc.record({ defined: fc.constant(true), value: fc.maxSafeNat() }),
    fc.constant({ defined: false, value: 0 }),
  ),
  label: fc.string({ unit: 'grapheme', maxLength: 5 }),
})
const branch = fc.record({
  leaves: fc.array(leaf, { maxLength: 4 }),
  owner: fc.constant({ defined: false, value: ZERO_ADDRESS }),
  alive: fc.boolean(),
})

describe('a struct', () => {
  test('is named by its definition, followed by those it refers to in the order of their names', () => {
    expect(Branch.typeString).toBe(
      'Branch(bool alive,Leaf[] leaves,Optional<address> owner)' +
        'Leaf(string label,Optional<uint256> size)' +
        'Optional<address>(bool defined,address value)' +
        'Optional<uint256>(bool defined,uint256 value)',
    )
  })

  test('encodes two values alike only if they are equal', () => {
    fc.assert(
      fc.property(branch, branch, (one, other) => {
        const same = JSON.stringify(one) === JSON.stringify(other)
        expect(toHex(Branch.encode(one)) === toHex(Branch.encode(other))).toBe(same)
      }),
      { numRuns: 300 },
    )
  })

  test('reads back what it was written as', () => {
    fc.assert(
      fc.property(branch, (value) => {
        expect(Branch.read(jsonField(value))).toEqual(value)
      }),
      { numRuns: 300 },
    )
  })
})

describe('refused, with the place and what was found', () => {
  const rows: readonly (readonly [string, unknown, string])[] = [
    ['an unknown field', { size: { defined: false, value: 0 }, label: '', x: 1 }, 'FIELD_UNKNOWN'],
    ['a field that is missing', { label: '' }, 'FIELD_MISSING'],
    ['a number where text belongs', { size: { defined: false, value: 0 }, label: 5 }, 'FIELD_TYPE'],
    ['null where text belongs', { size: { defined: false, value: 0 }, label: null }, 'FIELD_TYPE'],
    [
      'text where a number belongs',
      { size: { defined: true, value: '1' }, label: '' },
      'FIELD_TYPE',
    ],
    ['a fraction', { size: { defined: true, value: 1.5 }, label: '' }, 'FIELD_TYPE'],
    ['a negative number', { size: { defined: true, value: -1 }, label: '' }, 'FIELD_VALUE'],
    [
      'a number beyond 2^53 - 1',
      { size: { defined: true, value: 2 ** 53 }, label: '' },
      'FIELD_VALUE',
    ],
    [
      'a value that is not defined',
      { size: { defined: false, value: 5 }, label: '' },
      'FIELD_VALUE',
    ],
    [
      'text that is too long',
      { size: { defined: false, value: 0 }, label: 'x'.repeat(MAX_STRING + 1) },
      'FIELD_VALUE',
    ],
    [
      'a lone surrogate, which has no UTF-8',
      { size: { defined: false, value: 0 }, label: '\ud800' },
      'FIELD_VALUE',
    ],
  ]
  for (const [what, value, code] of rows) {
    test(what, () => expect(mistakeOf(() => Leaf.read(jsonField(value)))).toMatchObject({ code }))
  }

  test('more values than the list takes', () => {
    const leaves = Array.from({ length: 5 }, () => ({
      size: { defined: false, value: 0 },
      label: '',
    }))
    const value = { leaves, owner: { defined: false, value: ZERO_ADDRESS }, alive: true }
    expect(mistakeOf(() => Branch.read(jsonField(value)))).toMatchObject({
      code: 'FIELD_VALUE',
      finding: '5',
    })
  })
})

describe('an address', () => {
  const CHECKSUMMED = '0x90F8bf6A479f320ead074411a4B0e7944Ea8c9C1'
  const read = (text: string) => address.read(jsonField(text))

  test('is the same in lower case, in capitals and with its checksum', () => {
    expect(read(CHECKSUMMED)).toBe(CHECKSUMMED.toLowerCase())
    expect(read(CHECKSUMMED.toLowerCase())).toBe(CHECKSUMMED.toLowerCase())
    expect(read(`0x${CHECKSUMMED.slice(2).toUpperCase()}`)).toBe(CHECKSUMMED.toLowerCase())
  })

  test('is refused if its capitals contradict its digits, or if it is none', () => {
    for (const text of [CHECKSUMMED.replace('F8', 'f8'), CHECKSUMMED.slice(2), '0x12', '']) {
      expect(mistakeOf(() => read(text))).toMatchObject({ code: 'FIELD_VALUE' })
    }
  })
})
