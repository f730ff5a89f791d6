/** What each ability does once the right to it is shown, and how it answers. Times are whole seconds, as in UCAN. */
import type { Capability } from '@ucanto/interface'
import { assert } from '../../core/errors.ts'
import type { Commit, Key, Store, View } from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'
import { inSeconds } from '../../lib/moments.ts'
import type { RateResult } from '../mistake.ts'
import { checkDraft, checkRateId, type Rate, type RateDraft } from '../rates/rate.ts'
import {
  queryRates,
  type RateHistoryEntry,
  type RateHistoryPage,
  type RatePage,
  readRateHistory,
} from '../rates/rate-pages.ts'
import { subjectKeyOfId } from '../rates/rate-records.ts'
import {
  addRate,
  getRate,
  type NewRateAuthor,
  ratesOf,
  removeRates,
  setRate,
  subjectKeys,
} from '../rates/rate-steps.ts'
import { checkMatchable, reachWarning } from '../rates/reach.ts'
import { checkSubject } from '../rates/subject.ts'
import { type Caveats, readCaveats } from './capabilities.ts'
import { ownField } from './cbor.ts'
import type { InvocationResult } from './message.ts'
import { type RevocationTarget, revoke, revokeKeys } from './revocations.ts'
import type { Ability, UcanToken } from './token.ts'

export type AbilityAction =
  /** Done in the transaction that also keeps the receipt: the same invocation again changes nothing. */
  | {
      readonly kind: 'change'
      /** All that it can read. */
      keys(provider: string): readonly Key[]
      run(view: View, author: NewRateAuthor): Commit<InvocationResult>
    }
  | {
      readonly kind: 'look'
      keys(provider: string): readonly Key[]
      run(view: View, provider: string): InvocationResult
    }
  /** Lists for people, which no transaction covers. */
  | {
      readonly kind: 'page'
      run(store: Store, provider: string, now: Instant): Promise<InvocationResult>
    }

interface AbilityRequest {
  readonly ability: Ability
  readonly capability: Capability
  readonly token: UcanToken
  /** With `ucan/revoke`: what is to be revoked. */
  readonly target: RevocationTarget | undefined
}

/** Throws a `HeadgateError` if the fields are not what the ability takes. */
export const readAction = (request: AbilityRequest): AbilityAction => {
  const { ability, capability, token, target } = request
  const nb = { ...(capability.nb ?? {}) }
  const read = (...known: readonly string[]) => readCaveats(ability, nb, known)
  switch (ability) {
    case 'rate-limit/add':
      return add(read(...DRAFT_FIELDS, 'force'), token)
    case 'rate-limit/set':
      return set(read(...DRAFT_FIELDS, 'force'))
    case 'rate-limit/remove':
      return remove(read('id').texts('id').map(checkRateId))
    case 'rate-limit/list':
      return list(checkSubject(read('subject').text('subject')))
    case 'rate-limit/get':
      return get(checkRateId(read('id').text('id')))
    case 'rate-limit/query':
      return query(read('prefix', 'label', 'since', 'until', 'after', 'limit'))
    case 'rate-limit/history':
      return history(read('subject', 'after', 'limit'))
    case 'ucan/revoke':
      read('ucan', 'proof')
      return revocation(target)
    default:
      return ability satisfies never
  }
}

const DRAFT_FIELDS = ['subject', 'rate', 'expires', 'reason', 'label']

/** Records any text, as the protocol has it; the receipt warns of one that can match nothing. */
const add = (caveats: Caveats, token: UcanToken): AbilityAction =>
  written(caveats, withReason(toDraft(caveats), token), addRate, ({ id }) => ({ id }))

const set = (caveats: Caveats): AbilityAction => {
  const draft = { ...toDraft(caveats), label: caveats.text('label') }
  checkMatchable(draft.subject)
  return written(caveats, draft, setRate, ({ rate, replaced }) => ({
    id: rate.id,
    replaced: replaced.map(listed),
  }))
}

/** A step that writes a draft, and what its receipt tells of what was done. */
const written = <Done>(
  caveats: Caveats,
  draft: RateDraft,
  step: (...given: readonly [View, NewRateAuthor, RateDraft, boolean]) => Commit<RateResult<Done>>,
  told: (done: Done) => object,
): AbilityAction => {
  const force = caveats.optionalFlag('force')
  const warning = reachWarning(draft.subject)
  return {
    kind: 'change',
    keys: keysOf(draft),
    run: (view, author) => {
      const { result, ...commit } = step(view, author, draft, force)
      if (result.error) return { ...commit, result }
      return { ...commit, result: { ok: { ...told(result.ok), ...present('warning', warning) } } }
    },
  }
}

const keysOf =
  ({ subject }: Pick<RateDraft, 'subject'>) =>
  (provider: string): readonly Key[] =>
    subjectKeys(provider, subject)

const remove = (ids: readonly string[]): AbilityAction => ({
  kind: 'change',
  keys: (provider) => ids.map((id) => subjectKeyOfId(provider, id)),
  run: (view, author) => {
    const { result, ...commit } = removeRates(view, author, ids)
    return { ...commit, result: result.error ? result : { ok: {} } }
  },
})

const list = (subject: string): AbilityAction => ({
  kind: 'look',
  keys: keysOf({ subject }),
  run: (view, provider) => ({ ok: { limits: ratesOf(view, provider, subject).map(listed) } }),
})

const get = (id: string): AbilityAction => ({
  kind: 'look',
  keys: (provider) => [subjectKeyOfId(provider, id)],
  run: (view, provider) => {
    const result = getRate(view, provider, id)
    return result.error ? result : { ok: shown(result.ok) }
  },
})

const query = (caveats: Caveats): AbilityAction => {
  const question = {
    prefix: caveats.optionalText('prefix'),
    label: caveats.optionalText('label'),
    since: caveats.optionalMoment('since'),
    until: caveats.optionalMoment('until'),
    after: caveats.optionalText('after'),
    limit: caveats.optionalNumber('limit'),
  }
  return {
    kind: 'page',
    run: async (store, provider, now) => ({
      ok: shownPage(await queryRates(store, provider, now, question)),
    }),
  }
}

const history = (caveats: Caveats): AbilityAction => {
  const question = {
    subject: caveats.optionalText('subject'),
    after: caveats.optionalNumber('after'),
    limit: caveats.optionalNumber('limit'),
  }
  return {
    kind: 'page',
    run: async (store, provider) => ({
      ok: shownHistory(await readRateHistory(store, provider, question)),
    }),
  }
}

const revocation = (target: RevocationTarget | undefined): AbilityAction => {
  assert(target !== undefined, 'a revocation has a target')
  return {
    kind: 'change',
    keys: (provider) => revokeKeys(provider, target),
    run: (view, author) => revoke(view, author, target),
  }
}

function toDraft(caveats: Caveats): RateDraft {
  return checkDraft({
    subject: caveats.text('subject'),
    rate: caveats.number('rate'),
    expiresAt: caveats.optionalMoment('expires'),
    reason: caveats.optionalText('reason'),
    label: caveats.optionalText('label'),
  })
}

/** Published clients drop fields they do not know but pass on facts: a reason may come as one. */
function withReason(draft: RateDraft, { facts }: UcanToken): RateDraft {
  if (draft.reason !== undefined) return draft
  const reason = facts
    .map((fact) => ownField(fact, 'reason'))
    .find((value) => typeof value === 'string')
  return reason === undefined ? draft : checkDraft({ ...draft, reason })
}

/** The deployed shape says `rate`, the specification says `limit`: both are there. */
const listed = ({ id, rate }: Rate) => ({ id, rate, limit: rate })

const shown = (rate: Rate) => ({
  id: rate.id,
  subject: rate.subject,
  rate: rate.rate,
  at: inSeconds(rate.at),
  by: { issuer: rate.by.issuer, chain: [...rate.by.chain] },
  ...present('cause', rate.cause),
  ...present('expires', rate.expiresAt === undefined ? undefined : inSeconds(rate.expiresAt)),
  ...present('reason', rate.reason),
  ...present('label', rate.label),
})

const shownPage = ({ rates, next }: RatePage) => ({
  rates: rates.map(shown),
  ...present('next', next),
})

const shownHistory = ({ entries, next }: RateHistoryPage) => ({
  entries: entries.map(shownEntry),
  ...present('next', next),
})

const shownEntry = (entry: RateHistoryEntry) => ({
  position: entry.position,
  kind: entry.kind,
  at: inSeconds(entry.at),
  by: { issuer: entry.by.issuer, chain: [...entry.by.chain] },
  ...present('cause', entry.cause),
  added: entry.added.map(shown),
  removed: entry.removed.map(shown),
  ...present('revoked', entry.revoked && { ...entry.revoked }),
})

/** DAG-CBOR has no undefined. */
const present = <T>(name: string, value: T | undefined): Readonly<Record<string, T>> =>
  value === undefined ? {} : { [name]: value }
