/**
 * Grants as they stood at the checkpoint, one value for each plan that has any: in the checkpoint itself
 * some thousand would not fit. It carries their number and hash instead.
 */
import { createHash } from 'node:crypto'
import { itemOf } from '../../core/names.ts'
import type { Store, Value, Write } from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'
import type { SpendingKeys } from '../keys.ts'
import { readMoney, writeMoney } from '../money-json.ts'
import { type Funds, stillUseful } from '../plans/funds.ts'
import { type Fold, fundsAccount } from './account.ts'
import type { Checkpoint, CheckpointGrants } from './checkpoint.ts'
import type { Finding } from './finding.ts'
import { readIndex } from './pages.ts'

/** By plan, as they are kept. */
export type GrantsThen = ReadonlyMap<string, Value>

/** Values written with one checkpoint. */
const MAX_CHANGED = 10_000

export const readGrantsThen = async (store: Store, keys: SpendingKeys): Promise<GrantsThen> => {
  const found = new Map<string, Value>()
  for await (const { key, value } of readIndex(store, keys.grantsThenList)) {
    found.set(itemOf(key), value)
  }
  return found
}

/** The books as they begin after a checkpoint. Throws for a value that was tampered with. */
export const foldGrantsThen = (fold: Fold, keys: SpendingKeys, grants: GrantsThen): void => {
  for (const [plan, value] of grants) {
    fold.set(keys.funds(plan), fundsAccount(plan, readMoney<Pick<Funds, 'grants'>>(value)))
  }
}

export const hashOfGrants = (grants: GrantsThen): CheckpointGrants => {
  if (grants.size === 0) return { plans: 0, hash: '' }
  const hash = createHash('sha256')
  // Stores list in the order of bytes, which is not that of our texts.
  for (const text of Array.from(grants, ([plan, value]) => `${plan}\n${value}\n`).sort()) {
    hash.update(text)
  }
  return { plans: grants.size, hash: hash.digest('base64url') }
}

/** Only what the checkpoint vouches for is gone by. */
export const checkGrants = (
  kept: GrantsThen,
  { grants }: Checkpoint,
): { readonly grants: GrantsThen; readonly finding?: Finding } => {
  const found = hashOfGrants(kept)
  if (found.hash === grants.hash) return { grants: kept }
  const say = ({ plans, hash }: CheckpointGrants): string =>
    `of ${plans} plans, ${hash || 'no hash'}`
  const face = { kind: 'checkpoint-differs', what: 'grants at the checkpoint' } as const
  return { grants: new Map(), finding: { ...face, ledger: say(grants), kept: say(found) } }
}

interface GrantsMoved {
  readonly writes: readonly Write[]
  readonly hash: CheckpointGrants
}

/**
 * From one checkpoint to the next: of the plans that entries in between named, and of as many others as
 * fit, whose grants may have expired meanwhile.
 */
export const moveGrants = (
  keys: SpendingKeys,
  before: GrantsThen,
  { fold, named, at }: { fold: Fold; named: ReadonlySet<string>; at: Instant },
): GrantsMoved => {
  const next = new Map(before)
  const writes: Write[] = []
  for (const plan of new Set([...named, ...before.keys()])) {
    if (writes.length === MAX_CHANGED) break
    const account = fold.get(keys.funds(plan))
    const grants = account?.form === 'funds' ? stillUseful(account.funds.grants, at) : []
    const key = keys.grantsThen(plan)
    const value = grants.length === 0 ? undefined : writeMoney({ grants })
    if (value === next.get(plan)) continue
    if (value === undefined) {
      next.delete(plan)
      writes.push({ key })
    } else {
      next.set(plan, value)
      writes.push({ key, value })
    }
  }
  return { writes, hash: hashOfGrants(next) }
}
