/**
 * Compaction: ledger entries and balances of windows that ended long ago make room. What operators did is
 * kept for good, word for word; of the rest a checkpoint stays, an entry of the chain that says what it
 * came to and carries the hash of what it replaces.
 *
 * In bites, each one commit: whoever comes between sees the books before it or after it.
 */
import { formatDuration } from '../../core/duration.ts'
import { assert } from '../../core/errors.ts'
import { itemOf } from '../../core/names.ts'
import {
  type Append,
  answer,
  type Commit,
  type Store,
  type View,
  type Write,
} from '../../core/store.ts'
import { type Instant, instant, span } from '../../core/time.ts'
import { maxAmount } from '../amount.ts'
import { MAX_LIFETIME } from '../flow/hold.ts'
import { type PayerView, REMEMBER_FOR, toCommit } from '../flow/step.ts'
import { isImplicitId, type SpendingKeys } from '../keys.ts'
import { spendingMistake } from '../mistake.ts'
import type { SpendingSettings } from '../plans/plan.ts'
import type { Fold } from './account.ts'
import {
  archiveHash,
  type Compacted,
  readCompacted,
  windowSums,
  writeCompacted,
} from './checkpoint.ts'
import { foldGrantsThen, hashOfGrants, moveGrants, readGrantsThen } from './checkpoint-grants.ts'
import { type LedgerEntry, moved, outlivesCompaction, type WindowSum } from './entry.ts'
import { decodeEntry, hashOfEntry } from './entry-text.ts'
import { foldFunds } from './fold.ts'
import { LEDGER_PAGE, pagesOf, readStream } from './pages.ts'

export interface Compaction {
  /** Entries that were replaced; those that were kept word for word among them. */
  readonly entries: number
  /** Balances that were removed. */
  readonly balances: number
}

const NOTHING_DONE: Compaction = { entries: 0, balances: 0 }

/** Entries replaced at once: a second's work. Those of them that are kept fit into one commit. */
const MAX_REPLACED = 40_000

/** Plans that they may be of: what is kept of each fits into the same commit. */
const MAX_PLANS = 5_000

/** Sums in one checkpoint: some 300 kB, and below the bound of a value however large the sums. */
const MAX_SUMS = 3_000

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
    const balances = await letGo(store, keys, before.compacted)
    done = { ...done, balances: done.balances + balances }
    const found = await collect(store, keys, before.cutoff, before.compacted)
    if (found.entries === 0) return done
    const entries = await store.transact((view) => replace(open(view), before.compacted, found))
    done = { ...done, entries: done.entries + entries }
  }
}

/** What the checkpoint in force replaces, which a crash may have left; answers how many balances. */
export const letGo = async (
  store: Store,
  keys: SpendingKeys,
  { position, before }: Compacted,
): Promise<number> => {
  await store.trim(keys.ledger, position)
  return removeBalances(store, keys, before)
}

interface Opening {
  readonly compacted: Compacted
  /** Windows that started before it have ended long enough ago. */
  readonly cutoff: Instant | undefined
}

function openingOf(view: PayerView): Opening {
  const { settings, keys, calendar } = view
  const { compactAfter } = settings
  const compacted = readCompacted(view, keys)
  if (compactAfter === undefined) return { compacted, cutoff: undefined }
  checkCompaction(settings)
  const { window, previous = window } = calendar
  // As long as windows were before the last change of their length, too.
  const lengths = [window, previous].map(({ startsAt, endsAt }) => endsAt - startsAt)
  const length = Math.max(settings.window.length, ...lengths)
  const cutoff = Math.min(view.now - compactAfter - length, window.startsAt)
  return { compacted, cutoff: instant(Math.max(0, cutoff)) }
}

interface Collected {
  readonly next: Compacted
  readonly sums: readonly WindowSum[]
  readonly kept: readonly string[]
  readonly entries: number
  /** Those that the entries are of. */
  readonly plans: ReadonlySet<string>
  /** Of their grants, as they stand at the checkpoint. */
  readonly grants: readonly Write[]
  /** Whether those of the last checkpoint were still as it says. */
  readonly sound: boolean
}

/** From the start up to the first entry of a window that must stay. */
async function collect(
  store: Store,
  keys: SpendingKeys,
  cutoff: Instant,
  compacted: Compacted,
): Promise<Collected> {
  const sums = windowSums()
  const grants = await readGrantsThen(store, keys)
  const sound = hashOfGrants(grants).hash === compacted.grants.hash
  const fold: Fold = new Map()
  if (sound) foldGrantsThen(fold, keys, grants)
  const plans = new Set<string>()
  const kept: string[] = []
  let next: Compacted = { ...compacted, before: laterOf(compacted.before, cutoff) }
  let entries = 0
  let at = instant(0)
  for await (const { position, entry: text } of readStream(store, keys.ledger)) {
    const entry = decodeEntry(text)
    if (entry.seq <= compacted.through) continue
    const isFull = entries === MAX_REPLACED || sums.size() >= MAX_SUMS || plans.size >= MAX_PLANS
    if (entry.window >= cutoff || isFull) break
    entries += 1
    sums.add(entry)
    foldFunds(fold, keys, entry)
    if (entry.party?.plan !== undefined) plans.add(entry.party.plan)
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
      calendar: entry.opens ?? next.calendar,
      through: entry.seq,
      hash: hashOfEntry(text),
      position: position + 1,
    }
  }
  const then = moveGrants(keys, grants, { fold, named: plans, at })
  next = { ...next, grants: then.hash }
  return { next, sums: sums.list(), kept, entries, plans, grants: then.writes, sound }
}

const laterOf = (a: Instant, b: Instant): Instant => (a > b ? a : b)

const spentIn = (entry: LedgerEntry): bigint =>
  maxAmount(0n, moved(entry, 'to', 'spent') - moved(entry, 'from', 'spent'))

function replace(view: PayerView, before: Compacted, found: Collected): Commit<number> {
  const { keys, calendar } = view
  // Another server was here first.
  if (readCompacted(view, keys).through !== before.through) return answer(0)
  // A new checkpoint would vouch for what somebody changed.
  assert(found.sound, 'grants at the checkpoint are as it says; ledger verify tells more')
  const { next, sums, kept, entries } = found
  const { position: _, ...checkpoint } = next
  const commit = toCommit(view, {
    result: entries,
    writes: [writeCompacted(keys, next), ...found.grants, ...trailsGone(view, found)],
    calendar: { ...calendar, compacted: next.before },
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

/**
 * Members come and go without end, so the trail of a member's own plan goes with its last entry. The plan
 * is known without it.
 */
function trailsGone({ read, keys }: PayerView, { plans, next }: Collected): readonly Write[] {
  const trails = [...plans].filter(isImplicitId).map((plan) => keys.trail(plan))
  const newest = read(...trails)
  return trails.flatMap((key, i) => (Number(newest[i]) <= next.through ? [{ key }] : []))
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

/** A window may not be compacted while a hold of it is open: each may name a lifetime of its own. */
export const checkCompaction = (policy: CompactionPolicy): void => {
  const { compactAfter, holdFor, rememberFor = REMEMBER_FOR } = policy
  const needed = span(Math.max(holdFor, MAX_LIFETIME) + rememberFor)
  if (compactAfter === undefined || compactAfter >= needed) return
  const rule = `must be at least ${formatDuration(needed)}, the longest life of a hold and rememberFor together, or holds could not settle`
  throw spendingMistake('COMPACTION_TOO_SOON', 'compactAfter', rule, formatDuration(compactAfter))
}
