import { describe, expect, test } from 'vitest'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { bucketIdFromParts } from '../acme/formats.ts'
import type { IdFormat } from './id-format.ts'
import type { Identifier, Parts } from './parts.ts'

const name: Identifier = { type: 'dns', value: 'WWW.Example.com' }
const all: Parts = {
  regId: 1337,
  ip: '2001:0DB8:abcd:12::1',
  identifier: name,
  identifiers: [name],
}

test.each<[IdFormat, string]>([
  ['ipAddress', '2001:db8:abcd:12::1'],
  ['ipv6RangeCIDR', '2001:db8:abcd::/48'],
  ['regId', '1337'],
  ['domain', 'example.com'],
  ['domainOrCIDR', 'example.com'],
  ['regId:identifier', '1337:www.example.com'],
  ['regId:domainOrCIDR', '1337:example.com'],
])('%s takes what it needs and ignores the rest', (format, id) => {
  expect(bucketIdFromParts(format, all)).toBe(id)
})

test('an account beyond 2^53 is given as text', () => {
  expect(bucketIdFromParts('regId', { regId: '18446744073709551615' })).toBe('18446744073709551615')
  expect(mistakeOf(() => bucketIdFromParts('regId', { regId: 2 ** 53 }))).toMatchObject({
    code: 'PARTS_INVALID',
    rule: 'must be exact: give it as text',
  })
})

describe('refused', () => {
  const tooMany: readonly Identifier[] = Array.from({ length: 101 }, (_, i) => ({
    type: 'dns',
    value: `a${i}.com`,
  }))

  test.each<[IdFormat, Parts, string]>([
    ['ipAddress', {}, 'PARTS_MISSING'],
    ['ipAddress', { ip: '1.2.3' }, 'PARTS_INVALID'],
    ['ipv6RangeCIDR', { ip: '1.2.3.4' }, 'PARTS_UNSUPPORTED'],
    ['regId', { regId: -1 }, 'PARTS_INVALID'],
    ['regId', { regId: 1.5 }, 'PARTS_INVALID'],
    ['regId', { regId: '007' }, 'PARTS_INVALID'],
    ['domain', { identifier: { type: 'ip', value: '1.2.3.4' } }, 'PARTS_UNSUPPORTED'],
    ['fqdnSet', { identifiers: [] }, 'PARTS_MISSING'],
    ['fqdnSet', { identifiers: tooMany }, 'PARTS_INVALID'],
    ['regId:identifier', { regId: 1337 }, 'PARTS_MISSING'],
    ['opaque', all, 'PARTS_UNSUPPORTED'],
  ])('%s from %j', (format, parts, code) => {
    expect(mistakeOf(() => bucketIdFromParts(format, parts)).code).toBe(code)
  })

  test('the message names the limit, the part and the rule', () => {
    const mistake = mistakeOf(() => bucketIdFromParts('ipAddress', {}, 'the id of NewFoos'))
    expect(mistake.message).toBe('the id of NewFoos from parts.ip: needs parts.ip, found none')
  })
})
