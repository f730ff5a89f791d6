/**
 * Grants that a fast clock let expire: whoever charged the plan meanwhile dropped them, though they can
 * still be used. The ledger has them, so a repair of the clock puts them back.
 */
import { answer, type Store, type View, type Write } from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'
import type { PayerView } from '../flow/step.ts'
import { readMoney, writeMoney } from '../money-json.ts'
import { type Funds, type Grant, inOrderOfUse, NO_FUNDS, stillUseful } from '../plans/funds.ts'
import type { Fold } from './account.ts'
import { readCompacted } from './checkpoint.ts'
import { foldGrantsThen, readGrantsThen } from './checkpoint-grants.ts'
import { foldFunds } from './fold.ts'
import { readStream } from './pages.ts'
import { entryIn } from './walk.ts'

export interface GrantsOnRecord {
  /** How many entries there were: what was read of a longer ledger is not all. */
  readonly entries: number
  /** By plan. */
  readonly grants: ReadonlyMap<string, readonly Grant[]>
}

/** Reads the whole ledger: a clock is repaired seldom, and by hand. */
export const grantsOnRecord = async (
  store: Store,
  open: (view: View) => PayerView,
): Promise<GrantsOnRecord> => {
  const { keys, entries, through } = await store.transact((view) => {
    const { keys, stored } = open(view)
    const { through } = readCompacted(view, keys)
    return answer({ keys, entries: stored?.entries ?? 0, through })
  })
  const fold: Fold = new Map()
  foldGrantsThen(fold, keys, await readGrantsThen(store, keys))
  const plans = new Set<string>()
  for await (const { entry: text } of readStream(store, keys.ledger)) {
    const entry = entryIn(text)
    if (entry === undefined || entry.seq <= through) continue
    if (entry.seq > entries) break
    foldFunds(fold, keys, entry)
    if (entry.party?.plan !== undefined) plans.add(entry.party.plan)
  }
  const grants = new Map<string, readonly Grant[]>()
  for (const plan of plans) {
    const account = fold.get(keys.funds(plan))
    if (account?.form === 'funds') grants.set(plan, account.funds.grants)
  }
  return { entries, grants }
}

/** Those that can be used at that time and are not kept. Only plans that were charged can have lost any. */
export const putBack = (
  { read, keys }: Pick<PayerView, 'read' | 'keys'>,
  { grants }: GrantsOnRecord,
  now: Instant,
): readonly Write[] => {
  const usable = [...grants].flatMap(([plan, given]) => {
    const useful = stillUseful(given, now)
    return useful.length === 0 ? [] : [{ key: keys.funds(plan), useful }]
  })
  const values = read(...usable.map(({ key }) => key))
  return usable.flatMap(({ key, useful }, i) => {
    const value = values[i]
    const funds = value === undefined ? NO_FUNDS : readMoney<Funds>(value)
    const lost = useful.filter(({ id }) => funds.grants.every((grant) => grant.id !== id))
    if (lost.length === 0) return []
    const all = inOrderOfUse([...funds.grants, ...lost])
    return [{ key, value: writeMoney({ ...funds, grants: all }) }]
  })
}
