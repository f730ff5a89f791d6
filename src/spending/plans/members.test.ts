/** A member is any name: one grammar in files of plans, in links and in asks. */
import { expect, test } from 'vitest'
import { codeOf, openDesk } from '../../../test/support/ledger-desk.ts'

test('a user without a plan has a BASIC one of its own, by whatever name', async () => {
  const { spending } = openDesk()
  const answer = await spending.hold({ from: 'user:42', estimate: 200n })
  expect(answer.plan).toMatchObject({ id: 'basic:user:42', tier: 'BASIC', remaining: 100n })
  expect(await spending.hold({ from: 'user:42', estimate: 200n })).toMatchObject({
    allowed: false,
    reason: 'PLAN_LIMIT',
  })
  expect((await spending.hold({ from: 'user:43', estimate: 200n })).allowed).toBe(true)
  expect(await spending.plan('basic:user:42')).toMatchObject({ held: 200n })
  expect((await spending.verify()).findings).toEqual([])
})

test('a plan of the file pays for names as for addresses and IPs', async () => {
  const members = ['user:42', 'key:a/b', '0xA1', '10.0.0.0/8']
  const { spending } = openDesk({ plans: [{ id: 'team', members, tier: 'EXTENDED' }] })
  for (const from of ['user:42', 'key:a/b', '0xa1', '10.1.2.3']) {
    expect((await spending.check({ from })).plan?.id).toBe('team')
  }
  expect((await spending.check({ from: 'user:4' })).plan?.id).toBe('basic:user:4')
})

test('a name is linked, switched off and unlinked like an address', async () => {
  const { spending } = openDesk()
  await spending.createPlan({ id: 'team', tier: 'EXTENDED' })
  await spending.link({ plan: 'team', member: 'user:42' })
  expect((await spending.check({ from: 'user:42' })).plan?.id).toBe('team')
  expect((await spending.details('team')).links).toEqual(['user:42'])
  await spending.unlink({ plan: 'team', member: 'user:42' })
  await spending.deactivatePlan('basic:user:42')
  expect(await spending.check({ from: 'user:42' })).toMatchObject({ reason: 'PLAN_INACTIVE' })
  const both = spending.link({ plan: 'team', member: 'user:42', ip: '10.0.0.1' })
  expect(await codeOf(both)).toBe('LINK_INVALID')
})
