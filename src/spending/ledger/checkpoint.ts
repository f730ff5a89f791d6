/** What a compaction leaves: an entry that vouches for what it replaces, and a copy of it for readers who start there. */
import { createHash } from 'node:crypto'
import type { View } from '../../core/store.ts'
import { type Instant, instant } from '../../core/time.ts'
import { FAMILY, shiftsOf, TOTAL } from '../flow/balances.ts'
import type { SpendingKeys } from '../keys.ts'
import { readMoney, writeMoney } from '../money-json.ts'
import {
  type KeptReading,
  type LedgerEntry,
  moved,
  type OpenedWindow,
  type WindowSum,
} from './entry.ts'

/** Entries up to `through` are gone; the balances of windows that started before `before` too. */
export interface Checkpoint {
  readonly through: number
  /** Of the last entry that it replaces: the next one carries it. */
  readonly hash: string
  readonly before: Instant
  /** What the payer had ever spent by then. */
  readonly spent: bigint
  /** How many entries outlived all compactions so far, and the hash over all of them. */
  readonly archived: number
  readonly archive: string
  /** The newest reading of the balance by then. */
  readonly reading?: KeptReading | undefined
  /** Which window the replaced entries opened last. */
  readonly calendar?: OpenedWindow | undefined
  /** Grants that could still be used then are kept beside it, as they stood. */
  readonly grants: CheckpointGrants
}

export interface CheckpointGrants {
  /** How many plans have any. */
  readonly plans: number
  /** Over all of them; '' where there are none. */
  readonly hash: string
}

/** The checkpoint in force, and where the ledger now begins. */
export interface Compacted extends Checkpoint {
  /** Of the first entry that was kept. */
  readonly position: number
}

const NOTHING: Compacted = {
  through: 0,
  hash: '',
  before: instant(0),
  spent: 0n,
  archived: 0,
  archive: '',
  grants: { plans: 0, hash: '' },
  position: 0,
}

export const readCompacted = (view: Pick<View, 'read'>, keys: SpendingKeys): Compacted => {
  const [value] = view.read(keys.compacted)
  return value === undefined ? NOTHING : readMoney<Compacted>(value)
}

export const writeCompacted = (keys: SpendingKeys, compacted: Compacted) => ({
  key: keys.compacted,
  value: writeMoney(compacted),
})

/** The hash over an archive with one more entry in it. */
export const archiveHash = (before: string, text: string): string =>
  createHash('sha256').update(`${before}\n${text}`).digest('base64url')

/** All that a report shows: few for a window, however many plans and members there are. */
const SUMMED = [TOTAL, 'operation/', 'mode/', 'tier/', FAMILY]

/** What the entries that it replaces come to. */
export const windowSums = () => {
  const sums = new Map<string, WindowSum>()
  return {
    size: () => sums.size,
    list: () => [...sums.values()],
    add: (entry: LedgerEntry): void => {
      const { party, paid, window } = entry
      const [spent, unspent] = [moved(entry, 'to', 'spent'), moved(entry, 'from', 'spent')]
      if (party === undefined || spent + unspent === 0n) return
      for (const [budget, { spent: more }] of shiftsOf({
        party,
        paid,
        freed: 0n,
        spent,
        unspent,
      })) {
        if (!SUMMED.some((prefix) => budget.startsWith(prefix))) continue
        const name = `${window} ${budget}`
        sums.set(name, { window, budget, spent: (sums.get(name)?.spent ?? 0n) + more })
      }
    },
  }
}
