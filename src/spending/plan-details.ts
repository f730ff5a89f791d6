/** One plan as it is known: from the file or the store, and who was linked to it while Headgate ran. */
import { answer, type Store, type View } from '../core/store.ts'
import type { Context } from './context.ts'
import type { Keys } from './keys.ts'
import type { Plan } from './plan.ts'
import { requirePlan } from './plans-admin.ts'
import { PAGE } from './report.ts'

export interface PlanDetails {
  readonly plan: Plan
  /** Addresses and IPs, in the order of their text. Those of the file are in the file. */
  readonly links: readonly string[]
}

export const planDetails = async (
  store: Store,
  keys: Keys,
  open: (view: View) => Context,
  id: string,
): Promise<PlanDetails> => {
  const plan = await store.transact((view) => answer(requirePlan(open(view), id)))
  const links: string[] = []
  const start = keys.link('')
  let after = ''
  for (;;) {
    const page = await store.range(keys.links(plan.id), after, PAGE)
    for (const { key } of page) {
      links.push(key.slice(start.length))
      after = key
    }
    if (page.length < PAGE) return { plan, links }
  }
}
