/** Plans that are not in the file: created, changed, switched and retired while Headgate runs. */
import { describe, expect, test } from 'vitest'
import { codeOf, openDesk } from '../../../test/support/ledger-desk.ts'

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

describe('a plan that is changed', () => {
  const made = async () => {
    const desk = openDesk({ plans: [ALPHA] })
    await desk.spending.createPlan({ id: 'made', tier: 'BASIC', limit: 100n, name: 'made here' })
    await desk.spending.link({ plan: 'made', address: '0xb1' })
    return desk
  }

  test('has its new limit, tier and name at once, and has spent what it had spent', async () => {
    const { spending } = await made()
    await spending.record({ from: '0xb1', amount: 80n })
    await spending.changePlan({ plan: 'made', limit: 50n })
    expect((await spending.check({ from: '0xb1', estimate: 1n })).reason).toBe('PLAN_LIMIT')
    await spending.changePlan({ plan: 'made', tier: 'PRIVILEGED', limit: 'tier', name: '' })
    const { plan } = await spending.details('made')
    expect(plan).toEqual({
      id: 'made',
      tier: 'PRIVILEGED',
      active: true,
      createdAt: expect.any(Number),
      source: 'store',
    })
    expect(await spending.plan('made')).toMatchObject({ limit: 800n, spent: 80n })
    expect(await spending.verify()).toMatchObject({ findings: [] })
  })

  test('says in the ledger what changed, who did it and why', async () => {
    const { spending } = await made()
    const ask = { plan: 'made', limit: 'unlimited', name: 'partner', reason: 'a deal' } as const
    await spending.changePlan({ ...ask, actor: 'ann' })
    expect((await spending.history('made')).entries.at(-1)).toMatchObject({
      kind: 'change',
      detail: 'limit 100 → unlimited, name made here → partner: a deal',
      note: { actor: 'ann' },
      kept: { limit: 'unlimited', name: 'partner' },
    })
    await spending.changePlan({ ...ask, actor: 'bob' })
    expect((await spending.history('made')).entries.at(-1)?.note).toEqual({ actor: 'ann' })
  })

  test('keeps open holds, which settle as they were granted', async () => {
    const { spending } = await made()
    const { holdId = '' } = await spending.hold({ from: '0xb1', estimate: 90n })
    await spending.changePlan({ plan: 'made', limit: 10n, tier: 'EXTENDED' })
    expect((await spending.hold({ from: '0xb1', estimate: 1n })).reason).toBe('PLAN_LIMIT')
    expect(await spending.settle({ holdId, amount: 90n })).toMatchObject({
      charged: 90n,
      overage: 0n,
    })
    expect(await spending.verify()).toMatchObject({ findings: [] })
  })

  test('may be that of a single user, whose tier stays', async () => {
    const { spending } = openDesk()
    await spending.changePlan({ plan: 'basic:0xB1', limit: 20n })
    expect((await spending.check({ from: '0xb1', estimate: 21n })).reason).toBe('PLAN_LIMIT')
    const raised = spending.changePlan({ plan: 'basic:0xb1', tier: 'EXTENDED' })
    expect(await codeOf(raised)).toBe('PLAN_IMPLICIT')
  })

  test('is one of the store, and something of it changes', async () => {
    const { spending } = await made()
    const change = (ask: object) => codeOf(spending.changePlan({ plan: 'made', ...ask }))
    expect(await change({})).toBe('PLAN_CHANGE_EMPTY')
    expect(await change({ plan: 'alpha', limit: 1n })).toBe('PLAN_IN_FILE')
    expect(await change({ plan: 'nobody', limit: 1n })).toBe('PLAN_NOT_FOUND')
    expect(await change({ name: 'x'.repeat(300) })).toBe('NOTE_INVALID')
  })
})

describe('a plan that is retired', () => {
  const retired = async () => {
    const desk = openDesk({ plans: [ALPHA] })
    const { spending } = desk
    await spending.createPlan({ id: 'made', tier: 'EXTENDED' })
    await spending.link({ plan: 'made', address: '0xb1' })
    const { holdId = '' } = await spending.hold({ from: '0xb1', estimate: 400n })
    await spending.retirePlan({ plan: 'made', reason: 'the trial is over', actor: 'ann' })
    return { ...desk, holdId }
  }

  test('pays for nothing new; its members have the plans that they would have without it', async () => {
    const { spending } = await retired()
    const answer = await spending.hold({ from: '0xb1', estimate: 1n })
    expect(answer).toMatchObject({ allowed: true, plan: { id: 'basic:0xb1', limit: 300n } })
    expect((await spending.record({ from: '0xb1', amount: 1n })).plan?.id).toBe('basic:0xb1')
  })

  test('settles and captures from its open holds, and extends none', async () => {
    const { spending, holdId } = await retired()
    await spending.capture({ holdId, amount: 100n })
    expect(await spending.extend({ holdId, estimate: 1n })).toMatchObject({
      allowed: false,
      reason: 'PLAN_INACTIVE',
    })
    expect(await spending.settle({ holdId, amount: 250n })).toMatchObject({
      charged: 150n,
      released: 150n,
      plan: { id: 'made', spent: 250n },
    })
    expect(await spending.verify()).toMatchObject({ findings: [] })
  })

  test('keeps its history, and says there who retired it and why', async () => {
    const { spending, clock } = await retired()
    const { entries } = await spending.history('made')
    expect(entries.map(({ kind }) => kind)).toEqual(['adjust', 'adjust', 'hold', 'retire'])
    expect(entries.at(-1)).toMatchObject({
      detail: 'plan retired: the trial is over',
      note: { actor: 'ann' },
      kept: { retiredAt: clock() },
    })
    await spending.retirePlan({ plan: 'made' })
    expect((await spending.history('made')).entries).toHaveLength(4)
  })

  test('stays so: it is not changed, switched, linked to or given more, and its id is not reused', async () => {
    const { spending } = await retired()
    for (const refused of [
      spending.changePlan({ plan: 'made', limit: 1n }),
      spending.activatePlan('made'),
      spending.link({ plan: 'made', address: '0xb2' }),
      spending.grant({ plan: 'made', amount: 1n }),
      spending.createPlan({ id: 'made', tier: 'BASIC' }),
    ]) {
      expect(await codeOf(refused)).toBe('PLAN_RETIRED')
    }
  })

  test('lets its members go to another plan', async () => {
    const { spending } = await retired()
    await spending.createPlan({ id: 'next', tier: 'PRIVILEGED' })
    await spending.link({ plan: 'next', address: '0xb1' })
    expect((await spending.standing({ from: '0xb1' })).plan?.id).toBe('next')
    expect((await spending.details('made')).links).toEqual([])
  })

  test('is one that was created', async () => {
    const { spending } = await retired()
    expect(await codeOf(spending.retirePlan({ plan: 'alpha' }))).toBe('PLAN_IN_FILE')
    expect(await codeOf(spending.retirePlan({ plan: 'basic:0xb1' }))).toBe('PLAN_IMPLICIT')
    expect(await codeOf(spending.retirePlan({ plan: 'nobody' }))).toBe('PLAN_NOT_FOUND')
  })
})
