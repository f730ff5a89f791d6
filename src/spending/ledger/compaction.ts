/**
 * Compaction: ledger entries and balances of windows that ended long ago make room. What operators did is
 * kept for good, word for word; of the rest a checkpoint stays, an entry of the chain that says what it
 * came to and carries the hash of what it replaces.
 *
 * In bites, each one commit: whoever comes between sees the books before it or after it.
 */
import { formatDuration } from '../../core/duration.ts'
import { itemOf } from '../../core/names.ts'
import { type Append, answer, type Commit, type Store, type View } from '../../core/store.ts'
import { type Instant, instant, span } from '../../core/time.ts'
import { maxAmount } from '../amount.ts'
import { FAMILY, shiftsOf, TOTAL } from '../flow/balances.ts'
import { type PayerView, REMEMBER_FOR, toCommit } from '../flow/step.ts'
import type { SpendingKeys } from '../keys.ts'
import { spendingMistake } from '../mistake.ts'
import { stillUseful } from '../plans/funds.ts'
import type { SpendingSettings } from '../plans/plan.ts'
import { type Fold, fundsAccount } from './account.ts'
import { archiveHash, type Compacted, readCompacted, writeCompacted } from './checkpoint.ts'
import { type LedgerEntry, outlivesCompaction, type WindowSum } from './entry.ts'
import { decodeEntry, hashOfEntry } from './entry-text.ts'
import { foldFunds, moved } from './fold.ts'
import { LEDGER_PAGE, pagesOf, readStream } from './pages.ts'

export interface Compaction {
  /** Entries that were replaced; those that were kept word for word among them. */
  readonly entries: number
  /** Balances that were removed. */
  readonly balances: number
}

const NOTHING_DONE: Compaction = { entries: 0, balances: 0 }

/** Entries replaced at once: a second's work. Those of them that are kept fit into one commit. */
const MAX_REPLACED = 50_000

/** Sums in one checkpoint: some 400 kB. */
const MAX_SUMS = 4_000

/** Does nothing without a policy, and nothing to windows that could still be settled. */
export const compactLedger = async (
  store: Store,
  keys: SpendingKeys,
  open: (view: View) => PayerView,
): Promise<Compaction> => {
  let done = NOTHING_DONE
  for (;;) {
    const before = await store.transact((view) => answer(openingOf(open(view))))
    if (before.cutoff === undefined) return done
    // A crash may have come between the last checkpoint and what it lets go.
    await store.trim(keys.ledger, before.compacted.position)
    const balances = await removeBalances(store, keys, before.compacted.before)
    done = { ...done, balances: done.balances + balances }
    const found = await collect(store, keys, before.cutoff, before.compacted)
    if (found.entries === 0) return done
    const entries = await store.transact((view) => replace(open(view), before.compacted, found))
    done = { ...done, entries: done.entries + entries }
  }
}

interface Opening {
  readonly compacted: Compacted
  /** Windows that started before it have ended long enough ago. */
  readonly cutoff: Instant | undefined
}

function openingOf(view: PayerView): Opening {
  const { settings, keys, calendar } = view
  const { compactAfter, window } = settings
  const compacted = readCompacted(view, keys)
  if (compactAfter === undefined) return { compacted, cutoff: undefined }
  checkCompaction(settings)
  const cutoff = Math.min(view.now - compactAfter - window.length, calendar.window.startsAt)
  return { compacted, cutoff: instant(Math.max(0, cutoff)) }
}

interface Collected {
  readonly next: Compacted
  readonly sums: readonly WindowSum[]
  readonly kept: readonly string[]
  readonly entries: number
}

/** From the start up to the first entry of a window that must stay. */
async function collect(
  store: Store,
  keys: SpendingKeys,
  cutoff: Instant,
  compacted: Compacted,
): Promise<Collected> {
  const sums = windowSums()
  const grants: Fold = new Map(
    compacted.funds.map(({ plan, grants }) => [keys.funds(plan), fundsAccount(plan, { grants })]),
  )
  const kept: string[] = []
  let next: Compacted = { ...compacted, before: laterOf(compacted.before, cutoff) }
  let entries = 0
  let at = instant(0)
  for await (const { position, entry: text } of readStream(store, keys.ledger)) {
    const entry = decodeEntry(text)
    if (entry.seq <= compacted.through) continue
    if (entry.window >= cutoff || entries === MAX_REPLACED || sums.size() >= MAX_SUMS) break
    entries += 1
    sums.add(entry)
    foldFunds(grants, keys, entry)
    at = entry.at
    if (outlivesCompaction(entry)) {
      kept.push(text)
      const archive = archiveHash(next.archive, text)
      next = { ...next, archived: next.archived + 1, archive }
    }
    next = {
      ...next,
      spent: next.spent + spentIn(entry),
      reading: entry.reading ?? next.reading,
      through: entry.seq,
      hash: hashOfEntry(text),
      position: position + 1,
    }
  }
  return { next: { ...next, funds: usefulFunds(grants, at) }, sums: sums.list(), kept, entries }
}

/** Of every plan that has grants which can still be used. */
function usefulFunds(grants: Fold, at: Instant): Compacted['funds'] {
  return [...grants].flatMap(([key, account]) => {
    const useful = account.form === 'funds' ? stillUseful(account.funds.grants, at) : []
    return useful.length === 0 ? [] : [{ plan: itemOf(key), grants: useful }]
  })
}

const laterOf = (a: Instant, b: Instant): Instant => (a > b ? a : b)

const spentIn = (entry: LedgerEntry): bigint =>
  maxAmount(0n, moved(entry, 'to', 'spent') - moved(entry, 'from', 'spent'))

/** All that a report shows: few for a window, however many plans and members there are. */
const SUMMED = [TOTAL, 'operation/', 'mode/', 'tier/', FAMILY]

function windowSums() {
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

function replace(view: PayerView, before: Compacted, found: Collected): Commit<number> {
  const { keys, calendar } = view
  // Another server was here first.
  if (readCompacted(view, keys).through !== before.through) return answer(0)
  const { next, sums, kept, entries } = found
  const { position: _, ...checkpoint } = next
  const commit = toCommit(view, {
    result: entries,
    writes: [writeCompacted(keys, next)],
    entries: [
      {
        kind: 'checkpoint',
        window: calendar.window.startsAt,
        moves: [],
        checkpoint,
        sums,
        detail: `in place of ${entries} entries up to number ${checkpoint.through}`,
      },
    ],
  })
  const archived = kept.map((entry): Append => ({ stream: keys.archive, entry }))
  return { ...commit, appends: [...commit.appends, ...archived] }
}

/** Of every window that started before; answers how many there were. The window's own name goes last. */
async function removeBalances(store: Store, keys: SpendingKeys, before: Instant): Promise<number> {
  let removed = 0
  for await (const page of pagesOf(store, keys.windows)) {
    const gone = page.filter(({ key }) => Number(itemOf(key)) < before)
    for (const { key } of gone) {
      const window = instant(Number(itemOf(key)))
      for await (const balances of pagesOf(store, keys.balances(window))) {
        await remove(
          store,
          balances.map((balance) => balance.key),
        )
        removed += balances.length
      }
      await remove(store, [key])
    }
    if (gone.length < LEDGER_PAGE) break
  }
  return removed
}

const remove = (store: Store, names: readonly string[]): Promise<void> =>
  store.transact(() => ({
    writes: names.map((key) => ({ key })),
    appends: [],
    result: undefined,
  }))

type CompactionPolicy = Pick<SpendingSettings, 'compactAfter' | 'holdFor' | 'rememberFor'>

/** A window may not be compacted while a hold of it could still settle. */
export const checkCompaction = (policy: CompactionPolicy): void => {
  const { compactAfter, holdFor, rememberFor = REMEMBER_FOR } = policy
  const needed = span(holdFor + rememberFor)
  if (compactAfter === undefined || compactAfter >= needed) return
  const rule = `must be at least holdFor and rememberFor together, ${formatDuration(needed)}, or holds could not settle`
  throw spendingMistake('COMPACTION_TOO_SOON', 'compactAfter', rule, formatDuration(compactAfter))
}
