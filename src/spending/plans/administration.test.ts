/** Plans that are not in the file: created, switched and linked while Headgate runs. */
import { describe, expect, test } from 'vitest'
import { codeOf, openDesk, plansOf } from '../../../test/support/ledger-desk.ts'

const ALPHA = {
  id: 'alpha',
  ethAddresses: ['0xa1'],
  ipAddresses: ['10.1.0.0/16'],
  subscriptionType: 'EXTENDED',
}

describe('a created plan', () => {
  test('pays for the addresses and IPs that are linked to it', async () => {
    const { spending } = openDesk()
    await spending.createPlan({ id: 'made', tier: 'PRIVILEGED', name: 'made here' })
    await spending.link({ plan: 'made', address: '0xB1' })
    await spending.link({ plan: 'made', ip: '::ffff:10.9.0.1' })
    await spending.record({ from: '0xb1', amount: 100n })
    const byIp = await spending.record({ ip: '10.9.0.1', amount: 50n })
    expect(byIp.plan).toMatchObject({ id: 'made', tier: 'PRIVILEGED', limit: 800n, spent: 150n })
    expect(await spending.keptPlans()).toMatchObject([
      { id: 'made', active: true, source: 'store' },
    ])
  })

  test('may have a limit of its own', async () => {
    const { spending } = openDesk()
    await spending.createPlan({ id: 'made', tier: 'BASIC', limit: 'unlimited' })
    await spending.link({ plan: 'made', address: '0xb1' })
    expect((await spending.check({ from: '0xb1', estimate: 1_000n })).allowed).toBe(true)
  })

  test('that is unlinked keeps what it spent, and so does its member', async () => {
    const { spending } = openDesk()
    await spending.createPlan({ id: 'made', tier: 'EXTENDED' })
    await spending.link({ plan: 'made', address: '0xb1' })
    await spending.record({ from: '0xb1', amount: 400n })
    await spending.unlink({ plan: 'made', address: '0xb1' })
    expect((await spending.standing({ from: '0xb1' })).plan).toMatchObject({ id: 'basic:0xb1' })
    await spending.link({ plan: 'made', address: '0xb1' })
    expect((await spending.standing({ from: '0xb1' })).plan).toMatchObject({ spent: 400n })
  })

  test('has an id of its own', async () => {
    const { spending } = openDesk({ plans: [ALPHA] })
    await spending.createPlan({ id: 'made', tier: 'BASIC' })
    const create = (id: string) => codeOf(spending.createPlan({ id, tier: 'BASIC' }))
    expect(await create('made')).toBe('PLAN_EXISTS')
    expect(await create('alpha')).toBe('PLAN_IN_FILE')
    expect(await create('basic:0xa1')).toBe('PLAN_ID_INVALID')
    expect(await create('two words')).toBe('PLAN_ID_INVALID')
    expect(await create('x'.repeat(129))).toBe('PLAN_ID_INVALID')
  })
})

describe('a plan that is switched off', () => {
  test('refuses, whatever is left, and still charges what is already spent', async () => {
    const { spending } = openDesk()
    await spending.createPlan({ id: 'made', tier: 'EXTENDED' })
    await spending.link({ plan: 'made', address: '0xb1' })
    await spending.deactivatePlan('made', { actor: 'ops' })
    expect(await spending.hold({ from: '0xb1', estimate: 1n })).toMatchObject({
      allowed: false,
      reason: 'PLAN_INACTIVE',
      budget: 'plan/made',
      retryIn: 'never',
      plan: { held: 0n },
      total: { held: 0n },
    })
    expect((await spending.record({ from: '0xb1', amount: 5n })).plan?.spent).toBe(5n)
    await spending.activatePlan('made')
    expect((await spending.hold({ from: '0xb1', estimate: 1n })).allowed).toBe(true)
  })

  test('gives way to the total as the reason', async () => {
    const { spending } = openDesk()
    await spending.deactivatePlan('basic:0xb1')
    await spending.record({ amount: 1_000n })
    expect((await spending.check({ from: '0xb1' })).reason).toBe('TOTAL_BUDGET')
  })

  test('may be that of a single user', async () => {
    const { spending } = openDesk()
    await spending.deactivatePlan('basic:0xbad')
    expect((await spending.check({ from: '0xbad' })).reason).toBe('PLAN_INACTIVE')
    expect((await spending.check({ from: '0xb1' })).allowed).toBe(true)
  })

  test('is the same however its user is spelt', async () => {
    const { spending } = openDesk()
    await spending.deactivatePlan('basic:0xFA')
    expect((await spending.hold({ from: '0xfA', estimate: 1n })).reason).toBe('PLAN_INACTIVE')
    await spending.deactivatePlan('basic:2001:DB8::7')
    expect((await spending.check({ ip: '2001:db8:0:0:1::' })).reason).toBe('PLAN_INACTIVE')
    await spending.deactivatePlan('basic:2001:db8:0:1::/64')
    expect((await spending.check({ ip: '2001:db8:0:1::9' })).reason).toBe('PLAN_INACTIVE')
    await spending.record({ from: '0xb9', amount: 5n })
    expect((await spending.plan('basic:0xB9')).spent).toBe(5n)
    expect((await spending.usage('basic:0xB9')).windows).toHaveLength(1)
    expect((await spending.history('basic:0xB9')).entries).toHaveLength(1)
    await spending.grant({ plan: 'basic:0xB9', amount: 10n })
    expect((await spending.plan('basic:0xb9')).remaining).toBe(305n)
    expect(await codeOf(spending.deactivatePlan('basic:zz'))).toBe('PLAN_NOT_FOUND')
  })

  test('may be one that the file switches off', async () => {
    const { spending } = openDesk({ plans: [{ ...ALPHA, active: false }] })
    expect((await spending.check({ from: '0xa1' })).reason).toBe('PLAN_INACTIVE')
    expect(await codeOf(spending.activatePlan('alpha'))).toBe('PLAN_IN_FILE')
  })
})

describe('a link', () => {
  test('cannot take what the file gives to a plan', async () => {
    const { spending } = openDesk({ plans: [ALPHA] })
    await spending.createPlan({ id: 'made', tier: 'BASIC' })
    const link = (ask: object) => codeOf(spending.link({ plan: 'made', ...ask }))
    expect(await link({ address: '0xA1' })).toBe('LINK_IN_FILE')
    expect(await link({ ip: '10.1.2.3' })).toBe('LINK_IN_FILE')
    expect(await codeOf(spending.link({ plan: 'alpha', address: '0xb1' }))).toBe('PLAN_IN_FILE')
  })

  test('gives way to the file when that names its address later', async () => {
    const desk = openDesk()
    await desk.spending.createPlan({ id: 'made', tier: 'BASIC' })
    await desk.spending.link({ plan: 'made', address: '0xa1' })
    desk.plans = plansOf(ALPHA)
    expect((await desk.spending.standing({ from: '0xa1' })).plan?.id).toBe('alpha')
  })

  test('belongs to one plan, and is made and removed once', async () => {
    const { spending } = openDesk()
    await spending.createPlan({ id: 'made', tier: 'BASIC' })
    await spending.createPlan({ id: 'other', tier: 'BASIC' })
    await spending.link({ plan: 'made', address: '0xb1' })
    await spending.link({ plan: 'made', address: '0xb1' })
    expect(await codeOf(spending.link({ plan: 'other', address: '0xb1' }))).toBe('LINK_TAKEN')
    const unlink = () => spending.unlink({ plan: 'other', address: '0xb1' })
    expect(await codeOf(unlink())).toBe('LINK_NOT_FOUND')
  })

  test('names an address or an IP, of a plan that exists', async () => {
    const { spending } = openDesk()
    await spending.createPlan({ id: 'made', tier: 'BASIC' })
    const link = (ask: object) => codeOf(spending.link({ plan: 'made', ...ask }))
    expect(await link({})).toBe('LINK_INVALID')
    expect(await link({ address: '0xb1', ip: '10.0.0.1' })).toBe('LINK_INVALID')
    expect(await link({ address: 'bob' })).toBe('ADDRESS_INVALID')
    expect(await link({ ip: '10.0.0' })).toBe('IP_INVALID')
    expect(await link({ plan: 'nobody', ip: '10.0.0.1' })).toBe('PLAN_NOT_FOUND')
  })
})
