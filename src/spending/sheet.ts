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
  /** When the hold ends by itself; absent where nothing was held. */
  readonly expiresAt?: Instant | undefined
  readonly spent: bigint
}

export const shift = (sheet: Sheet, by: Shift, now: Instant): ReadonlyMap<string, BudgetState> =>
  new Map([...sheet].map(([node, stored]) => [node, shiftNode(stored, by, now)]))

export const shiftNode = (
  stored: BudgetState = NOTHING_SPENT,
  { freed, expiresAt, spent }: Shift,
  now: Instant,
): BudgetState => {
  const state = openAt(stored, now)
  // What has expired is gone already, and time does not run back, so nobody else stands there.
  const ended = expiresAt === undefined ? state : endHold(state, { expiresAt, amount: freed })
  return { ...ended, spent: ended.spent + spent }
}

/** When a hold ends that should end at `expiresAt`: alike on all nodes, as the most crowded has it. */
export const expiryOn = (sheet: Sheet, expiresAt: Instant, now: Instant): Instant =>
  [...sheet.values()].reduce((soonest: Instant, stored) => {
    const entered = holdExpiry(openAt(stored ?? NOTHING_SPENT, now), expiresAt, now)
    return entered < soonest ? entered : soonest
  }, expiresAt)

export const heldIn = (state: BudgetState | undefined, now: Instant): bigint =>
  state === undefined ? 0n : totalHeld(state, now)
