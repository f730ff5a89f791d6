/** The rates of one provider, kept in a store: what the UCAN service does, for code that has the right already. */
import { randomBytes } from 'node:crypto'
import { answer, type Instant, type Plan, type Store, type View } from '../core/index.ts'
import { quote, refuse } from './mistake.ts'
import {
  type HistoryPage,
  type HistoryQuery,
  queryRates,
  type RatePage,
  type RateQuery,
  readHistory,
} from './paging.ts'
import {
  type Actor,
  checkDraft,
  checkRateId,
  checkSubject,
  type Rate,
  type RateDraft,
} from './rate.ts'
import {
  type AppliedRate,
  addRate,
  getRate,
  type Replaced,
  ratesApplying,
  ratesOf,
  removeRates,
  setRate,
} from './rate-steps.ts'
import type { Result } from './refusal.ts'

export interface Rates {
  add(draft: RateDraft, by: Actor): Promise<Result<Rate>>
  /** Replaces by subject and label; refuses to loosen a block without `force`. */
  set(
    draft: RateDraft & { readonly label: string },
    by: Actor,
    options?: { readonly force?: boolean },
  ): Promise<Result<Replaced>>
  /** All or nothing. */
  remove(ids: readonly string[], by: Actor): Promise<Result<readonly Rate[]>>
  get(id: string): Promise<Result<Rate>>
  /** Of this very subject, spelled as it was given. */
  list(subject: string): Promise<readonly Rate[]>
  /** All that apply to any of the subjects in any spelling, those of wider subjects included. */
  ratesFor(subjects: readonly string[]): Promise<readonly AppliedRate[]>
  query(query?: RateQuery): Promise<RatePage>
  history(query?: HistoryQuery): Promise<HistoryPage>
}

export interface RatesOptions {
  readonly store: Store
  /** The DID of the service whose rates these are. */
  readonly provider: string
}

/** Subjects that one question may name. */
export const MAX_SUBJECTS = 32

export const createRates = ({ store, provider: named }: RatesOptions): Rates => {
  const provider = checkProvider(named)
  const act = (by: Actor) => ({ provider, by, newId: newRateId() })
  const see = <R>(look: (view: View) => R): Promise<R> =>
    store.transact((view): Plan<R> => answer(look(view)))
  return {
    add: async (draft, by) => {
      const [acting, checked] = [act(by), checkDraft(draft)]
      return store.transact((view) => addRate(view, acting, checked))
    },
    set: async (draft, by, { force = false } = {}) => {
      const [acting, checked] = [act(by), checkDraft(draft)]
      return store.transact((view) => setRate(view, acting, checked, force))
    },
    remove: async (ids, by) => {
      const checked = ids.map(checkRateId)
      return store.transact((view) => removeRates(view, { provider, by }, checked))
    },
    get: async (id) => see((view) => getRate(view, provider, checkRateId(id))),
    list: async (subject) => see((view) => ratesOf(view, provider, checkSubject(subject))),
    ratesFor: async (subjects) => {
      checkSubjects(subjects)
      return see((view) => ratesApplying(view, provider, subjects))
    },
    query: async (query = {}) => {
      const now: Instant = await see((view) => view.now)
      return queryRates(store, provider, now, query)
    },
    history: (query = {}) => readHistory(store, provider, query),
  }
}

export const checkSubjects = (subjects: readonly string[]): void => {
  if (subjects.length <= MAX_SUBJECTS) return
  const rule = `must be at most ${MAX_SUBJECTS}`
  refuse({ code: 'SUBJECTS_TOO_MANY', thing: 'subjects', rule, finding: `${subjects.length}` })
}

/** A provider is part of every key: a brace would end the part that Redis Cluster goes by. */
export const checkProvider = (did: string): string => {
  if (/^did:[a-z0-9]+:[A-Za-z0-9._:%-]{1,255}$/.test(did)) return did
  const rule = 'must be a DID, such as did:web:example.com'
  return refuse({ code: 'PROVIDER_INVALID', thing: 'provider', rule, finding: quote(did) })
}

/** 144 bits: nobody meets another's by chance. */
function newRateId(): string {
  return randomBytes(18).toString('base64url')
}
