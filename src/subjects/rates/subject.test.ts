import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { reachWarning } from './reach.ts'
import { checkSubject, coveringForms, normalForm } from './subject.ts'

describe('spellings of one subject have one normal form', () => {
  test.each([
    ['letter case of a domain', 'Example.COM', 'example.com'],
    ['a final dot', 'example.com.', 'example.com'],
    ['an international name and its xn-- form', 'bücher.example', 'xn--bcher-kva.example'],
    ['letter case of an address', 'Alice@Example.com', 'alice@example.com'],
    ['did:mailto and the address itself', 'did:mailto:example.com:alice', 'alice@example.com'],
    ['an escaped did:mailto', 'did:mailto:example.com:alice%2Btag', 'alice+tag@example.com'],
    ['mailto: and the address itself', 'mailto:alice@example.com', 'alice@example.com'],
    ['the domain of an address in xn-- form', 'a@bücher.example', 'a@xn--bcher-kva.example'],
    ['forms of an IPv6 address', '2001:DB8:0:0::1', '2001:db8::1'],
    ['brackets around an IPv6 address', '[2001:db8::1]', '2001:db8::1'],
    ['an IPv4-mapped address', '::ffff:192.0.2.1', '192.0.2.1'],
    [
      'the host, port and fragment of a URL',
      'HTTPS://Example.com:443/a#b',
      'https://example.com/a',
    ],
    ['letter case of a DID method', 'DID:key:z6Mk', 'did:key:z6Mk'],
    ['space around it', ' example.com ', 'example.com'],
  ])('%s', (_, one, other) => {
    expect(normalForm(one)).toBe(normalForm(other))
  })

  test.each([
    ['what a did:key spells in another case', 'did:key:z6Mk', 'did:key:z6mK'],
    ['the path of a URL in another case', 'https://a.test/A', 'https://a.test/a'],
    ['a number and the address it would be in hexadecimal', '2130706433', '127.0.0.1'],
    ['an account and another', 'User-A', 'user-a'],
  ])('but not %s', (_, one, other) => {
    expect(normalForm(one)).not.toBe(normalForm(other))
  })
})

describe('a rate on a wider subject applies to what is within it', () => {
  test.each([
    ['a domain', 'sub.a.test', 'a.test'],
    ['an address', 'alice@sub.a.test', 'a.test'],
    ['a did:mailto', 'did:mailto:a.test:alice', 'a.test'],
    ['a URL', 'https://www.a.test/path', 'a.test'],
    ['a URL with an address as host', 'http://192.0.2.1/x', '192.0.2.1'],
    ['a URL whose host is that address in another notation', 'http://0xc0.0.513/x', '192.0.2.1'],
    ['a did:web', 'did:web:a.test:users:alice', 'a.test'],
    ['an address whose quoted part holds an @', '"x@y"@b.test', 'b.test'],
    [
      'a name with so many labels that not all are looked at',
      `${'x.'.repeat(100)}a.test`,
      'a.test',
    ],
  ])('%s', (_, narrow, wide) => {
    expect(coveringForms(narrow)).toContain(normalForm(wide))
  })

  test.each([
    ['a neighbour', 'notA.test', 'a.test'],
    ['a domain in the quoted part of an address', '"x@y.test"@b.test', 'y.test'],
    ['the wider within the narrow', 'a.test', 'sub.a.test'],
  ])('but not %s', (_, narrow, wide) => {
    expect(coveringForms(narrow)).not.toContain(normalForm(wide))
  })

  test('the narrowest comes first', () => {
    expect(coveringForms('Alice@x.a.test')).toEqual([
      'mail:alice@x.a.test',
      'mail:@x.a.test',
      'name:x.a.test',
      'name:*.a.test',
      'mail:@a.test',
      'name:a.test',
      'name:*.test',
      'mail:@test',
      'text:test',
    ])
    const lengths = { ipv4: [24, 8], ipv6: [] }
    expect(coveringForms('192.0.2.7', lengths)).toEqual([
      'ip:192.0.2.7',
      'ip:192.0.2.0/24',
      'ip:192.0.0.0/8',
    ])
  })
})

test.each(['', '  ', '\u200b\u200d', 'a\nb', 'x'.repeat(1_025), '\ud800'])(
  '%j is no subject',
  (subject) => {
    expect(mistakeOf(() => normalForm(subject)).code).toBe('SUBJECT_INVALID')
  },
)

test('no subject is looked up under more than 90 forms beside the ranges around it', () => {
  const deep = `${'x.'.repeat(60)}test`
  const none = { ipv4: [], ipv6: [] }
  expect(coveringForms(`${deep}/${'y.'.repeat(60)}+z@${deep}`, none).length).toBeLessThanOrEqual(90)
  expect(coveringForms('192.0.2.7')).toHaveLength(1 + 32)
  expect(coveringForms('2001:db8::1')).toHaveLength(1 + 128)
})

test('every form of any subject fits into a key of a store', () => {
  const part = fc.string({ unit: 'grapheme', maxLength: 300 })
  const escaped = part.map((text) => `did:mailto:a.test:${encodeURIComponent(text)}`)
  const url = part.map((text) => `https://a.test/${text}`)
  const marks = [
    ...'ax0.:/@%[]<>"()\\*?#+, \u200d\uff0e',
    '%2',
    '5',
    'did:',
    'mailto:',
    'https:',
    '::',
  ]
  const noise = fc.string({ unit: fc.constantFrom(...marks), maxLength: 60 })
  const subject = fc.oneof(part, escaped, url, noise, noise)
  fc.assert(
    fc.property(subject, (text) => {
      fc.pre(isSubject(text))
      for (const form of coveringForms(text)) {
        expect(Buffer.byteLength(form)).toBeLessThanOrEqual(1_536)
        expect(form).not.toMatch(/\p{Cc}/u)
      }
      expect(typeof reachWarning(text)).toMatch(/string|undefined/)
    }),
    { numRuns: times(300, 50_000) },
  )
})

const isSubject = (text: string): boolean => {
  try {
    return checkSubject(text) === text
  } catch {
    return false
  }
}
