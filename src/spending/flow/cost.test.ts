/** What money costs to move does not depend on how many plans and members there are, and how much was moved before. */
import { describe, expect, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { SETTINGS } from '../../../test/support/ledger-desk.ts'
import type { Store, View } from '../../core/store.ts'
import { millis } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { buildPlanCatalog, createSpending, type PlanEntry } from '../index.ts'

interface Cost {
  reads: number
  /** Values that were found: each is decoded once, as step.test shows. */
  decodes: number
  writes: number
  appends: number
}

/** Counts the keys that steps read and write; pages, which are for people, are not expected at all. */
const counting = (inner: Store, cost: Cost): Store => ({
  ...inner,
  transact: (step, guess) =>
    inner.transact((view) => {
      const seen = new Set<string>()
      let decodes = 0
      const read: View['read'] = (...keys) => {
        const values = view.read(...keys)
        for (const [i, key] of keys.entries()) {
          if (!seen.has(key) && values[i] !== undefined) decodes += 1
          seen.add(key)
        }
        return values
      }
      const commit = step({ now: view.now, read })
      cost.reads += seen.size
      cost.decodes += decodes
      cost.writes += commit.writes.length
      cost.appends += commit.appends.length
      return commit
    }, guess),
  range: () => Promise.reject(new Error('an admission lists nothing')),
  scan: () => Promise.reject(new Error('an admission scans nothing')),
  read: () => Promise.reject(new Error('an admission reads no ledger')),
})

const address = (n: number): string => `0x${n.toString(16)}`

const ipOf = (n: number): string => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`

/** Plans of one member each, and one of many: the last. */
const entries = ({ plans, members }: Size): readonly PlanEntry[] => [
  ...Array.from({ length: plans }, (_, n) => entryOf(`plan-${n}`, [n])),
  entryOf(
    'shared',
    Array.from({ length: members }, (_, n) => 200_000 + n),
  ),
]

const entryOf = (id: string, members: readonly number[]): PlanEntry => ({
  plan: { id, tier: 'EXTENDED', active: true, source: 'file' },
  addresses: members.map(address),
  ips: members.map(ipOf),
})

interface Size {
  readonly plans: number
  readonly members: number
  /** Charges that were made before, half of them to users that were new. */
  readonly history: number
}

const SMALL: Size = { plans: 10, members: 10, history: 10 }

const costsAt = async (size: Size) => {
  const cost: Cost = { reads: 0, decodes: 0, writes: 0, appends: 0 }
  const catalog = buildPlanCatalog(entries(size))
  const clock = fakeClock()
  const inner = memory({ clock })
  const options = {
    settings: () => ({ ...SETTINGS, total: 'unlimited' as const }),
    plans: () => catalog,
    // The record of the clock is one read more, and no write.
    machine: () => ({ boot: 'boot', uptime: clock.uptime() }),
  }
  const before = createSpending({ store: inner, ...options })
  await before.grant({ plan: 'shared', amount: 10n ** 12n })
  await before.record({ from: address(200_000), amount: 1_000n })
  for (let n = 0; n < size.history; n++) {
    clock.advance(millis(10))
    const from = n % 2 === 0 ? address(1_000_000 + n) : address(200_000)
    await before.record({ from, amount: 1n })
  }
  const spending = createSpending({ store: counting(inner, cost), ...options })
  const measure = async (call: () => Promise<unknown>): Promise<Cost> => {
    Object.assign(cost, { reads: 0, decodes: 0, writes: 0, appends: 0 })
    await call()
    return { ...cost }
  }
  const configured = { from: address(size.plans - 1), ip: '172.16.0.1', operation: 'FileAppend' }
  const shared = { ...configured, from: address(200_000 + size.members - 1) }
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
    holdShared: await measure(() => spending.hold({ ...shared, estimate: 1_000n })),
    record: await measure(() => spending.record({ ...configured, amount: 1n, operationId: 'r' })),
  }
}

describe('reads, decodes and writes', () => {
  /** A hundred thousand charges take a minute to make. */
  const MANY_CHARGES = times(5_000, 100_000)

  test.each<[number, string, Partial<Size>]>([
    [100_000, 'plans', { plans: 100_000 }],
    [100_000, 'members of one plan', { members: 100_000 }],
    [MANY_CHARGES, 'charges that were made before', { history: MANY_CHARGES }],
  ])('are the same with 10 and with %d %s', async (_count, _what, size) => {
    expect(await costsAt({ ...SMALL, ...size })).toEqual(await costsAt(SMALL))
  })

  test('are few', async () => {
    const few = await costsAt(SMALL)
    expect(few).toMatchInlineSnapshot(`
      {
        "capture": {
          "appends": 1,
          "decodes": 14,
          "reads": 18,
          "writes": 13,
        },
        "check": {
          "appends": 0,
          "decodes": 4,
          "reads": 10,
          "writes": 0,
        },
        "checkGeneral": {
          "appends": 0,
          "decodes": 4,
          "reads": 14,
          "writes": 0,
        },
        "hold": {
          "appends": 1,
          "decodes": 4,
          "reads": 16,
          "writes": 11,
        },
        "holdShared": {
          "appends": 1,
          "decodes": 9,
          "reads": 11,
          "writes": 11,
        },
        "record": {
          "appends": 1,
          "decodes": 9,
          "reads": 16,
          "writes": 12,
        },
        "settle": {
          "appends": 1,
          "decodes": 13,
          "reads": 16,
          "writes": 12,
        },
      }
    `)
  })
})
