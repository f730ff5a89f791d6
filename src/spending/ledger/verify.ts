/**
 * Verification: walks the chain, recomputes every account from the entries, and reports where what is kept
 * differs. It goes on from where it was, in bites: the next round reads only what is new.
 *
 * May run while money is spent: each chunk of values is read together with the number of entries written
 * by then, and compared with exactly that many.
 */
import { itemOf } from '../../core/names.ts'
import { answer, type Key, type Store, type Value, type View } from '../../core/store.ts'
import { type Instant, instant } from '../../core/time.ts'
import { openHoldIn } from '../flow/open-holds.ts'
import { type PayerView, REMEMBER_FOR } from '../flow/step.ts'
import { OUTFLOW, type SpendingKeys } from '../keys.ts'
import { isMadeLink } from '../plans/resolve.ts'
import {
  type Account,
  budgetAccount,
  driftOf,
  type Fold,
  fundsAccount,
  linkAccount,
  listingAccount,
  NO_READING,
  planAccount,
  unspokenAccount,
} from './account.ts'
import { type Compacted, readCompacted } from './checkpoint.ts'
import { checkGrants, foldGrantsThen, readGrantsThen } from './checkpoint-grants.ts'
import type { Finding, Verification } from './finding.ts'
import { changeBudget, foldEntry, foldOfOperators, foldReading } from './fold.ts'
import { foldCalendarThen } from './fold-records.ts'
import { chunksOf, LEDGER_PAGE, readIndex } from './pages.ts'
import { type Anchor, chainWalk, checkArchive, entryIn } from './walk.ts'

/** Values compared in one transaction: other callers wait no longer than for this many reads. */
const CHUNK = 500

/** Of what, and in which store. */
export interface AuditOf {
  readonly store: Store
  readonly keys: SpendingKeys
  readonly open: (view: View) => PayerView
  readonly anchor?: Anchor | undefined
}

/**
 * Round after round without end. Undefined after each bite of a bounded size, where whoever asks may pause;
 * a verification at the end of each round. Accounts that nothing can change any more are compared once.
 */
export async function* auditRounds(of: AuditOf): AsyncGenerator<Verification | undefined, never> {
  let books = await openBooks(of)
  let time = instant(0)
  for (;;) {
    const before = await look(of, [])
    // What was compacted before it was read here is only known from its checkpoint, and what was let go
    // by a clock that was fast can change again.
    if (before.compacted.through > books.walk.number || before.now < time) {
      books = await openBooks(of)
    }
    time = before.now
    yield* books.readUpTo(before)
    const drifts: Finding[] = []
    let accounts = 0
    let last = before
    for await (const chunk of chunksOf(accountsOf(of, books), CHUNK)) {
      last = await look(
        of,
        chunk.map(([key]) => key),
      )
      yield* books.readUpTo(last)
      drifts.push(...driftsIn(books, chunk, last))
      accounts += chunk.length
      yield undefined
    }
    const beyond = await beyondHead(of, books, last)
    yield resultOf(of, books, [...beyond, ...drifts], accounts)
    books.forget(last)
  }
}

/** One round, from the start. */
export const verifyLedger = async (of: AuditOf): Promise<Verification> => {
  for await (const found of auditRounds(of)) if (found !== undefined) return found
  throw new Error('rounds have no end')
}

interface Look {
  readonly now: Instant
  readonly entries: number
  readonly head: string
  readonly compacted: Compacted
  /** Nothing of windows that started before it can change any more. */
  readonly quietBefore: Instant
  /** The entries of holds that were made before it may be forgotten, though a few may still be open. */
  readonly knownSince: Instant
  readonly values: readonly (Value | undefined)[]
}

/** The calendar, the checkpoint and some values, of one moment. */
const look = ({ store, keys, open }: AuditOf, names: readonly Key[]): Promise<Look> =>
  store.transact(
    (view) => {
      const payer = open(view)
      const { calendar, settings, stored } = payer
      const { holdFor, rememberFor = REMEMBER_FOR, window } = settings
      const quiet = calendar.seen - window.length - holdFor - rememberFor
      const quietBefore = instant(Math.max(0, Math.min(quiet, calendar.window.startsAt)))
      const compacted = readCompacted(view, keys)
      return answer({
        now: calendar.seen,
        entries: stored?.entries ?? 0,
        head: stored?.head ?? '',
        compacted,
        quietBefore,
        knownSince: instant(Math.max(compacted.before, quietBefore) + window.length),
        values: view.read(...names),
      })
    },
    [keys.calendar, keys.compacted, ...names],
    'look',
  )

type Books = Awaited<ReturnType<typeof openBooks>>

/** The books as the checkpoint left them. */
async function openBooks(of: AuditOf) {
  const { store, keys, anchor } = of
  const opening = await openingOf(of)
  const { compacted } = opening
  const walk = chainWalk(compacted, anchor)
  for (const finding of opening.findings) walk.find(finding)
  const fold: Fold = new Map()
  if (compacted.spent > 0n) {
    changeBudget(fold, keys, OUTFLOW, instant(0), (state) => ({ ...state, spent: compacted.spent }))
  }
  if (compacted.reading !== undefined) foldReading(fold, keys, compacted.reading)
  foldGrantsThen(fold, keys, opening.grants)
  for (const entry of opening.archived) foldOfOperators(fold, keys, entry)
  foldCalendarThen(fold, keys, compacted)
  let position = Math.max(0, compacted.position - 1)
  let quiet = compacted.before
  return {
    walk,
    fold,
    compacted,
    quietBefore: () => quiet,
    /** Up to the entry that was the last one when that was seen, and no further. */
    readUpTo: async function* ({ entries, compacted: seen }: Look): AsyncGenerator<undefined> {
      while (walk.number < entries) {
        const page = await store.read(keys.ledger, position, LEDGER_PAGE)
        for (const { position: place, entry: text } of page) {
          if (walk.number >= entries) return
          const entry = walk.take(text)
          position = place
          // What is charged to a window after it was let go is compared when everything starts over.
          const before = instant(Math.max(seen.before, quiet))
          if (entry !== undefined) foldEntry(fold, keys, entry, before)
        }
        if (page.length < LEDGER_PAGE) return
        yield undefined
      }
    },
    position: () => position,
    forget: ({ quietBefore }: Look) => {
      quiet = instant(Math.max(quiet, quietBefore))
      for (const [key, account] of fold) {
        const { window = account.form === 'hold' ? account.hold.window : quiet } = account
        if (window < quiet) fold.delete(key)
      }
    },
  }
}

/** A compaction may come between the reads: then they do not fit, and are read again. */
async function openingOf(of: AuditOf) {
  for (;;) {
    const { compacted } = await look(of, [])
    const { finding, entries: archived } = await checkArchive(of.store, of.keys, compacted)
    const then = checkGrants(await readGrantsThen(of.store, of.keys), compacted)
    const findings = [finding, then.finding].filter((found) => found !== undefined)
    const again = findings.length === 0 ? compacted : (await look(of, [])).compacted
    if (again.through === compacted.through) {
      return { compacted, findings, archived, grants: then.grants }
    }
  }
}

/** Those that the ledger names, then those that are kept although it does not. */
async function* accountsOf(
  { store, keys }: AuditOf,
  books: Books,
): AsyncGenerator<readonly [Key, Account]> {
  const { fold } = books
  // Live: accounts that come up while others are compared are compared too.
  yield* fold
  const outflow = keys.budget(instant(0), OUTFLOW)
  if (!fold.has(outflow)) yield [outflow, budgetAccount(OUTFLOW, instant(0))]
  if (!fold.has(keys.reading)) yield [keys.reading, NO_READING]
  for await (const { key } of readIndex(store, keys.fundsList)) {
    if (!fold.has(key)) yield [key, fundsAccount(itemOf(key))]
  }
  for await (const { key } of readIndex(store, keys.plans)) {
    if (!fold.has(key)) yield [key, planAccount(itemOf(key), undefined)]
  }
  for await (const { key } of readIndex(store, keys.openHolds)) {
    if (!fold.has(key)) yield [key, listingAccount(openHoldIn(itemOf(key)), undefined)]
  }
  for await (const { key, value } of readIndex(store, keys.linkList)) {
    if (!fold.has(key) && isMadeLink(value)) yield [key, linkAccount(itemOf(key), undefined)]
  }
  for (const window of await windowsOf(store, keys, books)) {
    for await (const { key } of readIndex(store, keys.balances(window))) {
      if (!fold.has(key)) yield [key, unspokenAccount(itemOf(key), window)]
    }
  }
}

/** Those that are listed, and those that entries name although they are not. */
async function windowsOf(
  store: Store,
  keys: SpendingKeys,
  { fold, quietBefore }: Books,
): Promise<Iterable<Instant>> {
  const windows = new Set<Instant>()
  for (const { form, window } of fold.values()) {
    if (form === 'window' && window !== undefined) windows.add(window)
  }
  const start = quietBefore()
  const after = start === 0 ? '' : keys.window(instant(start - 1))
  for await (const { key } of readIndex(store, keys.windows, after)) {
    windows.add(instant(Number(itemOf(key))))
  }
  return windows
}

function driftsIn(
  { fold }: Books,
  chunk: readonly (readonly [Key, Account])[],
  { values, now, compacted, knownSince }: Look,
): readonly Finding[] {
  return chunk.flatMap(([key, empty], i) => {
    const known = fold.get(key)
    if (known === undefined && empty.form === 'listing' && empty.madeAt < knownSince) return []
    // A hold that has ended meanwhile is in no list any more.
    const account = known ?? (empty.form === 'listing' ? { ...empty, open: false } : empty)
    // Meanwhile compacted: its balances go, one bite after another.
    if (account.window !== undefined && account.window < compacted.before) return []
    const gone = account.form === 'trail' && account.newest <= compacted.through
    if (gone && values[i] === undefined) return []
    return driftOf(account, values[i], now) ?? []
  })
}

/** Whether the ledger ends where the calendar says. */
async function beyondHead(of: AuditOf, { walk, position }: Books, seen: Look) {
  const { entries, head } = seen
  const ledger = `entry ${walk.number}, ${walk.hash || 'no hash'}`
  const differs: Finding = {
    kind: 'head-differs',
    what: 'end of the ledger',
    ledger,
    kept: `entry ${entries}, ${head || 'no hash'}`,
  }
  if (walk.number < entries) {
    const what = `entries ${walk.number + 1} to ${entries}`
    return [{ kind: 'entry-missing', what, ledger, kept: differs.kept } as const]
  }
  if (walk.number > entries || walk.hash !== head) return [differs]
  const [next] = await of.store.read(of.keys.ledger, position(), 1)
  if (next === undefined) return []
  // It may have come a moment ago; then the calendar knows of it by now.
  if ((await look(of, [])).entries > entries) return []
  const number = entryIn(next.entry)?.seq ?? 0
  if (number > entries) return [differs]
  return [{ ...differs, kind: 'entry-repeated', what: `entry ${number}`, kept: 'twice' } as const]
}

function resultOf(
  { keys }: AuditOf,
  { walk, compacted }: Books,
  found: readonly Finding[],
  accounts: number,
): Verification {
  const anchor = walk.anchored()
  return {
    entries: walk.count,
    accounts,
    findings: [...walk.findings, ...found],
    head: { payer: keys.payer, number: walk.number, hash: walk.hash },
    compactedThrough: compacted.through,
    anchor,
  }
}
