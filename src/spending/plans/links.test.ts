/** Which members a plan outside the file pays for. */
import { describe, expect, test } from 'vitest'
import { codeOf, openDesk, plansOf } from '../../../test/support/ledger-desk.ts'

const ALPHA = {
  id: 'alpha',
  ethAddresses: ['0xa1'],
  ipAddresses: ['10.1.0.0/16'],
  subscriptionType: 'EXTENDED',
}

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
