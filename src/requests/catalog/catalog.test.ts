import { describe, expect, test } from 'vitest'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { tagOf } from '../../core/names.ts'
import { parseDocument } from '../../documents/document.ts'
import { buildCatalog } from '../acme/formats.ts'
import { bucketName } from './catalog.ts'

const yaml = (text: string, file = 'test.yml') => parseDocument(text, file)

const DEFAULTS = yaml(`
NewRegistrationsPerIPAddress:
  burst: 20
  count: 20
  period: 1s
NewOrdersPerAccount:
  burst: 300
  count: 300
  period: 180m
`)

const OVERRIDES = yaml(`
- NewRegistrationsPerIPAddress:
    burst: 20
    count: 40
    period: 1s
    ids:
      - 10.0.0.2
      - 10.0.0.5
- NewOrdersPerAccount:
    burst: 300
    count: 600
    period: 180m
    ids:
      - 12345678
      - id: 87654321
        comment: a large host
`)

const FOOS = yaml(
  'NewFoosPerIPAddress: { id: ipAddress, burst: 20, count: 20, period: 1s, onStoreFailure: open }',
)

describe('the documents of the specification', () => {
  const catalog = buildCatalog({ defaults: [DEFAULTS], overrides: [OVERRIDES] })

  test('an id without an override has the default', () => {
    expect(catalog.resolve({ limit: 'NewOrdersPerAccount', id: '7' })).toMatchObject({
      id: '7',
      key: '3:7',
      limit: { kind: 'gcra', burst: 300, count: 300, period: 10_800_000_000 },
      source: 'default',
    })
  })

  test('an id with an override has its own rate and comment', () => {
    expect(catalog.resolve({ limit: 'NewOrdersPerAccount', id: '87654321' })).toMatchObject({
      key: '3:87654321',
      limit: { count: 600 },
      source: 'override',
      override: { id: '87654321', comment: 'a large host' },
    })
    const ip = { limit: 'NewRegistrationsPerIPAddress', id: '10.0.0.5' }
    expect(catalog.resolve(ip)).toMatchObject({ key: '1:10.0.0.5', limit: { count: 40 } })
  })

  test('every spelling of an address meets the same override', () => {
    const ask = { limit: 'NewRegistrationsPerIPAddress', id: '::ffff:10.0.0.2' }
    expect(catalog.resolve(ask)).toMatchObject({ key: '1:10.0.0.2', source: 'override' })
  })

  test('a known limit with neither default nor override is disabled, not an error', () => {
    const bucket = catalog.resolve({ limit: 'CertificatesPerDomain', id: 'example.com' })
    expect(bucket).toMatchObject({ key: '5:example.com', source: 'disabled' })
    expect(bucket.limit).toBeUndefined()
  })

  test('definitions tell number, format, policy and how many overrides there are', () => {
    expect(catalog.limits.get('NewOrdersPerAccount')).toEqual({
      name: 'NewOrdersPerAccount',
      number: 3,
      idFormat: 'regId',
      onStoreFailure: 'closed',
      default: { kind: 'gcra', burst: 300, count: 300, period: 10_800_000_000 },
      overrideCount: 2,
    })
    expect([...catalog.limits.values()].map(({ number }) => number)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9,
    ])
  })

  test('overrides are listed in the order of their document, with their place', () => {
    expect([...catalog.overrides('NewOrdersPerAccount')]).toMatchObject([
      { id: '12345678', written: '12345678', key: '3:12345678', comment: '', at: { line: 14 } },
      { id: '87654321', key: '3:87654321', comment: 'a large host', at: { line: 15 } },
    ])
  })
})

describe('limits per account and identifier', () => {
  const catalog = buildCatalog({
    overrides: [
      yaml(
        '- FailedAuthorizationsPerDomainPerAccount: {burst: 9, count: 9, period: 1h, ids: [1337]}',
      ),
    ],
  })
  const limit = 'FailedAuthorizationsPerDomainPerAccount'

  test('take the override of the account and count for the identifier', () => {
    expect(catalog.resolve({ limit, id: '1337:example.com' })).toMatchObject({
      key: '4:1337:example.com',
      limit: { burst: 9 },
      override: { id: '1337' },
    })
    expect(catalog.resolve({ limit, id: '13370:example.com' }).source).toBe('disabled')
  })

  test('an id and the same request in parts have one bucket', () => {
    const parts = { regId: 1337, identifier: { type: 'ip', value: '2602:80A::1' } } as const
    const fromParts = catalog.resolve({ limit, parts })
    expect(fromParts.key).toBe('4:1337:2602:80a::1')
    expect(catalog.resolve({ limit, id: fromParts.id })).toEqual(fromParts)
  })
})

describe('declared limits', () => {
  test('carry their name in their keys', () => {
    const catalog = buildCatalog({ limits: [FOOS] })
    expect(catalog.resolve({ limit: 'NewFoosPerIPAddress', id: '172.23.45.22' })).toMatchObject({
      key: 'NewFoosPerIPAddress:172.23.45.22',
      definition: { onStoreFailure: 'open', idFormat: 'ipAddress' },
      limit: { burst: 20 },
    })
  })

  test('without a rate are limited by override only', () => {
    const catalog = buildCatalog({
      limits: [yaml('Foos: {id: opaque}')],
      overrides: [yaml('- Foos: {burst: 1, count: 1, period: 1s, ids: [big]}')],
    })
    expect(catalog.resolve({ limit: 'Foos', id: 'small' }).source).toBe('disabled')
    expect(catalog.resolve({ limit: 'Foos', id: 'big' }).source).toBe('override')
  })

  test('may take their rate from a defaults document', () => {
    const catalog = buildCatalog({
      limits: [yaml('Foos: {id: opaque}')],
      defaults: [yaml('Foos: {burst: 1, count: 1, period: 1s}')],
    })
    expect(catalog.resolve({ limit: 'Foos', id: 'x' }).source).toBe('default')
  })

  test('built-in limits take a rate and a policy there, and keep their number', () => {
    const catalog = buildCatalog({
      limits: [yaml('NewOrdersPerAccount: {id: regId, onStoreFailure: open}')],
      defaults: [DEFAULTS],
    })
    expect(catalog.resolve({ limit: 'NewOrdersPerAccount', id: '7' })).toMatchObject({
      key: '3:7',
      source: 'default',
      definition: { onStoreFailure: 'open' },
    })
  })

  test.each([
    ['Foos: {burst: 1, count: 1, period: 1s}', 'FIELD_MISSING', 'must hold id'],
    ['Foos: {id: opaque, burst: 1}', 'FIELD_MISSING', 'must hold period, or none'],
    ['Foos: {id: opaque, count: 1}', 'FIELD_MISSING', 'must hold burst and period, or none'],
    ['Foos: {id: uuid}', 'FIELD_VALUE', 'must be one of client, ipAddress'],
    ['Foos: {id: opaque, onStoreFailure: ajar}', 'FIELD_VALUE', 'one of open, closed'],
    ['Foos: {id: opaque, brust: 1}', 'FIELD_UNKNOWN', 'did you mean burst?'],
    [
      'NewOrdersPerAccount: {id: opaque}',
      'FIELD_VALUE',
      'must be regId, as this limit is built in',
    ],
    ['3: {id: opaque}', 'LIMIT_NAME_INVALID', 'a letter first'],
    ['"a:b": {id: opaque}', 'LIMIT_NAME_INVALID', 'found "a:b"'],
    ['[]', 'FIELD_TYPE', 'limits: must be a map'],
  ])('%s is refused', (text, code, message) => {
    const mistake = mistakeOf(() => buildCatalog({ limits: [yaml(text)] }))
    expect(mistake.code).toBe(code)
    expect(mistake.message).toContain(message)
    expect(mistake.at).toMatchObject({ file: 'test.yml', line: 1 })
  })
})

describe('mistakes between documents', () => {
  const other = (text: string) => yaml(text, 'other.yml')

  test('a limit is declared once', () => {
    const again = other('NewFoosPerIPAddress: {id: opaque}')
    expect(mistakeOf(() => buildCatalog({ limits: [FOOS, again] })).message).toBe(
      'other.yml:1:1: NewFoosPerIPAddress: must be declared once, found it also at test.yml:1:1',
    )
  })

  test('a limit has one default, wherever it is given', () => {
    const again = other('NewFoosPerIPAddress: {burst: 1, count: 1, period: 1s}')
    expect(mistakeOf(() => buildCatalog({ limits: [FOOS], defaults: [again] }))).toMatchObject({
      code: 'LIMIT_DUPLICATE',
      at: { file: 'other.yml' },
    })
  })

  test('an id has one override, in whatever spelling', () => {
    const again = other(
      '- NewRegistrationsPerIPAddress: {burst: 1, count: 1, period: 1s, ids: ["::ffff:10.0.0.2"]}',
    )
    expect(mistakeOf(() => buildCatalog({ overrides: [OVERRIDES, again] }))).toMatchObject({
      code: 'ID_DUPLICATE',
      finding: '"::ffff:10.0.0.2" also at test.yml:7:9',
      at: { file: 'other.yml' },
    })
  })

  test('an override of an unknown limit names the nearest', () => {
    const text = '- NewOrderPerAccount: {burst: 1, count: 1, period: 1s, ids: [1]}'
    expect(mistakeOf(() => buildCatalog({ overrides: [yaml(text)] }))).toMatchObject({
      code: 'LIMIT_UNKNOWN',
      finding: '"NewOrderPerAccount" (did you mean NewOrdersPerAccount?)',
      at: { line: 1, column: 3 },
    })
  })

  test.each([
    ['[{}]', 'FIELD_VALUE', 'must name a limit'],
    [
      '- NewOrdersPerAccount: {burst: 1, count: 1, period: 1s, ids: []}',
      'FIELD_VALUE',
      'at least one',
    ],
    [
      `- NewOrdersPerAccount: {burst: 1, count: 1, period: 1s, ids: [{id: 1, comment: ${'x'.repeat(1_025)}}]}`,
      'FIELD_VALUE',
      '1024 characters',
    ],
    [
      '- CertificatesPerDomain:\n    burst: 1\n    count: 1\n    period: 1s\n    ids:\n      - 2602:80a::\n',
      'FIELD_TYPE',
      'text that ends in a colon needs quotes',
    ],
  ])('%s is refused', (text, code, message) => {
    const mistake = mistakeOf(() => buildCatalog({ overrides: [yaml(text)] }))
    expect(mistake.code).toBe(code)
    expect(mistake.message).toContain(message)
  })

  test('reserved addresses are refused where the policy says so, by the name of their range', () => {
    const policy = { refuseReserved: true }
    expect(mistakeOf(() => buildCatalog({ overrides: [OVERRIDES], policy })).message).toBe(
      'test.yml:7:9: an override id of NewRegistrationsPerIPAddress: must not be in a reserved ' +
        'range, found "10.0.0.2" in 10.0.0.0/8 (Private-Use) (and 1 more)',
    )
  })
})

describe('questions that cannot be answered', () => {
  const catalog = buildCatalog({ defaults: [DEFAULTS] })

  test.each([
    [{ limit: 'NewOrders', id: '1' }, 'LIMIT_UNKNOWN'],
    [{ limit: '', id: '1' }, 'LIMIT_UNKNOWN'],
    [{ limit: 'constructor', id: '1' }, 'LIMIT_UNKNOWN'],
    [{ limit: 'NewOrdersPerAccount' }, 'ID_MISSING'],
    [{ limit: 'NewOrdersPerAccount', id: '' }, 'ID_INVALID'],
    [{ limit: 'NewOrdersPerAccount', id: '007' }, 'ID_INVALID'],
    [{ limit: 'NewOrdersPerAccount', parts: {} }, 'PARTS_MISSING'],
    [{ limit: 'NewOrdersPerAccount', id: '1', parts: { regId: 1 } }, 'PARTS_WITH_ID'],
  ])('%j', (ask, code) => {
    expect(mistakeOf(() => catalog.resolve(ask)).code).toBe(code)
  })

  test('the message names the limit, the rule and what was given', () => {
    expect(
      mistakeOf(() => catalog.resolve({ limit: 'NewOrdersPerAccount', id: 'x' })).message,
    ).toBe(
      'the id of NewOrdersPerAccount: must be an account number from 0 to 2^64-1 without leading ' +
        'zeros, found "x"',
    )
  })

  test('overrides of an unknown limit are a mistake too', () => {
    expect(mistakeOf(() => catalog.overrides('Nope')).code).toBe('LIMIT_UNKNOWN')
  })
})

test('warnings of all documents are gathered; a default that no ACME flow charges is one', () => {
  const { warnings } = buildCatalog({
    defaults: [yaml('CertificatesPerDomainPerAccount: {burst: 1, count: 300000, period: 1s}')],
    overrides: [yaml('- NewOrdersPerAccount: {burst: 1, count: 300000, period: 1s, ids: [1]}')],
  })
  expect(warnings.map(({ code, thing }) => [code, thing])).toEqual([
    ['RATE_ROUNDED', 'CertificatesPerDomainPerAccount'],
    ['DEFAULT_UNUSED', 'CertificatesPerDomainPerAccount'],
    ['RATE_ROUNDED', 'override of NewOrdersPerAccount'],
  ])
})

describe('where a bucket is kept', () => {
  const catalog = buildCatalog({
    limits: [
      yaml(`
Own: { id: opaque, burst: 1, period: 1s }
Range: { id: ipv6RangeCIDR, burst: 1, period: 1s }
Client: { id: client, burst: 1, period: 1s }
`),
    ],
  })

  test.each([
    ['NewOrdersPerAccount', '12345678', 'requests/{12345678}/3'],
    ['NewRegistrationsPerIPAddress', '10.0.0.1', 'requests/{10.0.0.1}/1'],
    ['NewRegistrationsPerIPAddress', '2001:DB8::1', 'requests/{2001:db8::1}/1'],
    ['Range', '2001:db8:1::/48', 'requests/{2001:db8:1::/48}/Range'],
    ['Client', '2001:db8:1:2::9', 'requests/{2001:db8:1:2::}/Client'],
    ['CertificatesPerDomain', 'example.com', 'requests/{example.com}/5'],
    ['CertificatesPerDomainPerAccount', '1337:example.com', 'requests/{1337}/6/example.com'],
    [
      'FailedAuthorizationsPerDomainPerAccount',
      '1337:2001:db8::1',
      'requests/{1337}/4/2001:db8::1',
    ],
    ['Own', 'did:key:z6Mk', 'requests/{did:key:z6Mk}/Own'],
    ['Own', '{a}/b#c', 'requests/{%7Ba%7D/b%23c}/Own'],
  ])('%s of %s is %s, in the partition of its account, address or domain', (limit, id, name) => {
    expect(bucketName('requests', catalog.resolve({ limit, id }))).toBe(name)
  })

  test('all that counts for one account shares a partition', () => {
    const tags = [
      { limit: 'NewOrdersPerAccount', id: '1337' },
      { limit: 'CertificatesPerDomainPerAccount', id: '1337:example.com' },
      { limit: 'FailedAuthorizationsPerDomainPerAccount', id: '1337:10.0.0.1' },
    ].map((ask) => tagOf(bucketName('requests', catalog.resolve(ask))))
    expect(new Set(tags).size).toBe(1)
  })

  test('the longest id has a name that every store takes', () => {
    for (const letter of ['%', '{', '漢']) {
      const id = letter.repeat(512)
      const name = bucketName('requests', catalog.resolve({ limit: 'Own', id }))
      expect(new TextEncoder().encode(name).length).toBeLessThan(2_048)
    }
  })
})
