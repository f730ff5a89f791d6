/** What each ability does, once the right to it has been shown. */
import type { Capability } from '@ucanto/interface'
import { answer, type Instant, type Plan, type Store, type View } from '../../core/index.ts'
import { queryRates, readHistory } from '../paging.ts'
import { checkDraft, checkRateId, checkSubject, type RateDraft } from '../rate.ts'
import { type Act, addRate, getRate, ratesOf, removeRates, setRate } from '../rate-steps.ts'
import type { Ability } from './capabilities.ts'
import { type Caveats, readCaveats } from './caveats.ts'
import type { ProofTree } from './proof-tree.ts'
import type { Out } from './receipt.ts'
import { revoke } from './revocations.ts'
import type { Token } from './token.ts'
import { listed, shown, shownHistory, shownPage } from './wire.ts'

export type Command =
  /** Done in the transaction that also keeps the receipt: the same invocation again changes nothing. */
  | { readonly kind: 'change'; run(view: View, act: Act): Plan<Out> }
  | { readonly kind: 'look'; run(view: View, provider: string): Out }
  /** Lists for people, which no transaction covers. */
  | { readonly kind: 'page'; run(store: Store, provider: string, now: Instant): Promise<Out> }

export interface Asked {
  readonly ability: Ability
  readonly capability: Capability
  readonly token: Token
  /** With `ucan/revoke`: what is to be revoked, with its proofs. */
  readonly target: ProofTree | undefined
}

/** Throws a `HeadgateError` if the fields are not what the ability takes. */
export const readCommand = ({ ability, capability, token, target }: Asked): Command => {
  const nb = { ...(capability.nb ?? {}) }
  const read = (...known: readonly string[]) => readCaveats(ability, nb, known)
  switch (ability) {
    case 'rate-limit/add':
      return add(withReason(toDraft(read(...DRAFT)), token))
    case 'rate-limit/set':
      return set(read(...DRAFT, 'force'))
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
      return revocation(target, capability.with)
    default:
      return ability satisfies never
  }
}

const DRAFT = ['subject', 'rate', 'expires', 'reason', 'label']

const add = (draft: RateDraft): Command => ({
  kind: 'change',
  run: (view, act) => {
    const { result, ...plan } = addRate(view, act, draft)
    return { ...plan, result: result.error ? result : { ok: { id: result.ok.id } } }
  },
})

const set = (caveats: Caveats): Command => {
  const draft = { ...toDraft(caveats), label: caveats.text('label') }
  const force = caveats.optionalFlag('force')
  return {
    kind: 'change',
    run: (view, act) => {
      const { result, ...plan } = setRate(view, act, draft, force)
      if (result.error) return { ...plan, result }
      const { rate, replaced } = result.ok
      return { ...plan, result: { ok: { id: rate.id, replaced: replaced.map(listed) } } }
    },
  }
}

const remove = (ids: readonly string[]): Command => ({
  kind: 'change',
  run: (view, act) => {
    const { result, ...plan } = removeRates(view, act, ids)
    return { ...plan, result: result.error ? result : { ok: {} } }
  },
})

const list = (subject: string): Command => ({
  kind: 'look',
  run: (view, provider) => ({ ok: { limits: ratesOf(view, provider, subject).map(listed) } }),
})

const get = (id: string): Command => ({
  kind: 'look',
  run: (view, provider) => {
    const result = getRate(view, provider, id)
    return result.error ? result : { ok: shown(result.ok) }
  },
})

const query = (caveats: Caveats): Command => {
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

const history = (caveats: Caveats): Command => {
  const question = {
    subject: caveats.optionalText('subject'),
    after: caveats.optionalNumber('after'),
    limit: caveats.optionalNumber('limit'),
  }
  return {
    kind: 'page',
    run: async (store, provider) => ({
      ok: shownHistory(await readHistory(store, provider, question)),
    }),
  }
}

const revocation = (target: ProofTree | undefined, revoker: string): Command => ({
  kind: 'change',
  run: (view, { provider }) => {
    if (target !== undefined) return revoke(view, provider, target, revoker)
    const message = 'the delegation to revoke must be enclosed, with its proofs up to this service'
    return answer({ error: { name: 'UCANNotFound', message } })
  },
})

function toDraft(caveats: Caveats): RateDraft {
  return checkDraft({
    subject: caveats.text('subject'),
    rate: caveats.number('rate'),
    expiresAt: caveats.optionalMoment('expires'),
    reason: caveats.optionalText('reason'),
    label: caveats.optionalText('label'),
  })
}

/** Published clients drop fields they do not know, but facts go through: a reason may stand there. */
function withReason(draft: RateDraft, { facts }: Token): RateDraft {
  if (draft.reason !== undefined) return draft
  const reason: unknown = facts
    .map((fact) => Object.getOwnPropertyDescriptor(fact, 'reason')?.value)
    .find((value) => typeof value === 'string')
  return typeof reason === 'string' ? checkDraft({ ...draft, reason }) : draft
}
