/** A booking is taken back where it was charged, as an entry, and never twice. */
import { describe, expect, test } from 'vitest'
import { codeOf, openDesk } from '../../../test/support/ledger-desk.ts'
import { days } from '../../core/time.ts'

const WHY = { reason: 'charged twice by the network', actor: 'ops' } as const

describe('a reversal', () => {
  test('takes a record back, and the plan can spend it again', async () => {
    const { spending } = openDesk()
    await spending.record({ from: '0xa1', amount: 300n, operationId: 'tx-1' })
    expect((await spending.check({ from: '0xa1', estimate: 1n })).allowed).toBe(false)
    expect(await spending.reverse({ of: 'tx-1', ...WHY })).toMatchObject({
      reversed: 300n,
      left: 0n,
      plan: { spent: 0n, remaining: 300n },
      total: { spent: 0n },
    })
    expect((await spending.check({ from: '0xa1', estimate: 300n })).allowed).toBe(true)
    expect((await spending.verify()).findings).toEqual([])
  })

  test('takes a capture back from the operation that it was for, in part', async () => {
    const { spending } = openDesk()
    const { holdId = '' } = await spending.hold({ from: '0xa1', estimate: 200n })
    const operation = 'FileAppendTransaction'
    await spending.capture({ holdId, amount: 80n, operation, operationId: 'tx-1' })
    await spending.settle({ holdId, amount: 100n })
    await spending.reverse({ of: 'tx-1', amount: 30n, ...WHY })
    expect((await spending.report()).byOperation).toEqual({
      FileAppendTransaction: 50n,
      Unspecified: 20n,
    })
    expect((await spending.verify()).findings).toEqual([])
  })

  test('by the id of a hold takes back what its settlement charged beyond its captures', async () => {
    const { spending } = openDesk()
    const ask = { from: '0xa1', estimate: 200n, operationId: 'tx-1' }
    await spending.sponsor(ask, async () => 120n)
    expect(await spending.reverse({ of: 'tx-1', ...WHY })).toMatchObject({
      reversed: 120n,
      plan: { spent: 0n },
    })
  })

  test('of a window that has ended is booked in that window', async () => {
    const { spending, clock } = openDesk()
    const { startsAt } = await spending.window()
    await spending.record({ from: '0xa1', amount: 100n, operationId: 'tx-1' })
    clock.advance(days(1))
    await spending.record({ from: '0xa1', amount: 7n })
    await spending.reverse({ of: 'tx-1', amount: 40n, ...WHY })
    expect((await spending.report(startsAt)).total).toBe(60n)
    expect((await spending.report()).total).toBe(7n)
    expect((await spending.verify()).findings).toEqual([])
  })

  test('never takes back more than was booked, and under an id of its own happens once', async () => {
    const { spending } = openDesk()
    await spending.record({ from: '0xa1', amount: 100n, operationId: 'tx-1' })
    const part = { of: 'tx-1', amount: 60n, operationId: 'back-1', ...WHY }
    expect(await spending.reverse(part)).toMatchObject({ reversed: 60n, left: 40n })
    expect(await spending.reverse(part)).toMatchObject({ reversed: 60n, replayed: true })
    const more = spending.reverse({ of: 'tx-1', amount: 41n, ...WHY })
    expect(await codeOf(more)).toBe('REVERSAL_INVALID')
    expect(await spending.reverse({ of: 'tx-1', ...WHY })).toMatchObject({ reversed: 40n })
    expect(await codeOf(spending.reverse({ of: 'tx-1', ...WHY }))).toBe('REVERSAL_INVALID')
    expect(await codeOf(spending.reverse({ of: 'tx-2', ...WHY }))).toBe('BOOKING_NOT_FOUND')
  })

  test('of what no limit and no grant had leaves no debt for the next grant to pay', async () => {
    const { spending } = openDesk()
    await spending.createPlan({ id: 'p', tier: 'BASIC', limit: 300n })
    await spending.link({ plan: 'p', member: 'user:1' })
    await spending.record({ from: 'user:1', amount: 400n, operationId: 'tx-1' })
    await spending.reverse({ of: 'tx-1', amount: 60n, ...WHY })
    await spending.changePlan({ plan: 'p', limit: 200n })
    const { grantId } = await spending.grant({ plan: 'p', amount: 100n })
    // 40 of the debt of 100 are left.
    expect(await spending.grants('p')).toMatchObject([{ id: grantId, left: 60n }])
    expect((await spending.verify()).findings).toEqual([])
  })

  test('says in the ledger what, why and by whom', async () => {
    const { spending } = openDesk()
    await spending.record({ from: '0xa1', amount: 100n, operationId: 'tx-1' })
    await spending.reverse({ of: 'tx-1', ...WHY })
    const { entries } = await spending.history('basic:0xa1')
    expect(entries.find(({ kind }) => kind === 'reverse')).toMatchObject({
      reverses: 'tx-1',
      detail: WHY.reason,
      note: { actor: 'ops' },
      moves: [{ from: 'spent', to: 'available', amount: 100n }],
    })
  })

  test('of a settlement, and then of the capture that came after it, takes nothing back twice', async () => {
    const { spending } = openDesk()
    const { holdId = '' } = await spending.hold({ from: '0xa1', estimate: 100n, operationId: 'h' })
    await spending.settle({ holdId, amount: 100n })
    await spending.reverse({ of: 'h', ...WHY })
    await spending.capture({ holdId, amount: 100n, operationId: 'c' })
    expect(await codeOf(spending.reverse({ of: 'c', ...WHY }))).toBe('REVERSAL_INVALID')
    expect(await codeOf(spending.reverse({ of: 'h', ...WHY }))).toBe('REVERSAL_INVALID')
    expect(await spending.plan('basic:0xa1')).toMatchObject({ spent: 0n })
    expect((await spending.verify()).findings).toEqual([])
  })

  test('of part of a settlement leaves the rest to the captures that come after it', async () => {
    const { spending } = openDesk()
    const { holdId = '' } = await spending.hold({ from: '0xa1', estimate: 100n, operationId: 'h' })
    await spending.settle({ holdId, amount: 100n })
    await spending.reverse({ of: 'h', amount: 30n, ...WHY })
    await spending.capture({ holdId, amount: 50n, operationId: 'a' })
    await spending.capture({ holdId, amount: 70n, operationId: 'b' })
    expect(await spending.reverse({ of: 'a', ...WHY })).toMatchObject({ reversed: 50n })
    // 20 that the settlement had charged and 20 beyond it; 30 of it were taken back before.
    expect(await spending.reverse({ of: 'b', ...WHY })).toMatchObject({ reversed: 40n })
    expect(await codeOf(spending.reverse({ of: 'h', ...WHY }))).toBe('REVERSAL_INVALID')
    expect(await spending.plan('basic:0xa1')).toMatchObject({ spent: 0n })
    expect((await spending.verify()).findings).toEqual([])
  })

  test('leaves the same booking, told again, as it was answered', async () => {
    const { spending } = openDesk()
    const ask = { from: '0xa1', amount: 100n, operationId: 'tx-1' }
    const first = await spending.record(ask)
    await spending.reverse({ of: 'tx-1', ...WHY })
    expect(await spending.record(ask)).toEqual({ ...first, replayed: true })
  })
})
