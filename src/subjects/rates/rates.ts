/** The rates of one provider in a store: what the UCAN service does, for code that needs no proof of its right. */
import { randomBytes } from 'node:crypto'
import { answer, type Commit, type Key, type Store, type View } from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'
import type { RateResult } from '../mistake.ts'
import { type Actor, type AppliedRate, checkRateId, type Rate, type RateDraft } from './rate.ts'
import {
  checkImport,
  checkListed,
  type ImportedRates,
  importKeys,
  importRates,
  type RateImport,
} from './rate-import.ts'
import {
  queryRates,
  type RateHistoryPage,
  type RateHistoryQuery,
  type RatePage,
  type RateQuery,
  readRateHistory,
} from './rate-pages.ts'
import {
  checkProvider,
  type Refusals,
  refusalsIn,
  refusalsKey,
  subjectKeyOfId,
} from './rate-records.ts'
import {
  addRate,
  applyingKeys,
  getRate,
  type NewRateAuthor,
  type ReplacedRates,
  ratesApplying,
  ratesOf,
  removeRates,
  setRate,
  subjectKeys,
} from './rate-steps.ts'
import { checkSubject, checkSubjectCount, coveringForms } from './subject.ts'

export interface Rates {
  /** A subject that can match nothing throws; a public suffix needs `force`. */
  add(
    draft: RateDraft,
    by: Actor,
    options?: { readonly force?: boolean },
  ): Promise<RateResult<Rate>>
  /** Replaces by subject and label; refuses to loosen a block without `force`, else as `add`. */
  set(
    draft: RateDraft & { readonly label: string },
    by: Actor,
    options?: { readonly force?: boolean },
  ): Promise<RateResult<ReplacedRates>>
  /** All or nothing. */
  remove(ids: readonly string[], by: Actor): Promise<RateResult<readonly Rate[]>>
  get(id: string): Promise<RateResult<Rate>>
  /** Of this very subject, in any spelling; not those of wider ones. */
  list(subject: string): Promise<readonly Rate[]>
  /** All that apply to any of the subjects in any spelling, the rates of wider subjects included. */
  ratesFor(subjects: readonly string[]): Promise<readonly AppliedRate[]>
  /** Sets all drafts and removes all ids, or changes nothing. What is in force already stays as it is. */
  import(list: RateImport, by: Actor): Promise<RateResult<ImportedRates>>
  /** As `ratesFor` one subject, and how often those that are blocks refused; the last seconds may be missing. */
  explain(subject: string): Promise<readonly ExplainedRate[]>
  query(query?: RateQuery): Promise<RatePage>
  history(query?: RateHistoryQuery): Promise<RateHistoryPage>
}

/** A rate that applies, and what was refused under the form by which it was found. */
export interface ExplainedRate extends AppliedRate {
  readonly refusals?: Refusals
}

export interface RatesOptions {
  readonly store: Store
  /** The DID of the service whose rates these are. */
  readonly provider: string
}

export const createRates = ({ store, provider: named }: RatesOptions): Rates => {
  const provider = checkProvider(named)
  /** Each step names all that it can read: a remote store is asked twice at most, and once if it saw that before. */
  const see = <R>(guess: readonly Key[], look: (view: View) => R): Promise<R> =>
    store.transact((view): Commit<R> => answer(look(view)), guess, 'look')
  const change = <R>(
    draft: RateDraft,
    by: Actor,
    step: (view: View, author: NewRateAuthor) => Commit<R>,
  ): Promise<R> => {
    checkListed(draft)
    const author = { provider, by, newId: newRateId() }
    return store.transact((view) => step(view, author), subjectKeys(provider, draft.subject))
  }
  const keysOf = (ids: readonly string[]) =>
    ids.map((id) => subjectKeyOfId(provider, checkRateId(id)))
  return {
    add: async (draft, by, { force = false } = {}) =>
      change(draft, by, (view, author) => addRate(view, author, draft, force)),
    set: async (draft, by, { force = false } = {}) =>
      change(draft, by, (view, author) => setRate(view, author, draft, force)),
    remove: async (ids, by) =>
      store.transact((view) => removeRates(view, { provider, by }, ids), keysOf(ids)),
    get: async (id) => see(keysOf([id]), (view) => getRate(view, provider, id)),
    list: async (subject) =>
      see(subjectKeys(provider, checkSubject(subject)), (view) => ratesOf(view, provider, subject)),
    ratesFor: async (subjects) => {
      checkSubjectCount(subjects)
      const guess = applyingKeys(provider, subjects)
      return see(guess, (view) => ratesApplying(view, provider, subjects))
    },
    explain: async (subject) => {
      const counts = coveringForms(subject).map((form) => refusalsKey(provider, form))
      const guess = [...applyingKeys(provider, [subject]), ...counts]
      return see(guess, (view) => explainRates(view, provider, subject))
    },
    import: async (list, by) => {
      const author = { provider, by, newId: newRateId() }
      checkImport(list)
      const step = (view: View) => importRates(view, author, list)
      return store.transact(step, importKeys(provider, list))
    },
    query: async (query = {}) =>
      queryRates(
        store,
        provider,
        see([], (view): Instant => view.now),
        query,
      ),
    history: (query = {}) => readRateHistory(store, provider, query),
  }
}

function explainRates(view: View, provider: string, subject: string): readonly ExplainedRate[] {
  const applied = ratesApplying(view, provider, [subject])
  const refused = refusalsIn(
    view,
    provider,
    applied.map(({ form }) => form),
  )
  return applied.map((each) => {
    const refusals = refused.get(each.form)
    return refusals === undefined ? each : { ...each, refusals }
  })
}

/** 144 bits: no two meet by chance. */
function newRateId(): string {
  return randomBytes(18).toString('base64url')
}
