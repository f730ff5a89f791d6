import { expect, test } from 'vitest'
import { testHeadgate } from '../../../test/support/headgate.ts'
import { StoreError } from '../../core/errors.ts'

const lines = async (headgate: ReturnType<typeof testHeadgate>): Promise<readonly string[]> =>
  (await headgate.metrics.text(headgate.catalog)).split('\n')

const KEY = { limit: 'PerKey', id: 'k' }

test('every charge is counted by limit, verb and outcome', async () => {
  const headgate = testHeadgate()
  const { limiter } = headgate
  await limiter.spend({ ...KEY, cost: 3 })
  await limiter.spend(KEY)
  await limiter.spend(KEY)
  await limiter.check({ limit: 'OnlyOverrides', id: 'a' })
  const text = await lines(headgate)
  const decisions = (labels: string, count: number) =>
    `headgate_decisions_total{${labels}} ${count}`
  expect(text).toContain(decisions('limit="PerKey",verb="spend",outcome="allowed"', 1))
  expect(text).toContain(decisions('limit="PerKey",verb="spend",outcome="refused"', 2))
  expect(text).toContain(decisions('limit="OnlyOverrides",verb="check",outcome="disabled"', 1))
})

test('looking twice counts nothing twice', async () => {
  const headgate = testHeadgate()
  await headgate.limiter.spend(KEY)
  await lines(headgate)
  const text = await lines(headgate)
  expect(text).toContain(
    'headgate_decisions_total{limit="PerKey",verb="spend",outcome="allowed"} 1',
  )
})

test('a replay decided nothing, and is counted apart', async () => {
  const headgate = testHeadgate()
  await headgate.limiter.spend({ ...KEY, operationId: 'a' })
  await headgate.limiter.spend({ ...KEY, operationId: 'a' })
  const text = await lines(headgate)
  expect(text).toContain('headgate_replays_total{verb="spend"} 1')
  expect(text).toContain(
    'headgate_decisions_total{limit="PerKey",verb="spend",outcome="allowed"} 1',
  )
})

test('no id is ever a label', async () => {
  const headgate = testHeadgate()
  await headgate.limiter.spend({ limit: 'PerKey', id: 'someone-in-particular' })
  expect((await lines(headgate)).join()).not.toContain('someone-in-particular')
})

test('failures of the store are counted by what followed from them', async () => {
  const headgate = testHeadgate()
  const error = new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'disk', rule: 'must be there' })
  headgate.metrics.observe({ kind: 'store-failure', error, open: true })
  headgate.metrics.observe({ kind: 'store-failure', error, open: false })
  const text = await lines(headgate)
  expect(text).toContain('headgate_store_failures_total{policy="open"} 1')
  expect(text).toContain('headgate_store_failures_total{policy="closed"} 1')
})

test('commits tell how many calls shared them', async () => {
  const headgate = testHeadgate()
  headgate.metrics.commit({ calls: 1 })
  headgate.metrics.commit({ calls: 100 })
  const text = await lines(headgate)
  expect(text).toContain('headgate_store_commits_total 2')
  expect(text).toContain('headgate_store_commit_calls_sum 101')
  expect(text).toContain('headgate_store_commit_calls_bucket{le="1"} 1')
})

test('the catalog is shown as it is in force', async () => {
  const headgate = testHeadgate()
  headgate.metrics.reload('refused')
  headgate.catalogStatus = { loadedAt: 1_500, problem: 'a mistake' }
  const text = await lines(headgate)
  expect(text).toContain('headgate_catalog_reloads_total{outcome="refused"} 1')
  expect(text).toContain('headgate_catalog_loaded_timestamp_seconds 1.5')
  expect(text).toContain('headgate_catalog_stale 1')
  expect(text).toContain('headgate_limits 4')
  expect(text).toContain('headgate_overrides{limit="NewOrdersPerAccount"} 1')
})
