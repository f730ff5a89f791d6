/**
 * What a signer keeps of a domain, or of one account in it, and the pure steps over it: look, charge,
 * disable. A record never expires: an attempt once made counts for good. Each charged attempt and each
 * disabled domain goes to the audit stream, without a secret.
 *
 * Each charged attempt is a key of its own beside the record, named by the request's signing hash and
 * the key that answered, by its version and what is public of it: an exact retry finds it and is charged
 * nothing, however many attempts came between. The hash alone would let a retry under another version be
 * evaluated for free, and the version alone one under another key of that version.
 */
import { assert } from '../../core/errors.ts'
import {
  answer,
  type Commit,
  type Key,
  type Value,
  type View,
  type Write,
} from '../../core/store.ts'
import type { Instant, Wait } from '../../core/time.ts'
import type { Conduct, DomainRequest, SignRequest } from '../domains/domain-kind.ts'
import { toHex } from '../eip712/ethereum.ts'
import type { QuotaStatus, Rule } from '../rules/rule.ts'
import { audit } from './audit.ts'
import { type SignedAnswer, type SignerRefusal, signerRefusal } from './response.ts'
import { secretName, shardOf } from './shards.ts'

interface DomainRecord {
  /** The state of the domain's rule. */
  readonly quota?: Value
  /** For good. The record stays as a tombstone. */
  readonly disabled: boolean
  /** How many attempts were charged: the number of the next, from 0. */
  readonly charged: number
}

/**
 * A domain whose attempts run out keeps all that it charged, so at most as many as it has. One whose
 * attempts never run out keeps the newest of them: about 1.5 MB.
 */
export const MAX_ENDLESS_ATTEMPTS = 4_096

/** Of the domain, or of one account in it. */
const domainName = (
  kind: 'domain' | 'attempt' | 'recent',
  { domainHash, claim: { account } }: DomainRequest,
  ...parts: readonly string[]
): Key => {
  const place = account === undefined ? [] : [account]
  return secretName(shardOf(domainHash), kind, toHex(domainHash), ...place, ...parts)
}

export const recordKey = (request: DomainRequest): Key => domainName('domain', request)

/** Disabled or not, the rule's state and the number of attempts, line by line. */
export const encodeRecord = ({ quota, disabled, charged }: DomainRecord): Value =>
  [disabled ? 'disabled' : 'live', quota ?? '', charged].join('\n')

export const decodeRecord = (value: Value | undefined): DomainRecord => {
  if (value === undefined) return { disabled: false, charged: 0 }
  const [word, quota = '', count = ''] = value.split('\n')
  const charged = /^\d+$/.test(count) ? Number(count) : -1
  const known = (word === 'disabled' || word === 'live') && Number.isSafeInteger(charged)
  assert(known && charged >= 0, () => `a domain's record: ${JSON.stringify(value.slice(0, 80))}`)
  const record = { disabled: word === 'disabled', charged }
  return quota === '' ? record : { ...record, quota }
}

/** An authenticated request, and what decides on it. */
interface SigningAttempt {
  readonly request: SignRequest
  readonly rule: Rule
  readonly conduct: Conduct
  /** Of the key that answers. */
  readonly keyVersion: number
  readonly keyName: string
}

/** What a step over the attempt reads, as far as the request tells. */
export const attemptKeys = (attempt: SigningAttempt): readonly Key[] => [
  recordKey(attempt.request),
  attemptKey(attempt.request, attemptName(attempt)),
]

const attemptKey = (request: SignRequest, name: string): Key => domainName('attempt', request, name)

const attemptName = ({ request, keyName }: SigningAttempt): string =>
  `${toHex(request.signingHash)}-${keyName}`

/** Where an endless domain notes the attempt of this number. */
const recentKey = (request: SignRequest, number: number): Key =>
  domainName('recent', request, String(number % MAX_ENDLESS_ATTEMPTS))

type AttemptDecision =
  /** `next` is the rule's state afterwards; absent where the rule keeps none. */
  | { readonly kind: 'allowed'; readonly next?: Value }
  /** Answered before: answered again, and nothing is charged. */
  | { readonly kind: 'retry' }
  | SignerRefusal

/** What a request would find, and what charging it would read if nothing comes between. */
export type Look =
  | { readonly kind: 'allowed' | 'retry'; readonly guess: readonly Key[] }
  | SignerRefusal

/** Changes nothing. */
export const lookStep = (view: View, attempt: SigningAttempt): Commit<Look> => {
  const { request, rule } = attempt
  const found = foundIn(view, attempt)
  const decided = decideAttempt(found, view.now, attempt)
  if (decided.kind === 'refused') return answer(decided)
  const isNoted = rule.endless && decided.kind === 'allowed'
  const guess = isNoted ? [recentKey(request, found.record.charged)] : []
  return answer({ kind: decided.kind, guess: [...attemptKeys(attempt), ...guess] })
}

/** Charges the attempt and remembers the request in one commit. Only then may its answer leave. */
export const chargeStep = (
  view: View,
  attempt: SigningAttempt,
  evaluation: Uint8Array,
): Commit<SignedAnswer | SignerRefusal> => {
  const { request, rule, keyVersion } = attempt
  const found = foundIn(view, attempt)
  const decided = decideAttempt(found, view.now, attempt)
  if (decided.kind === 'refused') return answer(decided)
  const signed = { kind: 'signed', keyVersion, evaluation } as const
  if (decided.kind === 'retry' || decided.next === undefined) {
    const status = statusOf(found.record, view.now, rule)
    return answer({ ...signed, charged: false, status })
  }
  const key = recordKey(request)
  const charged = found.record.charged + 1
  const record = { ...found.record, quota: decided.next, charged }
  return {
    writes: [
      { key, value: encodeRecord(record) },
      ...rememberAttempt(view, attempt, found.record.charged),
    ],
    appends: [audit(view.now, { event: 'signed', record: key, keyVersion })],
    result: { ...signed, charged: true, status: statusOf(record, view.now, rule) },
  }
}

/**
 * The attempt by its name. In an endless domain also by its number, at a place that is used again and
 * again: who held it before is forgotten in the same commit.
 */
function rememberAttempt(view: View, attempt: SigningAttempt, number: number): Write[] {
  const { request, rule } = attempt
  const name = attemptName(attempt)
  const remembered = { key: attemptKey(request, name), value: String(number) }
  if (!rule.endless) return [remembered]
  const place = recentKey(request, number)
  const [before] = view.read(place)
  const writes = [remembered, { key: place, value: name }]
  return before === undefined ? writes : [...writes, { key: attemptKey(request, before) }]
}

export const statusStep = (view: View, key: Key, rule: Rule): Commit<QuotaStatus> =>
  answer(statusOf(recordIn(view, key), view.now, rule))

/**
 * For good. Disabling again changes nothing and is no mistake. The keys of its attempts stay, as a
 * commit could not hold them all; a retry is refused before they are looked at.
 */
export const disableStep = (view: View, key: Key, rule: Rule): Commit<QuotaStatus> => {
  const record = recordIn(view, key)
  const after = { ...record, disabled: true }
  const result = statusOf(after, view.now, rule)
  if (record.disabled) return answer(result)
  return {
    writes: [{ key, value: encodeRecord(after) }],
    appends: [audit(view.now, { event: 'disabled', record: key })],
    result,
  }
}

/** What the store has of a domain, and whether it knows the attempt. */
interface Found {
  readonly record: DomainRecord
  readonly known: boolean
}

/**
 * Disabled outranks all else, and an exact retry outranks the nonce it has used up. The deployed
 * service checks the nonce first, so there such a retry is refused.
 */
function decideAttempt(
  { record, known }: Found,
  now: Instant,
  { request, rule, conduct }: SigningAttempt,
): AttemptDecision {
  const status = statusOf(record, now, rule)
  const disabled = () =>
    record.disabled
      ? signerRefusal('DOMAIN_DISABLED', 'the domain was disabled for good', { status })
      : undefined
  const retry = (): AttemptDecision | undefined => (known ? { kind: 'retry' } : undefined)
  const { nonce } = request.claim
  const usedNonce = () => {
    if (nonce.kind === 'none' || (nonce.value === undefined && !nonce.required)) return undefined
    const counter = rule.counter(record.quota)
    if (nonce.value !== undefined && nonce.value >= counter) return undefined
    const message = `nonce: must be at least ${counter}, found ${nonce.value ?? 'none'}`
    return signerRefusal('NONCE_INVALID', message, { status })
  }
  const checks = conduct === 'celo' ? [usedNonce, disabled, retry] : [disabled, retry, usedNonce]
  for (const check of checks) {
    const found = check()
    if (found !== undefined) return found
  }
  const index = nonce.kind === 'index' ? nonce.value : undefined
  const found = rule.attempt(record.quota, now, index)
  if (!found.allowed) return overQuota(found.retryIn, status)
  return found.next === undefined ? { kind: 'allowed' } : { kind: 'allowed', next: found.next }
}

function overQuota(retryIn: Wait, status: QuotaStatus): SignerRefusal {
  return retryIn === 'never'
    ? signerRefusal('OVER_QUOTA', 'the domain has no attempts left', { status })
    : signerRefusal('OVER_QUOTA', 'the next attempt is not due yet', { status, retryIn })
}

function statusOf(record: DomainRecord, now: Instant, rule: Rule): QuotaStatus {
  return { ...rule.status(record.quota, now), disabled: record.disabled }
}

function recordIn(view: View, key: Key): DomainRecord {
  const [value] = view.read(key)
  return decodeRecord(value)
}

function foundIn(view: View, attempt: SigningAttempt): Found {
  const [record, known] = view.read(...attemptKeys(attempt))
  return { record: decodeRecord(record), known: known !== undefined }
}
