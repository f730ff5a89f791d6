/** What an admission costs does not depend on how many plans there are. */
import { describe, expect, test } from 'vitest'
import { SETTINGS } from '../../test/support/ledger-desk.ts'
import type { Store, View } from '../core/store.ts'
import { memoryStore } from '../stores/memory/index.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { buildPlanCatalog, createSpending, type PlanEntry } from './index.ts'

interface Cost {
  reads: number
  writes: number
  appends: number
}

/** Counts the keys that steps read and write; pages, which are for people, are not expected at all. */
const counting = (inner: Store, cost: Cost): Store => ({
  ...inner,
  transact: (step, guess) =>
    inner.transact((view) => {
      const seen = new Set<string>()
      const read: View['read'] = (...keys) => {
        for (const key of keys) seen.add(key)
        return view.read(...keys)
      }
      const plan = step({ now: view.now, read })
      cost.reads += seen.size
      cost.writes += plan.writes.length
      cost.appends += plan.appends.length
      return plan
    }, guess),
  range: () => Promise.reject(new Error('an admission lists nothing')),
  scan: () => Promise.reject(new Error('an admission scans nothing')),
  read: () => Promise.reject(new Error('an admission reads no ledger')),
})

const address = (n: number): string => `0x${n.toString(16)}`

const entries = (count: number): readonly PlanEntry[] =>
  Array.from({ length: count }, (_, n) => ({
    plan: { id: `plan-${n}`, tier: 'EXTENDED', active: true, source: 'file' },
    addresses: [address(n)],
    ips: [`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`],
  }))

/** Seeding more than this takes longer than it tells. */
const MAX_USERS = 10_000

/** Plans in the file, and users that were charged before. */
const costsAt = async (plans: number) => {
  const cost: Cost = { reads: 0, writes: 0, appends: 0 }
  const catalog = buildPlanCatalog(entries(plans))
  const inner = memoryStore({ clock: fakeClock() })
  const options = {
    settings: () => ({ ...SETTINGS, total: 'unlimited' as const }),
    plans: () => catalog,
  }
  const before = createSpending({ store: inner, ...options })
  for (let n = 0; n < Math.min(plans, MAX_USERS); n++)
    await before.record({ from: address(1_000_000 + n), amount: 1n })
  const spending = createSpending({ store: counting(inner, cost), ...options })
  const measure = async (call: () => Promise<unknown>): Promise<Cost> => {
    Object.assign(cost, { reads: 0, writes: 0, appends: 0 })
    await call()
    return { ...cost }
  }
  const configured = { from: address(plans - 1), ip: '172.16.0.1', operation: 'FileAppend' }
  const general = { from: '0xfffff0', ip: '172.16.0.1', operation: 'FileAppend' }
  let holdId = ''
  return {
    check: await measure(() => spending.check({ ...configured, estimate: 1n })),
    checkGeneral: await measure(() => spending.check({ ...general, estimate: 1n })),
    hold: await measure(async () => {
      const answer = await spending.hold({ ...general, estimate: 1n, operationId: 'h' })
      holdId = answer.holdId ?? ''
    }),
    capture: await measure(() => spending.capture({ holdId, amount: 1n, operationId: 'c' })),
    settle: await measure(() => spending.settle({ holdId, amount: 1n })),
    record: await measure(() => spending.record({ ...configured, amount: 1n, operationId: 'r' })),
  }
}

describe('reads and writes of an admission', () => {
  test('are the same with 10, 1,000 and 100,000 plans, and few', async () => {
    const [few, some, many] = [await costsAt(10), await costsAt(1_000), await costsAt(100_000)]
    expect(some).toEqual(few)
    expect(many).toEqual(few)
    expect(few).toMatchInlineSnapshot(`
      {
        "capture": {
          "appends": 1,
          "reads": 14,
          "writes": 11,
        },
        "check": {
          "appends": 0,
          "reads": 9,
          "writes": 0,
        },
        "checkGeneral": {
          "appends": 0,
          "reads": 13,
          "writes": 0,
        },
        "hold": {
          "appends": 1,
          "reads": 14,
          "writes": 9,
        },
        "record": {
          "appends": 1,
          "reads": 12,
          "writes": 10,
        },
        "settle": {
          "appends": 1,
          "reads": 13,
          "writes": 10,
        },
      }
    `)
  })
})
