import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { acmeCatalog } from '../../../test/support/acme-catalog.ts'
import { noted } from '../../../test/support/hand-timers.ts'
import { seconds } from '../../core/time.ts'
import { fakeClock } from '../../testing/index.ts'
import { registerStoreMetrics } from './store-metrics.ts'
import { failurePolicies, watchStore } from './store-watch.ts'

const setting = () => {
  const registry = new Registry()
  const clock = fakeClock()
  const { lines, log } = noted()
  const watch = watchStore({
    store: 'redis://cache',
    log,
    clock,
    metrics: registerStoreMetrics(registry),
  })
  return { watch, clock, lines, text: () => registry.metrics() }
}

test('an outage is told once when it begins and once when it ends', () => {
  const { watch, clock, lines } = setting()
  const began = clock()
  watch.observe({ kind: 'trip', outcome: 'cut' })
  expect(watch.downSince()).toBeUndefined()
  watch.observe({ kind: 'down', finding: 'connection refused' })
  clock.advance(seconds(3))
  watch.observe({ kind: 'spared' })
  expect(watch.downSince()).toBe(began)
  watch.observe({ kind: 'up' })
  expect(watch.downSince()).toBeUndefined()
  expect(lines.map(([level, , message]) => [level, message])).toEqual([
    ['error', 'the store does not answer: its breaker is open, and calls fail at once'],
    ['warn', 'the store answers again: its breaker is closed'],
  ])
})

test('the breaker, what it refused and how trips ended are counted', async () => {
  const { watch, text } = setting()
  expect(await text()).toContain('\nheadgate_store_breaker_open 0\n')
  watch.observe({ kind: 'trip', outcome: 'timeout' })
  watch.observe({ kind: 'down', finding: 'no answer' })
  for (let i = 0; i < 3; i++) watch.observe({ kind: 'spared' })
  watch.observe({ kind: 'retry' })
  const during = await text()
  expect(during).toContain('\nheadgate_store_breaker_open 1\n')
  expect(during).toContain('\nheadgate_store_breaker_opened_total 1\n')
  expect(during).toContain('\nheadgate_store_breaker_refused_total 3\n')
  expect(during).toContain('\nheadgate_store_retries_total 1\n')
  expect(during).toContain('headgate_store_round_trips_total{outcome="timeout"} 1\n')
  watch.observe({ kind: 'up' })
  expect(await text()).toContain('\nheadgate_store_breaker_open 0\n')
})

test('limits in force are counted by what they do without a store', () => {
  const rest = 'id: opaque, burst: 1, count: 1, period: 1s'
  const limits = `
Kind: { ${rest}, onStoreFailure: open }
Strict: { ${rest}, onStoreFailure: closed }
Plain: { ${rest} }
Unused: { id: opaque, onStoreFailure: open }
`
  expect(failurePolicies(acmeCatalog({ limits }))).toEqual({ open: 1, closed: 2 })
})
