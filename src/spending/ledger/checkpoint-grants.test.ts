/** Any number of grants outlives a compaction. */
import { expect, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { openDesk, SETTINGS } from '../../../test/support/ledger-desk.ts'
import { days, instant } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { keysOf } from '../keys.ts'
import { NO_PLANS } from '../plans/resolve.ts'
import { createSpending } from '../spending.ts'
import { hashOfGrants } from './checkpoint-grants.ts'

const POLICY = { compactAfter: days(10), rememberFor: days(2) }
const KEYS = keysOf('0.0.2')

test('the hash is of the grants, in whatever order a store lists them', () => {
  const [a, b] = [['a', '{"grants":[1]}'] as const, ['b', '{"grants":[2]}'] as const]
  expect(hashOfGrants(new Map([a, b]))).toEqual(hashOfGrants(new Map([b, a])))
  expect(hashOfGrants(new Map([a])).hash).not.toBe(hashOfGrants(new Map([b])).hash)
  expect(hashOfGrants(new Map())).toEqual({ plans: 0, hash: '' })
})

/** One value of a store holds the grants of some seven thousand plans. */
const PLANS = times(8_000, 40_000)

test('the grants of more plans than one value could hold are compacted, and can be used', async () => {
  const clock = fakeClock('2026-01-01T10:00:00Z')
  const settings = { ...SETTINGS, ...POLICY, total: 'unlimited' as const }
  const options = { settings: () => settings, plans: () => NO_PLANS }
  const spending = createSpending({ store: memory({ clock }), ...options })
  for (let n = 0; n < PLANS; n += 500) {
    const batch = Array.from({ length: 500 }, (_, i) => `basic:user:${n + i}`)
    await Promise.all(batch.map((plan) => spending.grant({ plan, amount: 1_000n, actor: 'ops' })))
  }
  await spending.record({ from: 'user:7', amount: 500n })
  clock.advance(days(12))
  await spending.record({ from: 'user:8', amount: 1n })
  expect(await spending.compact()).toMatchObject({ entries: PLANS + 1 })
  expect(await spending.plan('basic:user:7')).toMatchObject({ remaining: 1_100n })
  const newest = `basic:user:${PLANS - 1}`
  expect(await spending.plan(newest)).toMatchObject({ remaining: 1_300n })
  expect((await spending.history(newest, { order: 'newest' })).entries).toMatchObject([
    { kind: 'grant', note: { actor: 'ops' } },
  ])
  expect(await spending.verify()).toMatchObject({ findings: [], compactedThrough: PLANS + 1 })
})

test('grants that were used up or have expired are let go by the next checkpoint', async () => {
  const { spending, clock, store } = openDesk({ ...POLICY, total: 'unlimited' })
  const kept = async () => (await store.range(KEYS.grantsThenList, '', 10)).map(({ key }) => key)
  const turn = async (): Promise<void> => {
    clock.advance(days(12))
    await spending.record({ from: '0xd1', amount: 1n })
    await spending.compact()
    expect((await spending.verify()).findings).toEqual([])
  }
  const { now } = await spending.overview()
  await spending.grant({ plan: 'basic:0xa1', amount: 10n })
  await spending.grant({ plan: 'basic:0xb1', amount: 10n, expiresAt: instant(now + days(14)) })
  await spending.grant({ plan: 'basic:0xc1', amount: 10n })
  await turn()
  expect(await kept()).toEqual(['0xa1', '0xb1', '0xc1'].map((m) => KEYS.grantsThen(`basic:${m}`)))
  await spending.record({ from: '0xc1', amount: 400n })
  await turn()
  await turn()
  expect(await kept()).toEqual([KEYS.grantsThen('basic:0xa1')])
})

test('what was changed in them is found, and no new checkpoint vouches for it', async () => {
  const { spending, clock, store } = openDesk(POLICY)
  await spending.grant({ plan: 'basic:0xa1', amount: 10n })
  clock.advance(days(12))
  await spending.record({ from: '0xb1', amount: 1n })
  await spending.compact()
  const key = KEYS.grantsThen('basic:0xa1')
  const [{ value = '' } = {}] = await store.range(KEYS.grantsThenList, '', 1)
  const writes = [{ key, value: value.replace('"10"', '"10000"') }]
  await store.transact(() => ({ writes, appends: [], result: undefined }))
  expect((await spending.verify()).findings).toContainEqual(
    expect.objectContaining({ kind: 'checkpoint-differs', what: 'grants at the checkpoint' }),
  )
  clock.advance(days(12))
  await spending.record({ from: '0xb1', amount: 1n })
  await expect(spending.compact()).rejects.toThrow('grants at the checkpoint are as it says')
})
