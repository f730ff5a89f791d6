import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import type { Identifier } from '../ids/parts.ts'
import { canonicalIdentifier, coveringIdentifiers, fqdnSetHash } from './identifiers.ts'

const dns = (value: string): Identifier => ({ type: 'dns', value })
const ip = (value: string): Identifier => ({ type: 'ip', value })

const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/)
const identifier = fc.oneof(
  label.map((name) => dns(`${name}.com`)),
  fc.tuple(label, label).map(([sub, name]) => dns(`${sub}.${name}.org`)),
  fc.ipV4().map(ip),
  fc.ipV6().map(ip),
)
const set = fc.array(identifier, { minLength: 1, maxLength: 8 })

test('the hash of a set depends neither on order, nor on case, nor on repetition', () => {
  fc.assert(
    fc.property(set, fc.infiniteStream(fc.nat()), (identifiers, chance) => {
      const draw = () => chance.next().value ?? 0
      const again = [...identifiers, ...identifiers]
        .map((one) => ({ one: { ...one, value: one.value.toUpperCase() }, at: draw() }))
        .sort((a, b) => a.at - b.at)
        .map(({ one }) => one)
      expect(fqdnSetHash(again)).toBe(fqdnSetHash(identifiers))
    }),
  )
})

test('different sets have different hashes', () => {
  expect(fqdnSetHash([dns('a.com')])).not.toBe(fqdnSetHash([dns('b.com')]))
  expect(fqdnSetHash([dns('a.com')])).not.toBe(fqdnSetHash([dns('a.com'), dns('b.com')]))
})

test('what covers identifiers is sorted, unique, and no larger than they are', () => {
  fc.assert(
    fc.property(set, (identifiers) => {
      const covering = coveringIdentifiers(identifiers)
      expect(covering).toEqual([...new Set(covering)].sort())
      expect(covering.length).toBeLessThanOrEqual(identifiers.length)
    }),
  )
})

test('a wildcard is covered as the name below it', () => {
  expect(coveringIdentifiers([dns('*.example.com'), dns('example.com')])).toEqual(['example.com'])
})

test('two spellings of an address are one identifier', () => {
  expect(canonicalIdentifier(ip('2001:0DB8::0001'))).toEqual(ip('2001:db8::1'))
})

test.each([
  [dns('exa mple.com'), 'the dns identifier: must have labels'],
  [dns('*.*.example.com'), 'the dns identifier: must have labels'],
  [ip('1.2.3'), 'the ip identifier: must be an IP address, found "1.2.3"'],
  [ip('fe80::1%eth0'), 'the ip identifier: must be an IP address'],
])('%j is refused', (one, message) => {
  const mistake = mistakeOf(() => canonicalIdentifier(one))
  expect(mistake.code).toBe('PARTS_INVALID')
  expect(mistake.message).toContain(message)
})
