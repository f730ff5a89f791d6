import { describe, expect, test } from 'vitest'
import { mistakeOf } from '../../test/support/mistake-of.ts'
import { hours, minutes } from '../core/time.ts'
import { memory } from '../stores/memory/index.ts'
import { spending, type TypedSpendingOptions } from './typed-spending.ts'

const open = (options: Partial<TypedSpendingOptions> = {}) =>
  spending({ store: memory(), total: 1_000n, tiers: { BASIC: 300n }, ...options })

const partner = { id: 'partner', members: ['0xA1', '192.0.2.0/24'], limit: 500n }

describe('spending from plain values', () => {
  test('has a total, tiers, and plans with members', async () => {
    const money = open({ plans: [partner] })
    for (const purpose of [{ from: '0xa1' }, { from: '0xB1', ip: '192.0.2.7' }]) {
      const { plan } = await money.standing(purpose)
      expect(plan).toMatchObject({ id: 'partner', tier: 'EXTENDED', limit: 500n })
    }
    const { plan, total } = await money.standing({ from: '0xB1' })
    expect(plan).toMatchObject({ tier: 'BASIC', limit: 300n })
    expect(total).toMatchObject({ limit: 1_000n })
  })

  test('reads no file of plans', async () => {
    expect((await open().standing({ from: '0xA1' })).plan?.tier).toBe('BASIC')
  })

  test('takes lengths as text or as numbers, and amounts of any size', async () => {
    const large = 10n ** 40n
    const money = open({
      total: large,
      tiers: { BASIC: 'unlimited' },
      window: { length: hours(1), align: 'epoch' },
      holdFor: minutes(2),
      rememberFor: '1h',
      operator: { maxAge: minutes(5) },
    })
    const { total, window } = await money.standing({})
    expect(total?.limit).toBe(large)
    expect(Number(window?.endsAt) - Number(window?.startsAt)).toBe(hours(1))
    expect(open({ window: '2h' }).isEnabled()).toBe(true)
    expect(open({ window: hours(2) }).isEnabled()).toBe(true)
  })

  test('lets a tier that is not named spend nothing', async () => {
    const money = open({ plans: [partner] })
    await money.createPlan({ id: 'late', tier: 'PRIVILEGED' })
    expect(await money.plan('late')).toMatchObject({ limit: 0n })
  })

  test('is off with a total of 0', () => {
    expect(open({ total: 0n, tiers: {} }).isEnabled()).toBe(false)
  })
})

describe('mistakes are those of headgate.yml', () => {
  const given = (options: object) => mistakeOf(() => open(options))

  test.each([
    [{ totl: 1n }, 'FIELD_UNKNOWN', 'did you mean total?'],
    [{ tiers: { GOLD: 1n } }, 'FIELD_UNKNOWN', 'may hold only BASIC'],
    [{ queueFile: 'fees' }, 'FIELD_UNKNOWN', 'queueFile'],
    [{ allowMemory: true }, 'FIELD_UNKNOWN', 'allowMemory'],
    [{ operator: { balance: {} } }, 'FIELD_UNKNOWN', 'balance'],
    [{ total: -1n }, 'AMOUNT_INVALID', 'spending.total'],
    [{ total: 1.5 }, 'AMOUNT_INVALID', '1.5'],
    [{ total: undefined }, 'SETTING_MISSING', 'total'],
    [{ holdFor: '3' }, 'FIELD_VALUE', 'spending.holdFor'],
    [{ plans: [{ ...partner, member: [] }] }, 'PLAN_FIELD_UNKNOWN', 'did you mean members?'],
    [{ plans: [{ ...partner, members: ['A1'] }] }, 'PLAN_ADDRESS_INVALID', 'members[0]'],
    [{ plans: [{ ...partner, members: [] }] }, 'PLAN_NO_ADDRESSES', 'in members'],
    [{ plans: [partner, { ...partner, id: 'b' }] }, 'PLAN_ADDRESS_DUPLICATE', '0xa1'],
    [{ plans: [{ ...partner, tier: 'GOLD' }] }, 'PLAN_TYPE_INVALID', 'must be one of'],
    [{ plans: [{ id: 'b', members: ['0xA1'] }] }, 'SETTING_MISSING', 'limit of the plan b'],
  ])('%o', (options, code, text) => {
    const mistake = given(options)
    expect(mistake.code).toBe(code)
    expect(mistake.message).toContain(text)
  })
})
