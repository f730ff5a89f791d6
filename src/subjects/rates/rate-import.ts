/** Whole lists of rates, set and removed in one commit. */
import {
  answer,
  type Commit,
  type Key,
  type Value,
  type View,
  type Write,
} from '../../core/store.ts'
import { ok, type RateResult, refuseSubject } from '../mistake.ts'
import { checkDraft, checkRateId, type Rate, type RateDraft } from './rate.ts'
import { subjectKeyOfId } from './rate-records.ts'
import { type NewRateAuthor, ratesOf, removeRates, setRate, subjectKeys } from './rate-steps.ts'
import { checkMatchable } from './reach.ts'

export interface LabelledDraft extends RateDraft {
  readonly label: string
}

export interface RateImport {
  readonly drafts: readonly LabelledDraft[]
  /** Ids of rates to remove with it. */
  readonly remove: readonly string[]
  /** Loosen blocks, and cover public suffixes. */
  readonly force: boolean
}

export interface ImportedRates {
  readonly set: readonly Rate[]
  readonly replaced: readonly Rate[]
  readonly removed: readonly Rate[]
  /** Drafts that were in force already, to the letter. */
  readonly unchanged: number
}

/** One commit holds them all, some eight writes each. Larger lists are several imports. */
export const MAX_IMPORTED_RATES = 5_000

/** Throws unless all of the list can be set and removed. */
export const checkImport = ({ drafts, remove }: RateImport): void => {
  const found = drafts.length + remove.length
  if (found > MAX_IMPORTED_RATES) {
    const rule = `must hold at most ${MAX_IMPORTED_RATES} rates`
    refuseSubject({ code: 'RATE_LIST_INVALID', thing: 'list', rule, finding: `${found}` })
  }
  for (const draft of drafts) checkListed(draft)
  for (const id of remove) checkRateId(id)
}

/** All that importing the list can read. */
export const importKeys = (provider: string, { drafts, remove }: RateImport): readonly Key[] => [
  ...new Set([
    ...remove.map((id) => subjectKeyOfId(provider, id)),
    ...drafts.flatMap(({ subject }) => subjectKeys(provider, subject)),
  ]),
]

/** All of a list are in force afterwards, or none: one commit. */
export const importRates = (
  view: View,
  author: NewRateAuthor,
  { drafts, remove, force }: RateImport,
): Commit<RateResult<ImportedRates>> => {
  const growing = growingCommit(view)
  const removed = growing.add(removeRates(growing.view, author, remove))
  if (removed.error) return answer(removed)
  const set: Rate[] = []
  const replaced: Rate[] = []
  for (const [number, draft] of drafts.entries()) {
    if (isInForce(growing.view, author.provider, draft)) continue
    const each = { ...author, newId: `${author.newId}${number}` }
    const done = growing.add(setRate(growing.view, each, draft, force))
    if (done.error) return answer(done)
    set.push(done.ok.rate)
    replaced.push(...done.ok.replaced)
  }
  const unchanged = drafts.length - set.length
  return growing.commit(ok({ set, replaced, removed: removed.ok, unchanged }))
}

/** Whether a rate of this draft can be set at all; throws if not. */
export const checkListed = (draft: RateDraft): void => {
  checkDraft(draft)
  checkMatchable(draft.subject)
}

/** An import that is repeated changes nothing. */
function isInForce(view: View, provider: string, draft: LabelledDraft): boolean {
  const same = ratesOf(view, provider, draft.subject).filter(({ label }) => label === draft.label)
  const [only] = same
  return same.length === 1 && only !== undefined && saysTheSame(only, draft)
}

export const saysTheSame = (one: RateDraft, other: RateDraft): boolean =>
  one.subject === other.subject &&
  one.rate === other.rate &&
  one.reason === other.reason &&
  one.expiresAt === other.expiresAt

/** Steps one after another, each over what those before it wrote. */
function growingCommit(below: View) {
  const writes = new Map<Key, Write>()
  const appends: Commit<unknown>['appends'][number][] = []
  const read = (key: Key): Value | undefined => {
    const write = writes.get(key)
    return write === undefined ? below.read(key)[0] : write.value
  }
  const view: View = { now: below.now, read: (...keys) => keys.map(read) }
  return {
    view,
    add: <R>(commit: Commit<R>): R => {
      for (const write of commit.writes) writes.set(write.key, write)
      appends.push(...commit.appends)
      return commit.result
    },
    commit: <R>(result: R): Commit<R> => ({ writes: [...writes.values()], appends, result }),
  }
}
