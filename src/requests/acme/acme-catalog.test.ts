import { describe, expect, test } from 'vitest'
import {
  BUCKETS,
  DEFAULTS,
  type Difference,
  DOCUMENTS,
  IDS,
  OVERRIDES,
} from '../../../test/support/boulder-differences.ts'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { vectors } from '../../../test/support/vectors.ts'
import { parseDocument } from '../../documents/document.ts'
import { mistakesIn } from '../../documents/mistakes.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { IdPolicy } from '../catalog/documents.ts'
import type { Identifier } from '../ids/parts.ts'
import { buildCatalog } from './formats.ts'
import { coveringIdentifiers } from './identifiers.ts'

interface Rate {
  readonly burst: number
  readonly count: number
  readonly periodNs: string
}

/** The codes by which Headgate tells what the vectors give as reason. */
const CODES: Readonly<Record<string, readonly string[]>> = {
  burst_not_positive: ['FIELD_VALUE', 'FIELD_MISSING', 'FIELD_TYPE'],
  count_not_positive: ['FIELD_VALUE', 'FIELD_MISSING'],
  period_not_positive: ['FIELD_VALUE', 'FIELD_MISSING', 'FIELD_TYPE'],
  not_an_integer: ['FIELD_TYPE', 'FIELD_VALUE'],
  bad_duration: ['FIELD_VALUE'],
  wrong_type: ['FIELD_TYPE'],
  unknown_field: ['FIELD_UNKNOWN'],
  duplicate_key: ['DOCUMENT_DUPLICATE_KEY'],
  unknown_limit_name: ['LIMIT_UNKNOWN'],
  empty_document: ['DOCUMENT_EMPTY'],
  yaml_syntax: ['DOCUMENT_SYNTAX', 'DOCUMENT_ALIAS'],
  bad_reg_id: ['ID_INVALID', 'FIELD_TYPE', 'FIELD_MISSING'],
  missing_reg_id: ['PARTS_MISSING'],
  missing_subscriber_ip: ['PARTS_MISSING'],
  missing_identifier: ['PARTS_MISSING'],
  ipv6_required: ['PARTS_UNSUPPORTED'],
  unsupported_identifier_type: ['PARTS_UNSUPPORTED'],
}
const codesFor = (reason = ''): readonly string[] => CODES[reason] ?? ['ID_INVALID']

const micros = ({ periodNs }: Rate): number => Math.ceil(Number(periodNs) / 1_000)

/** What is expected in place of the vector, or undefined if it holds as it is. */
const instead = (differences: Readonly<Record<string, Difference>>, id: string) =>
  differences[id]?.instead

const defaultsOf = (yaml: string): Catalog =>
  buildCatalog({ defaults: [parseDocument(yaml, 'defaults.yml')] })

const overridesOf = (yaml: string, policy: IdPolicy = {}): Catalog =>
  buildCatalog({ overrides: [parseDocument(yaml, 'overrides.yml')], policy })

const allOverrides = (catalog: Catalog) =>
  [...catalog.limits.keys()].flatMap((name) => [...catalog.overrides(name)])

describe('defaults documents', () => {
  interface Case {
    readonly id: string
    readonly yaml: string
    readonly expect: 'accept' | 'reject'
    readonly reason?: string
    readonly limits?: Readonly<Record<string, Rate>>
  }
  const { cases } = vectors<{ cases: readonly Case[] }>('boulder/defaults_yaml.json')

  const rates = (catalog: Catalog) =>
    [...catalog.limits.values()].filter((definition) => definition.default !== undefined)

  test.each(cases)('$id', (row) => {
    const other = instead(DEFAULTS, row.id)
    if (other !== undefined && 'accepted' in other) {
      expect(rates(defaultsOf(row.yaml)).map(({ number }) => `${number}`)).toEqual(other.accepted)
    } else if (other !== undefined) {
      expect(mistakeOf(() => defaultsOf(row.yaml)).code).toBe(other.refused)
    } else if (row.expect === 'reject') {
      const mistake = mistakeOf(() => defaultsOf(row.yaml))
      expect(codesFor(row.reason)).toContain(mistake.code)
      expect(mistake.at).toMatchObject({ file: 'defaults.yml' })
    } else {
      const found = rates(defaultsOf(row.yaml)).map(({ number, default: limit }) => [number, limit])
      const expected = Object.entries(row.limits ?? {}).map(([number, rate]) => [
        Number(number),
        { kind: 'gcra', burst: rate.burst, count: rate.count, period: micros(rate) },
      ])
      expect(found).toEqual(expected)
    }
  })
})

describe('documents that are in no vector', () => {
  test.each(Object.entries(DOCUMENTS))('%s is refused', (yaml, { instead: other }) => {
    expect({ refused: mistakeOf(() => defaultsOf(yaml)).code }).toEqual(other)
  })

  test.each([
    ['NewOrdersPerAccount: {burst: 1e3, count: +5, period: 1s}', 1_000],
    ['NewOrdersPerAccount: {<<: {burst: 7, count: 1}, period: 1s}', 7],
  ])('%s is read as Boulder reads it', (yaml, burst) => {
    expect(defaultsOf(yaml).limits.get('NewOrdersPerAccount')?.default?.burst).toBe(burst)
  })
})

describe('overrides documents', () => {
  interface Case {
    readonly id: string
    readonly yaml: string
    readonly expect: 'accept' | 'reject'
    readonly reason?: string
    readonly overrides?: Readonly<Record<string, Rate & { readonly comment: string }>>
  }
  const { cases } = vectors<{ cases: readonly Case[] }>('boulder/overrides_yaml.json')

  test.each(cases)('$id', (row) => {
    const other = instead(OVERRIDES, row.id)
    if (other !== undefined && 'accepted' in other) {
      const keys = allOverrides(overridesOf(row.yaml)).map(({ key }) => key)
      expect(keys).toEqual(other.accepted)
    } else if (other !== undefined) {
      expect(mistakeOf(() => overridesOf(row.yaml)).code).toBe(other.refused)
    } else if (row.expect === 'reject') {
      const mistake = mistakeOf(() => overridesOf(row.yaml))
      expect(codesFor(row.reason)).toContain(mistake.code)
      expect(mistake.at).toMatchObject({ file: 'overrides.yml' })
    } else {
      const found = allOverrides(overridesOf(row.yaml)).map(({ key, limit, comment }) => [
        key,
        { burst: limit.burst, count: limit.count, period: limit.period, comment },
      ])
      const expected = Object.entries(row.overrides ?? {}).map(([key, { comment, ...rate }]) => [
        key,
        { burst: rate.burst, count: rate.count, period: micros(rate), comment },
      ])
      expect(found).toEqual(expected)
    }
  })
})

describe('override ids', () => {
  interface Case {
    readonly limit: string
    readonly enum: number
    readonly id: string
    readonly expect: 'accept' | 'reject'
    readonly reason?: string
    readonly overrideBucketKey?: string
  }
  const { cases } = vectors<{ cases: readonly Case[] }>('boulder/id_validation.json')

  const document = ({ limit, id }: Case): string =>
    JSON.stringify([{ [limit]: { burst: 1, count: 1, period: '1h', ids: [id] } }])
  const keyOf = (row: Case, refuseReserved: boolean) =>
    allOverrides(overridesOf(document(row), { refuseReserved })).map(({ key }) => key)

  test.each(cases)('$limit $id', (row) => {
    const other = instead(IDS, `${row.enum} ${row.id}`)
    if (other !== undefined && 'accepted' in other) {
      expect(keyOf(row, true)).toEqual(other.accepted)
    } else if (other !== undefined) {
      expect(mistakeOf(() => keyOf(row, true)).code).toBe(other.refused)
    } else if (row.expect === 'reject') {
      expect(codesFor(row.reason)).toContain(mistakeOf(() => keyOf(row, true)).code)
    } else {
      expect(keyOf(row, true)).toEqual([row.overrideBucketKey])
    }
  })

  const accepted = cases.filter((row) => row.expect === 'accept')

  test.each(accepted)('$limit $id loads where what cannot match is left out', (row) => {
    const other = instead(IDS, `${row.enum} ${row.id}`)
    const policy = { refuseReserved: true, skipUnmatchable: true }
    const catalog = overridesOf(document(row), policy)
    const left = other !== undefined && 'refused' in other
    expect(allOverrides(catalog)).toHaveLength(left ? 0 : 1)
    expect(catalog.warnings.map(({ code }) => code)).toEqual(left ? ['OVERRIDE_UNMATCHABLE'] : [])
  })

  const reserved = cases.filter(
    ({ reason, id }) => reason === 'reserved_address' && !/[%]/.test(id),
  )

  test.each(reserved.filter((row) => ![4, 6, 8].includes(row.enum)))(
    'without the policy against reserved ranges, $limit $id passes',
    (row) => {
      expect(keyOf(row, false)).toHaveLength(1)
    },
  )
})

describe('buckets from the parts of a request', () => {
  interface Build {
    readonly limit: string
    readonly input: {
      readonly subscriberIP?: string
      readonly regId?: number
      readonly identifier?: Identifier
      readonly identifiers?: readonly Identifier[]
    }
    readonly expect: { readonly key?: string; readonly error?: string }
  }
  interface Covering {
    readonly identifiers: readonly Identifier[]
    readonly covering: readonly string[]
  }
  const { build, covering } = vectors<{
    build: readonly Build[]
    covering: readonly Covering[]
  }>('boulder/bucket_keys.json')
  const catalog = buildCatalog({})

  const keyOf = ({ limit, input: { subscriberIP, ...rest } }: Build) =>
    catalog.resolve({
      limit,
      parts: subscriberIP === undefined ? rest : { ...rest, ip: subscriberIP },
    }).key

  test.each(build.map((row) => ({ ...row, name: `${row.limit} ${JSON.stringify(row.input)}` })))(
    '$name',
    (row) => {
      const other = instead(BUCKETS, row.name)
      if (other !== undefined && 'accepted' in other) {
        expect([keyOf(row)]).toEqual(other.accepted)
      } else if (other !== undefined) {
        expect(mistakeOf(() => keyOf(row)).code).toBe(other.refused)
      } else if (row.expect.error !== undefined) {
        expect(codesFor(row.expect.error)).toContain(mistakeOf(() => keyOf(row)).code)
      } else {
        expect(keyOf(row)).toBe(row.expect.key)
      }
    },
  )

  test.each(covering)('$covering covers what was asked for', (row) => {
    expect(coveringIdentifiers(row.identifiers)).toEqual(row.covering)
  })
})

describe('an override file as ACME servers have it, with names that can never match', () => {
  const file = `
- CertificatesPerDomain: &many
    burst: 1e4
    count: 10000
    period: 2160h
    ids:
      - id: le.wtf
        comment: Let's Encrypt Test Domain
      - id: ecdsa.le.wtf
        comment: ECDSA Let's Encrypt Test Domain
      - id: must-staple.le.wtf
        comment: Must-Staple Let's Encrypt Test Domain
- CertificatesPerFQDNSet:
    <<: *many
    period: 168h
    ids:
      - id: ecdsa.le.wtf
      - id: le.wtf,le1.wtf
- NewOrdersPerAccount: { burst: 1, count: 1, period: 1h, ids: [{ id: 5 }] }
- NewOrdersPerAccount: { burst: 2, count: 2, period: 1h, ids: [{ id: 5 }] }
`

  test('is refused, every such name told, and what would let it in', () => {
    const mistake = mistakeOf(() => overridesOf(file))
    expect(mistakesIn(mistake).map(({ code, finding }) => [code, finding])).toEqual([
      ['ID_INVALID', `"ecdsa.le.wtf"${LEFT_OUT}`],
      ['ID_INVALID', `"must-staple.le.wtf"${LEFT_OUT}`],
      ['ID_DUPLICATE', '"5" also at overrides.yml:19:70'],
    ])
  })
  const LEFT_OUT = ', which could never match (skipUnmatchable leaves such ids out)'

  test('loads where they are left out, with a warning for each; of the same id twice the later holds', () => {
    const catalog = overridesOf(file, { skipUnmatchable: true })
    expect(
      allOverrides(catalog).map(({ key, limit }) => [key.slice(0, 8), limit.burst, limit.period]),
    ).toEqual([
      ['3:5', 2, 3_600_000_000],
      ['5:le.wtf', 10_000, 2160 * 3_600_000_000],
      ['7:bd3736', 10_000, 168 * 3_600_000_000],
      ['7:6566e3', 10_000, 168 * 3_600_000_000],
    ])
    expect(catalog.warnings.map(({ rule, finding, at }) => [at.line, rule, finding])).toEqual([
      [
        9,
        'is left out, as it could never match: it must be a registered domain: certificates for it count as le.wtf',
        '"ecdsa.le.wtf"',
      ],
      [11, expect.stringContaining('count as le.wtf'), '"must-staple.le.wtf"'],
      [19, expect.stringContaining('must stand once'), '"5" again at overrides.yml:20:70'],
    ])
  })

  test('what is no id at all is refused all the same', () => {
    const bad = (id: string) =>
      `[{CertificatesPerDomain: {burst: 1, count: 1, period: 1h, ids: ["${id}"]}}]`
    for (const id of ['*.exa mple.com', 'no_such_suffix', '*.com', 'a..example.com', '5:x y']) {
      const code = mistakeOf(() => overridesOf(bad(id), { skipUnmatchable: true })).code
      expect([id, code]).toEqual([id, 'ID_INVALID'])
    }
  })
})

test('every difference from the vectors belongs to a case, so none outlives its reason', () => {
  const names = (file: string, name: (row: Record<string, unknown>) => string) =>
    vectors<{ cases: readonly Record<string, unknown>[] }>(file).cases.map(name)
  const idOf = (row: Record<string, unknown>) => String(row['id'])
  expect(names('boulder/defaults_yaml.json', idOf)).toEqual(
    expect.arrayContaining(Object.keys(DEFAULTS)),
  )
  expect(names('boulder/overrides_yaml.json', idOf)).toEqual(
    expect.arrayContaining(Object.keys(OVERRIDES)),
  )
  expect(
    names('boulder/id_validation.json', (row) => `${String(row['enum'])} ${idOf(row)}`),
  ).toEqual(expect.arrayContaining(Object.keys(IDS)))
})
