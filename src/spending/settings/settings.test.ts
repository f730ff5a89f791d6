import { writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import { days, hours, millis, minutes } from '../../core/time.ts'
import { parseDocument } from '../../documents/document.ts'
import { loadPlans } from '../plans/plan-file.ts'
import { completeSettings, readSpendingEnvironment, readSpendingSection } from './settings.ts'

const section = (text: string) =>
  readSpendingSection({ thing: 'spending', node: parseDocument(text, 'headgate.yml') })

const SEED = {
  HBAR_RATE_LIMIT_TINYBAR: '11000000000',
  HBAR_RATE_LIMIT_DURATION: '80000',
  HBAR_RATE_LIMIT_BASIC: '10000000',
  HBAR_RATE_LIMIT_EXTENDED: '100000000',
  HBAR_RATE_LIMIT_PRIVILEGED: '1000000000',
}

describe('from the environment', () => {
  test('the example of the design: 110 HBAR in 80 seconds, and three tiers', () => {
    const { settings, warnings } = completeSettings(readSpendingEnvironment(SEED))
    expect(settings).toMatchObject({
      total: 11_000_000_000n,
      window: { length: millis(80_000), align: 'epoch' },
      tiers: { BASIC: 10_000_000n, EXTENDED: 100_000_000n, PRIVILEGED: 1_000_000_000n },
      unit: { name: 'HBAR', decimals: 8 },
    })
    expect(warnings).toEqual([])
  })

  test('nothing set means that spending is off, and asks for no tier', () => {
    expect(completeSettings(readSpendingEnvironment({})).settings.total).toBe(0n)
    expect(
      completeSettings(readSpendingEnvironment({ HBAR_RATE_LIMIT_TINYBAR: '' })).settings.total,
    ).toBe(0n)
  })

  test('a total without a tier is refused: which limit would be meant?', () => {
    const given = readSpendingEnvironment({ ...SEED, HBAR_RATE_LIMIT_EXTENDED: undefined })
    const error = mistakeOf(() => completeSettings(given))
    expect(error.code).toBe('SETTING_MISSING')
    expect(error.message).toContain('HBAR_RATE_LIMIT_EXTENDED')
  })

  test('unlimited is a word', () => {
    const given = readSpendingEnvironment({ ...SEED, HBAR_RATE_LIMIT_PRIVILEGED: 'unlimited' })
    const { settings, warnings } = completeSettings(given)
    expect([settings.tiers.PRIVILEGED, warnings]).toEqual(['unlimited', []])
  })

  test.each([
    ['HBAR_RATE_LIMIT_TINYBAR', '1.5'],
    ['HBAR_RATE_LIMIT_BASIC', '-1'],
    ['HBAR_RATE_LIMIT_EXTENDED', '1_000'],
    ['HBAR_RATE_LIMIT_PRIVILEGED', '8e9'],
    ['HBAR_RATE_LIMIT_DURATION', '0'],
    ['HBAR_RATE_LIMIT_DURATION', '1d'],
    ['HBAR_RATE_LIMIT_DURATION', '99999999999999999999'],
  ])('%s=%s is refused, by its name', (name, value) => {
    expect(mistakeOf(() => readSpendingEnvironment({ ...SEED, [name]: value }))).toMatchObject({
      code: 'SETTING_INVALID',
      thing: name,
    })
  })

  test('tiers out of order make a warning, and nothing else does', () => {
    const given = readSpendingEnvironment({
      HBAR_RATE_LIMIT_TINYBAR: '200000000',
      HBAR_RATE_LIMIT_BASIC: '300000000',
      HBAR_RATE_LIMIT_EXTENDED: '100000000',
      HBAR_RATE_LIMIT_PRIVILEGED: '270000000',
    })
    expect(completeSettings(given).warnings).toEqual([
      'BASIC may spend 300000000 (3 HBAR), which is more than EXTENDED with 100000000 (1 HBAR)',
      'PRIVILEGED may spend 270000000 (2.7 HBAR), which is more than the total with 200000000 (2 HBAR)',
    ])
  })
})

describe('plans come from', () => {
  const FILE = 'HBAR_SPENDING_PLANS_CONFIG_FILE'
  const EITHER = 'HBAR_SPENDING_PLANS_CONFIG'
  const plans = '[{"id":"a","ethAddresses":["0x1"],"subscriptionType":"BASIC"}]'
  const sourceOf = (env: Record<string, string>) =>
    completeSettings(readSpendingEnvironment(env)).plans

  test('the file that is named, relative or absolute', async () => {
    const path = scratchFile('plans.json')
    writeFileSync(path, plans)
    for (const env of [{ [FILE]: path }, { [EITHER]: path }, { [FILE]: basename(path) }]) {
      const [entry] = await loadPlans(sourceOf(env), dirname(path))
      expect(entry?.plan.id).toBe('a')
    }
  })

  test('the variable itself, and malformed JSON there is not taken for a name', async () => {
    expect(await loadPlans(sourceOf({ [EITHER]: plans }), '.')).toHaveLength(1)
    await expect(loadPlans(sourceOf({ [EITHER]: '[{' }), '.')).rejects.toMatchObject({
      code: 'CONFIG_NOT_JSON',
    })
  })

  test('spendingPlansConfig.json, if it is there', async () => {
    const path = scratchFile('spendingPlansConfig.json')
    expect(await loadPlans(sourceOf({}), dirname(path))).toEqual([])
    writeFileSync(path, plans)
    expect(await loadPlans(sourceOf({}), dirname(path))).toHaveLength(1)
  })

  test('no file that was named and is missing, or is no file', async () => {
    const folder = dirname(scratchFile())
    for (const name of ['gone.json', '.']) {
      const loaded = loadPlans(sourceOf({ [FILE]: name }), folder)
      await expect(loaded).rejects.toMatchObject({ code: 'CONFIG_MISSING' })
    }
  })

  test('not from two variables that differ', () => {
    const env = { [FILE]: 'a.json', [EITHER]: 'b.json' }
    expect(mistakeOf(() => sourceOf(env)).code).toBe('SETTING_CONFLICT')
  })
})

test('limits of tiers without a total are a slip, not a way to switch spending off', () => {
  const stated = readSpendingEnvironment({
    HBAR_RATE_LIMIT_BASIC: '5',
    HBAR_RATE_LIMIT_TINYBAR: '',
  })
  expect(mistakeOf(() => completeSettings(stated))).toMatchObject({
    code: 'SETTING_MISSING',
    thing: 'total',
    finding: 'a limit of BASIC and no total',
  })
  expect(completeSettings({}).settings.total).toBe(0n)
  const off = completeSettings({ ...stated, total: 0n })
  expect(off.warnings).toEqual([expect.stringContaining('spending is off')])
})

describe('from headgate.yml', () => {
  test('every setting has a place', async () => {
    const given = section(`
payer: 0.0.1234
unit: { name: USD, decimals: 2 }
window: { length: 7d, align: midnight, timeZone: Europe/Berlin }
total: 9007199254740993
tiers: { BASIC: 300, EXTENDED: 500, PRIVILEGED: unlimited }
ipCeiling: 400
linkIp: true
categories: { FileAppendTransaction: 100 }
planCategories: { FileAppendTransaction: 50 }
holdFor: 90s
rememberFor: 14d
operator: { minBalance: 100, maxAge: 5m, stale: deny, balance: { mirrorNode: 'https://mirror.example', account: 0.0.1234 } }
rollover: { sharePerMille: 500 }
compactAfter: 62d
plans:
  - { id: a, ethAddresses: [0xA1], subscriptionType: EXTENDED, limit: 7 }
`)
    const { settings, plans, balance } = completeSettings(given)
    expect(settings).toEqual({
      payer: '0.0.1234',
      unit: { name: 'USD', decimals: 2 },
      window: { length: days(7), align: { midnight: 'Europe/Berlin' } },
      total: 9007199254740993n,
      tiers: { BASIC: 300n, EXTENDED: 500n, PRIVILEGED: 'unlimited' },
      ipCeiling: 400n,
      linkIp: true,
      categories: new Map([['FileAppendTransaction', 100n]]),
      planCategories: new Map([['FileAppendTransaction', 50n]]),
      holdFor: millis(90_000),
      rememberFor: days(14),
      operator: { minBalance: 100n, maxAge: minutes(5), stale: 'deny' },
      rollover: { sharePerMille: 500 },
      compactAfter: days(62),
    })
    expect(balance).toEqual({
      mirrorNode: 'https://mirror.example',
      account: '0.0.1234',
      every: minutes(1),
    })
    expect(await loadPlans(plans, '.')).toMatchObject([{ plan: { id: 'a', limit: 7n } }])
  })

  test('a window may be a length alone, or count from the first start', () => {
    expect(section('window: 1h')).toMatchObject({ window: { length: hours(1) } })
    expect(section('window: { length: 1h, align: start }')).toMatchObject({
      window: { align: 'start' },
    })
    const { plans } = completeSettings(section('plansFile: plans.json'))
    expect(plans).toEqual({ kind: 'file', path: 'plans.json', named: true })
  })

  test('the environment wins, tier by tier', () => {
    const file = section(
      '{ total: 5, window: 1h, tiers: { BASIC: 1, EXTENDED: 2, PRIVILEGED: 3 } }',
    )
    const over = readSpendingEnvironment({
      HBAR_RATE_LIMIT_TINYBAR: '9',
      HBAR_RATE_LIMIT_BASIC: '2',
    })
    expect(completeSettings(file, over).settings).toMatchObject({
      total: 9n,
      window: { length: hours(1) },
      tiers: { BASIC: 2n, EXTENDED: 2n, PRIVILEGED: 3n },
    })
  })

  test.each([
    ['total: -1', 'AMOUNT_INVALID', 8],
    ['total: 1.5', 'AMOUNT_INVALID', 8],
    ['payer: "a b"', 'PAYER_INVALID', 8],
    ['unit: { name: X, decimals: 99 }', 'UNIT_INVALID', 7],
    ['window: { length: 1d, align: midnight, timeZone: Mars/Base }', 'WINDOW_INVALID', 50],
    ['window: { length: 1h, align: midnight }', 'FIELD_VALUE', 19],
    ['window: { length: 1h, timeZone: UTC }', 'FIELD_VALUE', 33],
    ['categories: { "File Append": 1 }', 'OPERATION_INVALID', 30],
    ['tiers: { GOLD: 1 }', 'FIELD_UNKNOWN', 10],
    ['operator: { balance: { mirrorNode: "ftp://x", account: 0.0.1 } }', 'FIELD_VALUE', 36],
    ['operator: { balance: { mirrorNode: "http://x", account: me } }', 'FIELD_VALUE', 57],
    ['rollover: { sharePerMille: 1001 }', 'FIELD_VALUE', 28],
    ['{ plans: [], plansFile: x.json }', 'FIELD_VALUE', 25],
    ['plans: [{ id: a }]', 'PLAN_TYPE_MISSING', 9],
  ])('%s is refused at its position', (text, code, column) => {
    expect(mistakeOf(() => section(text))).toMatchObject({ code, at: { line: 1, column } })
  })
})
