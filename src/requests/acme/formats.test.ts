import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { vectors } from '../../../test/support/vectors.ts'
import { rulesOf } from '../catalog/definition.ts'
import { ID_FORMATS, type IdFormat, MAX_OPAQUE_LENGTH, reservedRangeOf } from '../ids/id-format.ts'
import { ACME } from './formats.ts'

const idRules = (idFormat: IdFormat) => rulesOf(ACME, { idFormat })

const address = fc.oneof(fc.ipV4(), fc.ipV6())
const group = fc
  .integer({ min: 0, max: 0xffff })
  .map((value) => value.toString(16).padStart(4, '0'))
const groups = (length: number) =>
  fc.array(group, { minLength: length, maxLength: length }).map((parts) => `${parts.join(':')}::`)
const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/)
const domain = fc
  .tuple(label, fc.constantFrom('com', 'co.uk', 'github.io'))
  .map(([a, b]) => `${a}.${b}`)
const regId = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String)
const pair = fc
  .tuple(regId, fc.oneof(domain, address))
  .map(([account, rest]) => `${account}:${rest}`)

const IDS: Readonly<Record<IdFormat, fc.Arbitrary<string>>> = {
  client: fc.oneof(
    address,
    groups(4).map((text) => `${text}/64`),
  ),
  ipAddress: address,
  ipv6RangeCIDR: groups(3).map((text) => `${text}/48`),
  regId,
  domain,
  domainOrCIDR: fc.oneof(domain, fc.ipV4(), groups(4)),
  fqdnSet: fc
    .array(fc.oneof(domain, address), { minLength: 1, maxLength: 5 })
    .map((m) => m.join(',')),
  opaque: fc.string({ unit: 'binary', maxLength: 20 }),
  'regId:identifier': pair,
  'regId:domainOrCIDR': pair,
}

describe.each(ID_FORMATS)('%s', (format) => {
  const rules = idRules(format)

  test('the canonical form of a canonical id is itself', () => {
    const ids = fc.sample(IDS[format], 300).map((text) => rules.bucketId(text))
    const accepted = ids.filter((id) => typeof id === 'string')
    for (const id of accepted) expect(rules.bucketId(id)).toBe(id)
    expect(accepted.length).toBeGreaterThan(100)
  })

  test('an override and a request for the same id meet', () => {
    const pairs = format.startsWith('regId:')
    let met = 0
    for (const text of fc.sample(IDS[format], 300)) {
      const override = rules.overrideId(pairs ? text.slice(0, text.indexOf(':')) : text)
      const id = rules.bucketId(text)
      if (typeof override !== 'string' || typeof id !== 'string') continue
      expect(rules.overrideOf(id)).toBe(override)
      met += 1
    }
    expect(met).toBeGreaterThan(100)
  })

  test('any text is answered, by an id or by the rule that it breaks', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        for (const parsed of [rules.bucketId(text), rules.overrideId(text)]) {
          expect(typeof parsed === 'string' ? parsed : parsed.rule).not.toBe('')
        }
      }),
    )
  })
})

describe('requests', () => {
  test.each<[IdFormat, string, string]>([
    ['domain', 'EXAMPLE.com', 'example.com'],
    ['domain', 'co.uk', 'co.uk'],
    ['domainOrCIDR', '64.112.117.1', '64.112.117.1/32'],
    ['domainOrCIDR', '64.112.117.1/32', '64.112.117.1/32'],
    ['domainOrCIDR', '2602:80a:6000:666::', '2602:80a:6000:666::/64'],
    ['domainOrCIDR', '2602:80a:6000:0666::/64', '2602:80a:6000:666::/64'],
    ['regId:identifier', '7:WWW.example.com', '7:www.example.com'],
    ['regId:identifier', '7:2602:80A::1', '7:2602:80a::1'],
    ['regId:domainOrCIDR', '7:example.com', '7:example.com'],
    ['opaque', 'Ünïcode ✓ 12:34', 'Ünïcode ✓ 12:34'],
    ['opaque', 'x'.repeat(MAX_OPAQUE_LENGTH), 'x'.repeat(MAX_OPAQUE_LENGTH)],
  ])('%s %s is counted as %s', (format, text, id) => {
    expect(idRules(format).bucketId(text)).toBe(id)
  })

  test.each<[IdFormat, string, string]>([
    ['domain', 'www.example.com', 'count as example.com'],
    ['domain', '1.2.3.4', 'not a number'],
    ['domainOrCIDR', '2602:80a::1', 'lowest address of its /64, which is 2602:80a::'],
    ['domainOrCIDR', '10.0.0.0/8', 'a /32 of IPv4 or a /64 of IPv6'],
    ['domainOrCIDR', '2602:80a::1/64', 'without host bits'],
    ['ipv6RangeCIDR', '2602:80a:6000:1::/48', 'which leaves 2602:80a:6000::/48'],
    ['ipv6RangeCIDR', '2602:80a:6000::1', '/48 mask'],
    ['regId', '007', 'without leading zeros'],
    ['regId', '18446744073709551616', '2^64-1'],
    ['regId:identifier', '1337', 'a colon'],
    ['regId:identifier', '12ea5:example.com', 'account number'],
    ['fqdnSet', 'example.com, example.org', '" example.org" must have labels'],
    ['fqdnSet', Array.from({ length: 101 }, (_, i) => `a${i}.com`).join(','), 'at most 100'],
    ['opaque', '', '1 to 512'],
    ['opaque', 'x'.repeat(MAX_OPAQUE_LENGTH + 1), '1 to 512'],
    ['opaque', 'a\u0000b', 'control characters'],
    ['opaque', 'a\nb', 'control characters'],
    ['opaque', '\ud800', 'control characters'],
  ])('%s %j breaks a rule', (format, text, rule) => {
    expect(idRules(format).bucketId(text)).toMatchObject({ rule: expect.stringContaining(rule) })
  })
})

describe('overrides refuse what no request would carry', () => {
  test.each<[IdFormat, string, string]>([
    ['domain', 'Example.com', 'lower-case'],
    ['domain', 'co.uk', 'must not itself be a public suffix'],
    ['domain', 'foo.test', 'public suffix'],
    ['domainOrCIDR', '*.example.com', 'not a wildcard'],
    ['domainOrCIDR', '64.112.117.1/32', 'without a mask'],
    ['regId:identifier', '1337:example.com', 'account number alone'],
    ['regId:domainOrCIDR', '1337:example.com', 'account number alone'],
  ])('%s %s', (format, text, rule) => {
    expect(idRules(format).overrideId(text)).toMatchObject({ rule: expect.stringContaining(rule) })
  })
})

describe('reserved ranges', () => {
  const { prefixes } = vectors<{ prefixes: readonly { prefix: string; name: string }[] }>(
    'boulder/reserved_prefixes.json',
  )

  test.each(prefixes.filter(({ prefix }) => !prefix.startsWith('::ffff:')))(
    '$prefix is reserved',
    ({ prefix }) => {
      expect(reservedRangeOf(prefix.slice(0, prefix.indexOf('/')))).toBeDefined()
    },
  )

  test('the most specific range is named', () => {
    expect(reservedRangeOf('10.1.2.3')).toBe('10.0.0.0/8 (Private-Use)')
    expect(reservedRangeOf('255.255.255.255')).toBe('255.255.255.255/32 (Limited Broadcast)')
    expect(reservedRangeOf('2001::1')).toBe('2001::/32 (TEREDO)')
  })

  test('a range that contains a reserved one is touched by it', () => {
    expect(reservedRangeOf('::/48')).toBeDefined()
    expect(reservedRangeOf('2602:80a:6000::/48')).toBeUndefined()
  })

  test.each(['8.8.8.8', '224.0.0.1', 'ff02::1', '64.112.117.1', 'example.com'])(
    '%s is in none',
    (text) => {
      expect(reservedRangeOf(text)).toBeUndefined()
    },
  )
})
