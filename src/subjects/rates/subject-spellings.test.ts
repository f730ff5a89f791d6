/** Every spelling of a subject is found under the block of its plain form. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { coveringForms, normalForm } from './subject.ts'

const KEY = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp'

describe('a spelling meets the block of its plain form', () => {
  test.each([
    ['evil.com:443', 'evil.com'],
    ['evil.com:8443', 'evil.com'],
    ['evil.com/x', 'evil.com'],
    ['evil.com?x', 'evil.com'],
    ['evil.com#x', 'evil.com'],
    ['evil.com\\x', 'evil.com'],
    ['evil.com:443/x', 'evil.com'],
    ['//evil.com/x', 'evil.com'],
    ['\\\\evil.com\\x', 'evil.com'],
    ['https:evil.com', 'evil.com'],
    ['https:/evil.com', 'evil.com'],
    ['https:\\\\evil.com', 'evil.com'],
    ['https://ann:secret@evil.com', 'evil.com'],
    ['https://good.com@evil.com/', 'evil.com'],
    ['blob:https://evil.com/0f3a', 'evil.com'],
    ['filesystem:https://evil.com/temporary/x', 'evil.com'],
    ['view-source:https://evil.com/x', 'evil.com'],
    ['ssh://git@EVIL.com/x', 'evil.com'],
    ['.evil.com', 'evil.com'],
    ['evil.com..', 'evil.com'],
    ['evil。com', 'evil.com'],
    ['evil%2Ecom', 'evil.com'],
    ['ev\u200bil.com', 'evil.com'],
    ['ev\u200dil.com', 'evil.com'],
    ['https://ev\u200dil.com/x', 'evil.com'],
    ['\u202eevil.com\u202c', 'evil.com'],
    ['ｅｖｉｌ．ｃｏｍ', 'evil.com'],
    ['𝐞𝐯𝐢𝐥.com', 'evil.com'],
    ['xn--a.evil.com', 'evil.com'],
    ['https://xn--a.evil.com/x', 'evil.com'],
    ['under_score.evil.com', 'evil.com'],
    ['*.evil.com', 'evil.com'],
    ['<https://evil.com/x>', 'https://evil.com/x'],
    ['<URL:https://evil.com>', 'evil.com'],
    ['https%3A%2F%2Fevil.com%2Fx', 'https://evil.com/x'],
    ['evil.com%00', 'evil.com'],
    ['git@evil.com:x/y', 'git@evil.com'],
    ['evil.com:x/y', 'evil.com'],
    ['did:web:evil.com%2Fx', 'evil.com'],
    ['evil.com/@good.com', 'evil.com'],
    ['a.b/c@evil.com', 'evil.com'],
    ['https://evil.com%00/x', 'evil.com'],
    ['https://evil.com%20/x', 'evil.com'],
    ['https://evil.com%2Fx', 'evil.com'],
    ['https://evil.com:x/', 'evil.com'],
    ['https://evil.com /x', 'evil.com'],
    ['http://ann:p/w@evil.com/', 'evil.com'],
    ['jar:https://evil.com/x.jar!/y', 'evil.com'],
    ['microsoft-edge:https://evil.com/x', 'https://evil.com/x'],
    ['evil.com:https://good.com', 'evil.com'],
    ['sip:evil.com;transport=tcp', 'evil.com'],
    ['sip:evil.com:5060;lr', 'evil.com'],
    ['xmpp:evil.com/phone', 'evil.com'],
    ['did:web:evil.com;service=x', 'evil.com'],
    ['mailto:50%off%40evil.com', '50%off@evil.com'],
    ['x@evil.com?subject=hello', 'x@evil.com'],
    ['x@evil.com#y', 'x@evil.com'],
    ['x@evil.com\\', 'x@evil.com'],
    ['x@evil.com (at work', 'x@evil.com'],
    ['"x@evil.com"', 'evil.com'],
    ['X <x@evil.com>,', 'x@evil.com'],
    ['<x@evil.com> SIZE=9', 'x@evil.com'],
    ['X <x@evil.com>', 'x@evil.com'],
    ['"X, Y" <x@evil.com>', 'x@evil.com'],
    ['<x@evil.com>', 'x@evil.com'],
    ['x@evil.com (at work, or ask@good.com)', 'x@evil.com'],
    ['x(y)@evil.com', 'x@evil.com'],
    ['x @ evil.com', 'x@evil.com'],
    ['x@evil . com', 'x@evil.com'],
    ['x@evil.com>', 'x@evil.com'],
    ['x@evil.com,', 'x@evil.com'],
    ['mailto://x@evil.com', 'x@evil.com'],
    ['sip:x@evil.com;transport=tcp', 'x@evil.com'],
    ['did:mailto:x%40evil.com', 'x@evil.com'],
    ['mailto:x%40evil.com', 'x@evil.com'],
    ['mailto:%78@evil.com?subject=hello', 'x@evil.com'],
    ['<mailto:x@evil.com>', 'x@evil.com'],
    ['x%40evil.com', 'x@evil.com'],
    ['acct:x@evil.com', 'x@evil.com'],
    ['xmpp:x@evil.com/phone', 'x@evil.com'],
    ['sip:x@evil.com:5060', 'x@evil.com'],
    ['"x"@evil.com', 'x@evil.com'],
    ['"\\x"@evil.com', 'x@evil.com'],
    ['x@evil.com.', 'x@evil.com'],
    ['x@.evil.com', 'x@evil.com'],
    ['ｘ＠evil.com', 'x@evil.com'],
    ['x\u200b@evil.com', 'x@evil.com'],
    ['x+tag@evil.com', 'x@evil.com'],
    ['did:mailto:evil.com:x#key-1', 'x@evil.com'],
    ['192.0.2.7:443', '192.0.2.7'],
    ['192.0.2.7.', '192.0.2.7'],
    ['192.0.2.7..', '192.0.2.7'],
    ['https://192.0.2.7:x/', '192.0.2.7'],
    ['http://[2001:db8::1]:x/', '2001:db8::1'],
    ['192.0.2.7/x', '192.0.2.7'],
    ['192.0.2.7/24', '192.0.2.7'],
    ['192.0.2.7/32', '192.0.2.7'],
    ['１９２.0.2.7', '192.0.2.7'],
    ['[::ffff:192.0.2.7]:443', '192.0.2.7'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:DB8:0::1]', '2001:db8::1'],
    ['2001:db8::1/128', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['[fe80::1%25eth0]:443', 'fe80::1'],
    ['http://[fe80::1%25eth0]:80/x', 'fe80::1'],
    ['x@[IPv6:2001:db8::1]', '2001:db8::1'],
    ['x@[192.0.2.7]', '192.0.2.7'],
    [`${KEY}#z6Mk`, KEY],
    [`${KEY}?versionId=1`, KEY],
    [`${KEY}/path`, KEY],
    [`${KEY.replace('z6', '%7A6')}`, KEY],
    ['did:web:evil.com', 'evil.com'],
    ['did:web:evil.com%3A443:users:ann#key', 'evil.com'],
    ['did:web:EVIL.com', 'did:web:evil.com'],
    ['did:webvh:QmScid:evil.com:ann', 'evil.com'],
    ['https://evil.com/%78/%2e%2e/%7Ea', 'https://evil.com/~a'],
    ['https://evil.com/%c3%a9', 'https://evil.com/é'],
    ['https://evil.com/%40x', 'https://evil.com/@x'],
    ['https://evil.com/?%78=%7e', 'https://evil.com/?x=~'],
    ['http://evil.com:80/x', 'https://evil.com/x'],
    ['wss://evil.com/x', 'https://evil.com/x'],
    ['evil.com/x', 'https://evil.com/x'],
    ['//evil.com/x', 'https://evil.com/x'],
    ['evil.com:443/x', 'https://evil.com/x'],
    ['blob:https://evil.com/x', 'https://evil.com/x'],
    ['ac\u200bcount', 'account'],
    ['ａｃｃｏｕｎｔ', 'account'],
  ])('%s meets %s', (spelled, plain) => {
    expect(coveringForms(spelled)).toContain(normalForm(plain))
  })
})

/** One way to spell a text otherwise. The number chooses where. */
type Respelling = (text: string, where: number) => string

const at = (text: string, where: number, change: (character: string) => string): string => {
  const letters = [...text.matchAll(/[a-z0-9]/gi)].map(({ index }) => index)
  const place = letters[where % Math.max(1, letters.length)]
  if (place === undefined) return text
  return text.slice(0, place) + change(text[place] ?? '') + text.slice(place + 1)
}
const fullWidth = (character: string) =>
  String.fromCodePoint((character.codePointAt(0) ?? 0) + 0xfee0)
const percent = (character: string) => `%${character.charCodeAt(0).toString(16)}`
const same: Respelling = (text) => text

/** Any number of these, in any order, then one of each further list. */
const SHAPES: readonly Respelling[] = [
  (text, where) => at(text, where, fullWidth),
  (text, where) => at(text, where, (character) => `${character}\u200b`),
  (text, where) => at(text, where, (character) => `\u2060${character}\u200d`),
]
const CASES: readonly Respelling[] = [
  (text) => text.toUpperCase(),
  (text, where) => at(text, where, (character) => character.toUpperCase()),
]
const ESCAPES: readonly Respelling[] = [same, (text, where) => at(text, where, percent)]
const DOTS: readonly Respelling[] = [
  same,
  (text) => `${text}.`,
  (text) => `.${text}`,
  (text) => text.replace('.', '\u3002'),
  (text) => text.replace('.', '..'),
]
const AROUND_HOST: readonly Respelling[] = [
  same,
  (host) => `${host}:443`,
  (host) => `//${host}`,
  (host) => `https:${host}`,
  (host) => `HTTP://${host}:80/`,
  (host) => `https:\\\\${host}\\`,
  (host) => `https://good.test:pw@${host}/#here`,
  (host) => `blob:https://${host}/`,
  (host) => `did:web:${host}`,
  (host) => `did:web:${host}%3A443#key`,
  (host) => `  ${host} `,
]
const AROUND_ADDRESS: readonly Respelling[] = [
  (address) => `[${address}]`,
  (address) => `[${address}]:443`,
  (address) => (address.includes(':') ? `${address}%eth0` : `${address}.`),
  (address) => (address.includes(':') ? `[${address}%25en1]` : `${address}:443`),
  (address) => (address.includes(':') ? `http://[${address}]:80` : `http://${address}`),
  (address) => (address.includes(':') ? `${address}/128` : `::ffff:${address}`),
]
const AROUND_MAIL: readonly Respelling[] = [
  same,
  (mail) => `X <${mail}>`,
  (mail) => `"Y, (X) <z@good.test>" <${mail}> (of (good.test))`,
  (mail) => `mailto:${mail}?subject=x@good.test`,
  (mail) => `mailto:${mail.replace('@', '%40')}`,
  (mail) => mail.replace('@', ' @ '),
  (mail) => mail.replace(/(.*)@/, '"$1"@'),
  (mail) => mail.replace('@', '(home)@'),
  (mail) => mail.replace(/(.*)@(.*)/, 'did:mailto:$2:$1'),
]
const AROUND_URL: readonly Respelling[] = [
  same,
  (url) => url.replace('https:', ''),
  (url) => url.replace('https://', ''),
  (url) => url.replace('https://', 'http:'),
  (url) => url.replace(/\/\/([^/]*)/, '//ann:pw@$1:443'),
  (url) => `${url}#part`,
  (url) => `blob:${url}`,
  (url) => url.replace(/[^/]*$/, './%2e/up/%2E./$&'),
]
const AROUND_DID: readonly Respelling[] = [
  same,
  (did) => `${did}#key-1`,
  (did) => `${did}?versionTime=2020`,
  (did) => `${did}/path?query#fragment`,
  (did) => did.replace('did:key', 'DID:Key'),
]

const choice = fc.nat({ max: 1_000 })
const choices = fc.array(fc.tuple(choice, choice), { maxLength: 4 })

const respell = (
  plain: string,
  shapes: readonly Respelling[],
  changes: readonly (readonly [number, number])[],
  around: readonly (readonly Respelling[])[],
  picks: readonly number[],
): string => {
  let text = plain
  for (const [which, where] of changes) text = shapes[which % shapes.length]?.(text, where) ?? text
  for (const [index, list] of around.entries()) {
    const pick = picks[index] ?? 0
    text = list[pick % list.length]?.(text, pick) ?? text
  }
  return text
}

const label = fc
  .stringMatching(/^[a-z]([a-z0-9-]{0,6}[a-z0-9])?$/)
  .filter((text) => !/^..--/.test(text))
const name = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => labels.join('.'))
const path = fc.stringMatching(/^[a-z0-9]{1,5}(\/[a-z0-9]{1,5})?$/)

const KINDS: readonly (readonly [
  string,
  fc.Arbitrary<string>,
  readonly Respelling[],
  readonly (readonly Respelling[])[],
])[] = [
  ['a domain', name, [...SHAPES, ...CASES], [ESCAPES, DOTS, AROUND_HOST]],
  ['an IPv4 address', fc.ipV4(), SHAPES, [AROUND_ADDRESS]],
  ['an IPv6 address', fc.ipV6(), [...SHAPES, ...CASES], [AROUND_ADDRESS]],
  [
    'mail',
    fc.tuple(label, name).map(([local, host]) => `${local}@${host}`),
    [...SHAPES, ...CASES],
    [AROUND_MAIL],
  ],
  [
    'a URL',
    fc.tuple(name, path).map(([host, rest]) => `https://${host}/${rest}`),
    [SHAPES[0] ?? same, SHAPES[1] ?? same],
    [
      ESCAPES.map(
        (change): Respelling =>
          (url, where) =>
            url.replace(/[^/]*$/, (last) => change(last, where)),
      ),
      AROUND_URL,
    ],
  ],
  [
    'a DID',
    fc.stringMatching(/^z[A-HJ-NP-Za-km-z1-9]{8,40}$/).map((key) => `did:key:${key}`),
    [SHAPES[0] ?? same, SHAPES[1] ?? same],
    [AROUND_DID],
  ],
]

test.each(KINDS)('%s has the same forms however it is spelled', (_, plain, shapes, around) => {
  const picks = fc.array(choice, { minLength: 3, maxLength: 3 })
  fc.assert(
    fc.property(plain, choices, picks, (subject, changes, chosen) => {
      const spelled = respell(subject, shapes, changes, around, chosen)
      expect([spelled, coveringForms(spelled)]).toEqual([spelled, coveringForms(subject)])
    }),
    { numRuns: times(400, 20_000) },
  )
})
