/** The balances that a ledger adds up to: what the store keeps beside it is a cache of this. */
import { type BudgetState, NOTHING_SPENT, openAt, withHold } from '../core/budget.ts'
import type { Key } from '../core/store.ts'
import type { Instant } from '../core/time.ts'
import type { LedgerEntry, Pot } from './entry.ts'
import type { Keys } from './keys.ts'
import { limitedNodesOf, nodesOf } from './party.ts'
import { shiftNode } from './sheet.ts'

export interface FoldedNode {
  readonly node: string
  readonly window: Instant
  readonly state: BudgetState
}

/** By the key that the balance is kept under. */
export type Fold = Map<Key, FoldedNode>

export const foldEntry = (fold: Fold, keys: Keys, entry: LedgerEntry): void => {
  const { window, party, totals = [], expiresAt, at } = entry
  const change = (node: string, next: (state: BudgetState) => BudgetState): void => {
    const key = keys.node(window, node)
    const state = fold.get(key)?.state ?? NOTHING_SPENT
    fold.set(key, { node, window, state: next(state) })
  }
  for (const { node, spent } of totals) {
    change(node, (state) => ({ ...state, spent: state.spent + spent }))
  }
  const held = moved(entry, 'to', 'held')
  const freed = moved(entry, 'from', 'held')
  const spent = moved(entry, 'to', 'spent')
  if (party === undefined || held + freed + spent === 0n) return
  for (const node of freed + spent === 0n ? [] : nodesOf(party)) {
    change(node, (state) => shiftNode(state, { freed, expiresAt, spent }, at))
  }
  if (held === 0n || expiresAt === undefined) return
  for (const node of limitedNodesOf(party)) {
    change(node, (state) => withHold(openAt(state, at), { expiresAt, amount: held }))
  }
}

/** What an entry moves into or out of one pot. */
export const moved = ({ moves }: LedgerEntry, side: 'from' | 'to', pot: Pot): bigint =>
  moves.reduce((sum, move) => (move[side] === pot ? sum + move.amount : sum), 0n)
