import { describe, expect, test } from 'vitest'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { parseDocument } from '../../documents/document.ts'
import { PlanError } from './plan-fields.ts'
import { parsePlans, readPlans } from './plan-file.ts'
import { buildPlanCatalog } from './resolve.ts'

const plan = { id: 'a', ethAddresses: ['0xa1'], subscriptionType: 'EXTENDED' }
const read = (...plans: readonly unknown[]) => parsePlans(JSON.stringify(plans), 'plans.json')
const refusal = (...plans: readonly unknown[]) => mistakeOf(() => read(...plans))

test('an entry has an id, a tier and callers; the rest has defaults', () => {
  expect(read(plan)).toEqual([
    {
      plan: { id: 'a', tier: 'EXTENDED', active: true, source: 'file' },
      addresses: ['0xa1'],
      ips: [],
    },
  ])
})

test('an entry may carry a name, its own limit, limits of categories, a date, and be inactive', () => {
  const [entry] = read({
    ...plan,
    name: 'partner',
    limit: '18446744073709551616',
    categories: { FileAppendTransaction: 50, FileCreateTransaction: 'unlimited' },
    createdAt: '2026-01-01T00:00:00Z',
    active: false,
  })
  expect(entry?.plan).toMatchObject({ name: 'partner', limit: 2n ** 64n, active: false })
  expect(entry?.plan.createdAt).toBe(Date.UTC(2026, 0, 1) * 1_000)
  expect([...(entry?.plan.categories ?? [])]).toEqual([
    ['FileAppendTransaction', 50n],
    ['FileCreateTransaction', 'unlimited'],
  ])
})

test('a limit written as a number beyond 2^53 is exact, for the source text is read', () => {
  const text =
    '[{"id":"a","ethAddresses":["0x1"],"subscriptionType":"BASIC","limit":9007199254740993}]'
  expect(parsePlans(text, 'plans.json')[0]?.plan.limit).toBe(9007199254740993n)
})

describe('a mistake has a code, an index, a position and a sentence', () => {
  test('in the entry', () => {
    const text = '[\n {"id":"a","ethAddresses":["0x1"],"subscriptionType":"BASIC"},\n {"id":5}\n]'
    const error = mistakeOf(() => parsePlans(text, 'plans.json'))
    expect(error).toBeInstanceOf(PlanError)
    expect(error).toMatchObject({
      code: 'PLAN_ID_INVALID',
      index: 1,
      at: { file: 'plans.json', line: 3, column: 8 },
    })
    expect(error.message).toBe(
      'plans.json:3:8: plans[1].id: must be text of 1 to 128 printable characters, found 5',
    )
  })

  test('and for an address or id taken twice, where the other is', () => {
    const other = { ...plan, id: 'b' }
    expect(refusal(plan, other).message).toContain('0xa1 also at plans.json:1:2')
  })

  test.each<[string, object | null | string, string]>([
    ['text as an entry', 'x', 'PLAN_NOT_OBJECT'],
    ['an empty id', { ...plan, id: '' }, 'PLAN_ID_INVALID'],
    ['a blank id', { ...plan, id: '  ' }, 'PLAN_ID_INVALID'],
    ['an id with a line break', { ...plan, id: 'a\nb' }, 'PLAN_ID_INVALID'],
    ['an id as plans of general users have', { ...plan, id: 'basic:0xa1' }, 'PLAN_ID_INVALID'],
    ['a long id', { ...plan, id: 'x'.repeat(129) }, 'PLAN_ID_INVALID'],
    ['no id but null', { ...plan, id: null }, 'PLAN_ID_MISSING'],
    ['a tier in lower case', { ...plan, subscriptionType: 'extended' }, 'PLAN_TYPE_INVALID'],
    ['the tier OPERATOR', { ...plan, subscriptionType: 'OPERATOR' }, 'PLAN_TYPE_INVALID'],
    ['two tiers', { ...plan, subscriptionTier: 'BASIC' }, 'PLAN_FIELD_CONFLICT'],
    [
      'an address that is not hexadecimal',
      { ...plan, ethAddresses: ['0xzz'] },
      'PLAN_ADDRESS_INVALID',
    ],
    ['an address without 0x', { ...plan, ethAddresses: ['a1'] }, 'PLAN_ADDRESS_INVALID'],
    ['null for addresses', { ...plan, ethAddresses: null }, 'PLAN_ADDRESS_INVALID'],
    ['an IP of three parts', { ...plan, ipAddresses: ['10.0.0'] }, 'PLAN_ADDRESS_INVALID'],
    ['a range with host bits', { ...plan, ipAddresses: ['10.0.0.1/8'] }, 'PLAN_ADDRESS_INVALID'],
    ['a name that is a number', { ...plan, name: 5 }, 'PLAN_FIELD_INVALID'],
    ['a negative limit', { ...plan, limit: -1 }, 'PLAN_FIELD_INVALID'],
    ['a fractional limit', { ...plan, limit: 1.5 }, 'PLAN_FIELD_INVALID'],
    [
      'a limit of a category that is none',
      { ...plan, categories: { X: 'y' } },
      'PLAN_FIELD_INVALID',
    ],
    [
      'a category that is no operation',
      { ...plan, categories: { 'a b': 1 } },
      'PLAN_FIELD_INVALID',
    ],
    ['categories as a list', { ...plan, categories: [] }, 'PLAN_FIELD_INVALID'],
    ['active as text', { ...plan, active: 'true' }, 'PLAN_FIELD_INVALID'],
    ['a date without a zone', { ...plan, createdAt: '2026-01-01T00:00:00' }, 'PLAN_FIELD_INVALID'],
    ['a mistyped field', { ...plan, ethAdresses: ['0x1'] }, 'PLAN_FIELD_UNKNOWN'],
  ])('%s', (_, entry, code) => {
    expect(refusal({ ...plan, id: 'first', ethAddresses: ['0x9'] }, entry)).toMatchObject({
      code,
      index: 1,
    })
  })

  test('a mistyped field is answered with the one that was meant', () => {
    expect(refusal({ ...plan, ethAdresses: [] }).message).toContain('did you mean ethAddresses?')
  })
})

test('both spellings of a field may be given if they say the same', () => {
  const both = { ...plan, evmAddresses: ['0xA1'], subscriptionTier: 'EXTENDED' }
  expect(read(both)[0]).toMatchObject({ addresses: ['0xa1'], plan: { tier: 'EXTENDED' } })
})

test('one list may be empty as long as the other is not', () => {
  expect(read({ ...plan, ethAddresses: [], ipAddresses: ['::1'] })[0]?.ips).toEqual(['::1'])
})

test('an IP in two plans is ambiguous, however it is spelled; a range around it is not', () => {
  const other = { id: 'b', subscriptionType: 'BASIC', ipAddresses: ['2001:db8:0::1'] }
  const mine = { id: 'a', subscriptionType: 'BASIC', ipAddresses: ['2001:DB8::1/128'] }
  expect(refusal(mine, other)).toMatchObject({ code: 'PLAN_ADDRESS_DUPLICATE', index: 1 })
  const around = { id: 'b', subscriptionType: 'BASIC', ipAddresses: ['2001:db8::/32'] }
  const catalog = buildPlanCatalog(read(mine, around))
  expect(catalog.byIp('2001:db8::1')?.id).toBe('a')
  expect(catalog.byIp('2001:db8::2')?.id).toBe('b')
})

test('the same list may be YAML, where addresses and ids need no quotes', () => {
  const text =
    '- { id: partner, ethAddresses: [0xA1], ipAddresses: [10.0.0.0/8], subscriptionType: BASIC }'
  const [entry] = readPlans({ thing: 'spending.plans', node: parseDocument(text, 'headgate.yml') })
  expect(entry).toMatchObject({ plan: { id: 'partner' }, addresses: ['0xa1'], ips: ['10.0.0.0/8'] })
})

test('a hundred thousand plans are read, and each is found', () => {
  const plans = Array.from({ length: 100_000 }, (_, i) => ({
    id: `plan-${i}`,
    ethAddresses: [`0x${(i + 1).toString(16)}`],
    ipAddresses: [`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`],
    subscriptionType: 'EXTENDED',
  }))
  const catalog = buildPlanCatalog(read(...plans))
  expect(catalog.plans.size).toBe(100_000)
  expect(catalog.byAddress('0x186a0')?.id).toBe('plan-99999')
  expect(catalog.byIp('10.1.134.159')?.id).toBe('plan-99999')
})
