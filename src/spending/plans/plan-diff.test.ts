import fc from 'fast-check'
import { expect, test } from 'vitest'
import { vectors } from '../../../test/support/vectors.ts'
import { changesNothing, diffPlans } from './plan-diff.ts'
import type { PlanEntry } from './plan-entry.ts'
import { PlanError } from './plan-fields.ts'
import { parsePlans } from './plan-file.ts'
import { buildPlanCatalog } from './resolve.ts'

interface Suite {
  readonly scenarios: readonly Scenario[]
}

interface Scenario {
  readonly id: string
  readonly title: string
  readonly config?: { readonly plans: readonly unknown[] }
  readonly steps: readonly VectorStep[]
}

interface VectorStep {
  readonly op: string
  readonly plans?: readonly unknown[]
  readonly raw?: string
  readonly from?: string
  readonly ip?: string
  readonly expect: object
}

const read = (plans: readonly unknown[]) => parsePlans(JSON.stringify(plans), 'plans.json')

/** What a reload answers: the difference, or the mistake for which nothing changes. */
function reload(before: readonly PlanEntry[], { plans, raw }: VectorStep) {
  try {
    const entries = parsePlans(raw ?? JSON.stringify(plans), 'plans.json')
    return { entries, answer: diffPlans(before, entries) }
  } catch (error) {
    if (!(error instanceof PlanError)) throw error
    return { entries: before, answer: { error: { code: error.code, index: error.index } } }
  }
}

const suites = ['08-config-validation', '09-config-reload']
const scenarios = suites.flatMap((name) => vectors<Suite>(`spending/${name}.json`).scenarios)

test.each(scenarios)('$id: $title', ({ config, steps }) => {
  let entries = read(config?.plans ?? [])
  for (const step of steps) {
    if (step.op === 'reload') {
      const { entries: next, answer } = reload(entries, step)
      expect(answer).toMatchObject(step.expect)
      entries = next
    }
    if (step.op === 'state' && 'plan' in step.expect) {
      const catalog = buildPlanCatalog(entries)
      const found =
        step.from === undefined ? catalog.byIp(step.ip ?? '') : catalog.byAddress(step.from)
      // Spending is the engine's: here only which plan the caller has.
      expect(found?.id ?? null).toBe(planIdOf(step.expect.plan, found?.id ?? null))
    }
  }
})

function planIdOf(plan: unknown, found: string | null): unknown {
  if (plan === null) return null
  return typeof plan === 'object' && 'id' in plan ? plan.id : found
}

type Owner = readonly [link: string, planId: string]

const tiers = fc.constantFrom('BASIC', 'EXTENDED', 'PRIVILEGED')

/** Lists of plans over few ids and addresses, so that two of them overlap. */
const lists = fc
  .array(
    fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd'),
      tier: tiers,
      links: fc.uniqueArray(fc.nat(9)),
    }),
  )
  .map((drafts) => {
    const taken = new Set<number>()
    const ids = new Set<string>()
    return drafts.flatMap(({ id, tier, links }) => {
      const free = links.filter((link) => !taken.has(link))
      if (ids.has(id) || free.length === 0) return []
      ids.add(id)
      for (const link of free) taken.add(link)
      const ethAddresses = free.map((link) => `0x${link}`)
      return [{ id, ethAddresses, subscriptionType: tier }]
    })
  })

test('an unchanged list changes nothing, and neither does its order', () => {
  fc.assert(
    fc.property(lists, (plans) => {
      expect(changesNothing(diffPlans(read(plans), read([...plans].reverse())))).toBe(true)
    }),
  )
})

test('what the difference says, done to the old list, gives the new one', () => {
  fc.assert(
    fc.property(lists, lists, (old, next) => {
      const [before, after] = [read(old), read(next)]
      const { added, removed, updated, links } = diffPlans(before, after)
      const owners = new Map(
        before.flatMap((entry) => entry.addresses.map((link): Owner => [link, entry.plan.id])),
      )
      for (const { link } of links.removed) owners.delete(link)
      for (const { link, planId } of links.added) owners.set(link, planId)
      const wanted = after.flatMap((entry) =>
        entry.addresses.map((link): Owner => [link, entry.plan.id]),
      )
      expect(owners).toEqual(new Map(wanted))

      const ids = new Set(before.map(({ plan }) => plan.id))
      for (const id of removed) ids.delete(id)
      for (const id of added) ids.add(id)
      expect([...ids].sort()).toEqual(after.map(({ plan }) => plan.id).sort())

      const tiersBefore = new Map(before.map(({ plan }) => [plan.id, plan.tier]))
      const retiered = after.filter(
        ({ plan }) => tiersBefore.has(plan.id) && tiersBefore.get(plan.id) !== plan.tier,
      )
      expect(updated).toEqual(retiered.map(({ plan }) => plan.id))
    }),
  )
})

test('a new name, limit, category or switch is an update', () => {
  const plan = { id: 'a', ethAddresses: ['0x1'], subscriptionType: 'BASIC' }
  const changes = [{ name: 'n' }, { limit: 0 }, { categories: { X: 1 } }, { active: false }]
  for (const change of changes) {
    expect(diffPlans(read([plan]), read([{ ...plan, ...change }])).updated).toEqual(['a'])
  }
})
