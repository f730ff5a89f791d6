/** The balances that a ledger adds up to: what the store keeps beside it is a cache of this. */
import { type BudgetState, type Hold, NOTHING_SPENT } from '../core/budget.ts'
import type { Key } from '../core/store.ts'
import type { Instant } from '../core/time.ts'
import type { LedgerEntry, Pot } from './entry.ts'
import type { Keys } from './keys.ts'
import { nodesOf } from './party.ts'
import { shift } from './sheet.ts'

export interface FoldedNode {
  readonly node: string
  readonly window: Instant
  readonly state: BudgetState
}

/** By the key that the balance is kept under. */
export type Fold = Map<Key, FoldedNode>

export const foldEntry = (fold: Fold, keys: Keys, entry: LedgerEntry): void => {
  const { window, party, totals = [], place, at } = entry
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
  for (const node of nodesOf(party)) {
    change(node, (state) => {
      const shifted = shift(new Map([[node, state]]), { freed, place, spent }, at).get(node)
      const expiresAt = place?.until?.[node] ?? place?.expiresAt
      return held > 0n && shifted !== undefined && expiresAt !== undefined
        ? { ...shifted, held: withHold(shifted.held, { expiresAt, amount: held }) }
        : (shifted ?? state)
    })
  }
}

/** What an entry moves into or out of one pot. */
export const moved = ({ moves }: LedgerEntry, side: 'from' | 'to', pot: Pot): bigint =>
  moves.reduce((sum, move) => (move[side] === pot ? sum + move.amount : sum), 0n)

function withHold(held: readonly Hold[], hold: Hold): readonly Hold[] {
  const same = held.find(({ expiresAt }) => expiresAt === hold.expiresAt)
  const amount = hold.amount + (same?.amount ?? 0n)
  return [...held.filter((other) => other !== same), { ...hold, amount }].toSorted(
    (a, b) => a.expiresAt - b.expiresAt,
  )
}
