import { describe, expect, test } from 'vitest'
import { parseDocument } from '../../documents/document.ts'
import type { Identifier } from '../ids/parts.ts'
import {
  type AcmeCharge,
  certificateIssued,
  failedValidation,
  newAccount,
  newOrder,
  overrideRequest,
  successfulValidation,
} from './charges.ts'
import { buildCatalog } from './formats.ts'

const text = '- CertificatesPerDomainPerAccount: {burst: 9, count: 9, period: 1h, ids: [42]}'
const catalog = buildCatalog({ overrides: [parseDocument(text, 'overrides.yml')] })

const dns = (value: string): Identifier => ({ type: 'dns', value })

/** `spend 3:1`, in order. */
const shown = (charges: readonly AcmeCharge[]) =>
  charges.map(({ limit, parts, mode }) => `${mode} ${catalog.resolve({ limit, parts }).key}`)

const names = [dns('www.example.com'), dns('example.com'), dns('WWW.example.com'), dns('other.org')]

describe('a new account', () => {
  test('is charged to its IPv4 address', () => {
    expect(shown(newAccount('1.2.3.4'))).toEqual(['spend 1:1.2.3.4'])
    expect(shown(newAccount('::ffff:1.2.3.4'))).toEqual(['spend 1:1.2.3.4'])
  })

  test('is charged to its IPv6 address and to the /48 around it', () => {
    expect(shown(newAccount('2001:db8::1'))).toEqual([
      'spend 1:2001:db8::1',
      'spend 2:2001:db8::/48',
    ])
  })
})

describe('a new order', () => {
  const set = catalog.resolve({
    limit: 'CertificatesPerFQDNSet',
    parts: { identifiers: names },
  }).key

  test('spends one order, and checks failures by name, certificates by domain, and the set', () => {
    expect(shown(newOrder(catalog, { regId: 7, identifiers: names }))).toEqual([
      'spend 3:7',
      'check 4:7:www.example.com',
      'check 4:7:example.com',
      'check 4:7:other.org',
      'check 5:example.com',
      'check 5:other.org',
      `check ${set}`,
    ])
  })

  test('of an account with a limit of its own is checked against that one', () => {
    const charges = shown(newOrder(catalog, { regId: 42, identifiers: [dns('a.example.com')] }))
    expect(charges).toContain('check 6:42:example.com')
    expect(charges).not.toContain('check 5:example.com')
  })

  test('that renews is neither a new order nor a new certificate', () => {
    const identifiers = [dns('example.com')]
    expect(shown(newOrder(catalog, { regId: 7, identifiers, renewal: true }))).toEqual([
      'check 4:7:example.com',
      expect.stringMatching(/^check 7:/),
    ])
  })

  test('that the server asked for through renewal information is free', () => {
    expect(newOrder(catalog, { regId: 7, identifiers: names, ari: true })).toEqual([])
  })

  test('never names a bucket twice', () => {
    const charges = shown(newOrder(catalog, { regId: 42, identifiers: [...names, ...names] }))
    expect(new Set(charges).size).toBe(charges.length)
  })
})

test('an issued certificate is counted, if there is room, for each domain and for the set', () => {
  const identifiers = [dns('www.example.com'), dns('example.com')]
  expect(shown(certificateIssued(catalog, { regId: 7, identifiers }))).toEqual([
    'try 5:example.com',
    expect.stringMatching(/^try 7:/),
  ])
})

test('a certificate of an account with a limit of its own is counted in both', () => {
  const identifiers = [dns('example.com')]
  expect(shown(certificateIssued(catalog, { regId: 42, identifiers })).slice(0, 2)).toEqual([
    'try 5:example.com',
    'try 6:42:example.com',
  ])
})

test('a failed validation is counted, and refused by the limit that leads to a pause', () => {
  expect(shown(failedValidation({ regId: 7, identifier: dns('example.com') }))).toEqual([
    'try 4:7:example.com',
    'spend 8:7:example.com',
  ])
})

test('a successful validation resets the way to a pause', () => {
  const [reset] = successfulValidation({ regId: 7, identifier: dns('example.com') })
  expect(reset && catalog.resolve(reset).key).toBe('8:7:example.com')
})

test('a request for an override is charged to its address', () => {
  expect(shown(overrideRequest('1.2.3.4'))).toEqual(['spend 9:1.2.3.4'])
})
