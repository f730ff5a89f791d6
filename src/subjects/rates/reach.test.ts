import { describe, expect, test } from 'vitest'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { checkMatchable, reachWarning, wideReach } from './reach.ts'
import { coveringForms, normalForm } from './subject.ts'

const meets = (block: string, subject: string): boolean =>
  coveringForms(subject).includes(normalForm(block))

describe('blocks on more than one subject', () => {
  test.each([
    [
      '198.51.100.0/24',
      ['198.51.100.7', '198.51.100.255:443', 'x@[198.51.100.9]', '198.51.100.0/25'],
    ],
    ['2001:DB8:0::/32', ['2001:db8::1', '[2001:db8:ffff::1]:443', '2001:db8:5::/48']],
    ['::/0', ['2001:db8::1', 'http://[::1]/x']],
    ['0.0.0.0/0', ['192.0.2.7', '::ffff:192.0.2.7']],
    ['*.wild.test', ['a.wild.test', 'b.a.wild.test:443', 'x@a.wild.test', 'https://a.wild.test/x']],
    ['@atmail.test', ['x@atmail.test', 'X <y@sub.atmail.test>', 'did:mailto:atmail.test:x']],
    ['*@atmail.test', ['x@atmail.test']],
    ['mailto:@atmail.test', ['x@atmail.test']],
    ['com', ['evil.com', 'x@mail.evil.com', 'https://evil.com/x']],
    ['.com', ['evil.com']],
    ['co.uk', ['evil.co.uk']],
    ['*.co.uk', ['evil.co.uk']],
  ])('%s meets what it stands for', (block, subjects) => {
    for (const subject of subjects)
      expect([subject, meets(block, subject)]).toEqual([subject, true])
  })

  test.each([
    ['198.51.100.0/24', ['198.51.101.7', '2001:db8::1', '198.51.0.0/16', 'evil.com/24']],
    ['*.wild.test', ['wild.test', 'x@wild.test', 'notwild.test', 'a.wild.test.example']],
    ['@atmail.test', ['atmail.test', 'https://atmail.test', 'x@notatmail.test']],
    ['com', ['com.test', 'x@a.test', 'account']],
  ])('%s meets nothing else', (block, subjects) => {
    for (const subject of subjects)
      expect([subject, meets(block, subject)]).toEqual([subject, false])
  })
})

describe('what can match nothing', () => {
  test.each([
    ['198.51.100.7/24', /without host bits/],
    ['198.51.100.0/33', /without host bits/],
    ['198.51.100/24', /without host bits/],
    ['198.51.100.0-198.51.100.255', /without host bits/],
    ['2001:db8::1 - 2001:db8::9', /without host bits/],
    ['198.51.100.0/255.255.255.0', /without host bits/],
    ['2001:db8::1/32', /without host bits/],
    ['*', /a \* only in front/],
    ['*.*.test', /a \* only in front/],
    ['a.*.test', /a \* only in front/],
    ['*evil.com', /a \* only in front/],
    ['a*@evil.com', /a \* only in front/],
    ['@*.evil.com', /a \* only in front/],
    ['https://evil.com/*', /a \* only in front/],
    ['192.0.2.*', /a \* only in front/],
    ['@', /before and a domain after/],
    ['x@', /before and a domain after/],
    ['x@evil.123', /domain or an address/],
    ['192.0.2', /four numbers/],
    ['192.0.2.', /four numbers/],
    ['300.1.1.1', /four numbers/],
    ['1::2::3', /IPv6/],
    ['https://', /URL with a host/],
    ['did:key', /three parts/],
    ['did:key:', /three parts/],
    [`${'a'.repeat(64)}.test`, /63/],
    [`${'a.'.repeat(130)}test`, /253/],
    [`${'a.'.repeat(20)}test`, /16 labels/],
    ['COM', /written com/],
    ['рф', /written xn--p1ai/],
  ])('%s is refused', (subject, rule) => {
    const { code, message } = mistakeOf(() => checkMatchable(subject))
    expect([code, message]).toEqual(['SUBJECT_MATCHES_NOTHING', expect.stringMatching(rule)])
    expect(reachWarning(subject)).toMatch(/^matches nothing as it stands: /)
  })

  test.each([
    ...[
      'evil.com',
      'EVIL.com:443',
      '*.evil.com',
      '@evil.com',
      '*@evil.com',
      'x@evil.com',
      'Dev',
      'ann',
    ],
    ...['198.51.100.0/24', '198.51.100.7/32', '2001:db8::/32', '192.0.2.7', 'fe80::1%eth0', '1.5'],
    ...[
      'https://evil.com/24',
      'did:key:z6Mk',
      'did:web:evil.com',
      'urn:isbn:0451450523',
      'account:12',
    ],
  ])('%s is not', (subject) => {
    expect(checkMatchable(subject)).toBe(subject)
    expect(reachWarning(subject)).toBeUndefined()
  })

  test('a name of as many labels as are looked up covers what is below it', () => {
    const name = `${'a.'.repeat(15)}test`
    expect(checkMatchable(name)).toBe(name)
    expect(meets(name, `${'b.'.repeat(40)}${name}`)).toBe(true)
  })
})

describe('what needs force', () => {
  test.each([
    ['com', 'every domain under com, a public suffix'],
    ['.com', 'every domain under com, a public suffix'],
    ['Co.UK', 'every domain under co.uk, a public suffix'],
    ['https://co.uk/', 'every domain under co.uk, a public suffix'],
    ['*.com', 'every domain under com, a public suffix'],
    ['*.test', 'every domain under test, a public suffix'],
    ['github.io', 'every domain under github.io, a public suffix'],
    ['@co.uk', 'all mail of every domain under co.uk, a public suffix'],
    ['0.0.0.0/0', 'every address in 0.0.0.0/0'],
    ['::/3', 'every address in ::/3'],
  ])('%s says what it covers', (subject, reach) => {
    expect(wideReach(subject)).toBe(reach)
    expect(reachWarning(subject)).toBe(`covers ${reach}`)
  })

  test.each([
    'evil.com',
    '*.evil.co.uk',
    '@evil.com',
    'x@com',
    'ann',
    '10.0.0.0/8',
    '2001:db8::/32',
  ])('%s does not', (subject) => {
    expect(wideReach(subject)).toBeUndefined()
  })
})
