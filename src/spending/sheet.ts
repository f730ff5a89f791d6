/** The balances of one charge: every account of its party, read and written together. */
import {
  type BudgetState,
  endHold,
  holdExpiry,
  NOTHING_SPENT,
  openAt,
  totalHeld,
} from '../core/budget.ts'
import { decodeBudget, encodeBudget } from '../core/codec.ts'
import type { Write } from '../core/store.ts'
import type { Instant } from '../core/time.ts'
import type { Context } from './context.ts'
import type { HoldPlace } from './entry.ts'
import { OUTFLOW } from './keys.ts'

/** By node; undefined where nothing is kept yet. */
export type Sheet = ReadonlyMap<string, BudgetState | undefined>

export const readSheet = (
  { view, keys }: Context,
  window: Instant,
  nodes: readonly string[],
): Sheet => {
  const values = view.read(...nodes.map((node) => keys.node(window, node)))
  return new Map(
    nodes.map((node, i) => {
      const value = values[i]
      return [node, value === undefined ? undefined : decodeBudget(value)]
    }),
  )
}

export const writeSheet = (
  context: Context,
  window: Instant,
  sheet: ReadonlyMap<string, BudgetState>,
): readonly Write[] =>
  [...sheet].map(([node, state]) =>
    indexed(context, window, node, {
      key: context.keys.node(window, node),
      value: encodeBudget(state),
    }),
  )

/** Listed for people: a plan's balances under the plan, all others under their window. */
export const indexed = ({ keys }: Context, window: Instant, node: string, write: Write): Write => {
  if (node === OUTFLOW) return write
  const plan = node.startsWith('plan/') ? node.slice('plan/'.length) : undefined
  return { ...write, index: plan === undefined ? keys.window(window) : keys.usage(plan) }
}

/** The part of a hold that ends, and what is spent with it. */
export interface Shift {
  readonly freed: bigint
  readonly place?: HoldPlace | undefined
  readonly spent: bigint
}

export const shift = (sheet: Sheet, by: Shift, now: Instant): ReadonlyMap<string, BudgetState> =>
  new Map([...sheet].map(([node, stored]) => [node, shiftNode(node, stored, by, now)]))

export const shiftNode = (
  node: string,
  stored: BudgetState = NOTHING_SPENT,
  { freed, place, spent }: Shift,
  now: Instant,
): BudgetState => {
  const state = openAt(stored, now)
  const expiresAt = place && placeOn(node, place)
  // What has expired is gone already, and time does not run back, so nobody else stands there.
  const ended = expiresAt === undefined ? state : endHold(state, { expiresAt, amount: freed })
  return { ...ended, spent: ended.spent + spent }
}

/** Where on this node a hold is entered. */
export const placeOn = (node: string, { until, expiresAt }: HoldPlace): Instant =>
  until?.[node] ?? expiresAt

/** The nodes that would enter a hold later than it ends, because many are open on them. */
export const roundedExpiries = (
  sheet: Sheet,
  expiresAt: Instant,
  now: Instant,
): Readonly<Record<string, Instant>> | undefined => {
  const rounded = [...sheet].flatMap(([node, stored]) => {
    const entered = holdExpiry(openAt(stored ?? NOTHING_SPENT, now), expiresAt, now)
    return entered === expiresAt ? [] : [[node, entered] as const]
  })
  return rounded.length === 0 ? undefined : Object.fromEntries(rounded)
}

export const heldIn = (state: BudgetState | undefined, now: Instant): bigint =>
  state === undefined ? 0n : totalHeld(state, now)
