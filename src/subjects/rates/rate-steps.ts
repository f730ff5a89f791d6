/** Changing and reading the rates of one provider: pure steps over a store's view. */
import {
  type Append,
  answer,
  type Commit,
  type Key,
  type View,
  type Write,
} from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'
import { NO_PREFIX_LENGTHS, type PrefixLengths } from '../../net/range-table.ts'
import { ok, type RateResult, refusal, refuseSubject } from '../mistake.ts'
import {
  type Actor,
  type AppliedRate,
  effectOf,
  encodeEffect,
  isBlock,
  isLive,
  MAX_DELEGATED_RATES,
  MAX_RATES_PER_GRANT,
  MAX_RATES_PER_SUBJECT,
  type Rate,
  type RateDraft,
} from './rate.ts'
import {
  boardKey,
  changeStream,
  decodeRangeLengths,
  decodeRates,
  effectStream,
  encodeEffects,
  encodeListed,
  encodeRangeLengths,
  encodeRateChange,
  encodeRates,
  historyStream,
  listingsOf,
  type RateChange,
  type RateChangeKind,
  type RevokedDelegation,
  rangeLengthsKey,
  rateId,
  subjectKey,
  subjectKeyOfId,
} from './rate-records.ts'
import { wideReach } from './reach.ts'
import { coveringForms, normalForm, withLengthOf } from './subject.ts'

/** Who changes rates, and why. */
interface RateAuthor {
  readonly provider: string
  readonly by: Actor
  readonly cause?: string | undefined
}

/** The id is chosen before the step, which may run again. */
export interface NewRateAuthor extends RateAuthor {
  readonly newId: string
}

export const addRate = (
  view: View,
  author: NewRateAuthor,
  draft: RateDraft,
  force: boolean,
): Commit<RateResult<Rate>> => {
  const rate = toRate(view, author, draft)
  return tooWide(draft, force) ?? replace(view, author, 'add', rate, [])
}

export interface ReplacedRates {
  readonly rate: Rate
  readonly replaced: readonly Rate[]
}

/**
 * Replaces all rates that this label gave this very subject, in any spelling. Loosens a block only
 * with `force`.
 */
export const setRate = (
  view: View,
  author: NewRateAuthor,
  draft: RateDraft,
  force: boolean,
): Commit<RateResult<ReplacedRates>> => {
  const rate = toRate(view, author, draft)
  const gone = ratesOf(view, author.provider, draft.subject).filter(
    ({ label }) => label === draft.label,
  )
  const wide = tooWide(draft, force)
  if (wide !== undefined) return wide
  const block = gone.find((old) => isBlock(old) && loosens(rate, old))
  if (block !== undefined && !force) {
    const rule = `would loosen the block ${block.id} of ${draft.subject}; use force if that is meant`
    return answer(refusal('RateLimitLoosened', `rate ${draft.rate}: ${rule}`))
  }
  const { result, ...commit } = replace(view, author, 'set', rate, gone)
  return { ...commit, result: result.error ? result : ok({ rate, replaced: gone }) }
}

/** All or nothing: an unknown id among several removes none. */
export const removeRates = (
  view: View,
  author: RateAuthor,
  ids: readonly string[],
): Commit<RateResult<readonly Rate[]>> => {
  if (ids.length === 0) return answer(ok([]))
  const found: Rate[] = []
  for (const id of new Set(ids)) {
    const rate = findRate(view, author.provider, id)
    if (rate === undefined) return answer(notFound(id))
    found.push(rate)
  }
  const gone = new Set(found.map(({ id }) => id))
  const forms = new Set(found.map(({ subject }) => normalForm(subject)))
  const left = [...forms].map((form) => {
    const kept = liveRates(view, author.provider, form).filter(({ id }) => !gone.has(id))
    return [form, kept] as const
  })
  const { provider } = author
  return {
    writes: [
      ...left.flatMap(([form, kept]) => writeRates(provider, form, kept)),
      ...found.flatMap((rate) => unlist(provider, rate)),
    ],
    appends: changes(view, author, { kind: 'remove', added: [], removed: found, left }),
    result: ok(found),
  }
}

export const getRate = (view: View, provider: string, id: string): RateResult<Rate> => {
  const rate = findRate(view, provider, id)
  return rate === undefined ? notFound(id) : ok(rate)
}

/** Of this very subject, in whatever spelling: rates of wider subjects are not among them. */
export const ratesOf = (view: View, provider: string, subject: string): readonly Rate[] =>
  liveRates(view, provider, normalForm(subject))

/** What changing the rates of a subject reads. */
export const subjectKeys = (provider: string, subject: string): readonly Key[] => {
  const form = normalForm(subject)
  return [subjectKey(provider, form), ...(isRange(form) ? [rangeLengthsKey(provider)] : [])]
}

/** All that `ratesApplying` can read, of whichever lengths ranges are: at most 130 keys for an address. */
export const applyingKeys = (provider: string, subjects: readonly string[]): readonly Key[] => [
  rangeLengthsKey(provider),
  ...keysAsked(provider, formsAsked(subjects)),
]

const formsAsked = (subjects: readonly string[], lengths?: PrefixLengths) =>
  subjects.flatMap((subject) => coveringForms(subject, lengths).map((form) => ({ subject, form })))

const keysAsked = (provider: string, asked: ReturnType<typeof formsAsked>): ReadonlySet<Key> =>
  new Set(asked.map(({ form }) => subjectKey(provider, form)))

/** All that apply to any of the subjects, the rates of wider subjects included. */
export const ratesApplying = (
  view: View,
  provider: string,
  subjects: readonly string[],
): readonly AppliedRate[] => {
  const [lengths] = view.read(rangeLengthsKey(provider))
  const asked = formsAsked(subjects, decodeRangeLengths(lengths))
  const keys = [...keysAsked(provider, asked)]
  const values = view.read(...keys)
  const byKey = new Map(keys.map((key, index) => [key, values[index]]))
  return asked.flatMap(({ subject, form }) =>
    decodeRates(byKey.get(subjectKey(provider, form)))
      .filter((rate) => isLive(rate, view.now))
      .map((rate) => ({ rate, subject, form })),
  )
}

function toRate(view: View, { newId: id, by, cause }: NewRateAuthor, draft: RateDraft): Rate {
  if (!isLive(draft, view.now)) {
    const rule = 'must lie in the future'
    refuseSubject({
      code: 'RATE_EXPIRY_INVALID',
      thing: 'expiry',
      rule,
      finding: 'a moment of the past',
    })
  }
  const at = view.now
  const own = rateId(at, id, normalForm(draft.subject))
  return { ...draft, id: own, by, at, ...(cause === undefined ? {} : { cause }) }
}

function tooWide({ subject }: RateDraft, force: boolean): Commit<RateResult<never>> | undefined {
  const reach = force ? undefined : wideReach(subject)
  if (reach === undefined) return undefined
  const message = `${subject}: would cover ${reach}; use force if that is meant`
  return answer(refusal('RateLimitTooWide', message))
}

/** Weaker, or as strong for a shorter time. */
function loosens(rate: Rate, old: Rate): boolean {
  const endless = Number.POSITIVE_INFINITY
  return !isBlock(rate) || (rate.expiresAt ?? endless) < (old.expiresAt ?? endless)
}

function replace(
  view: View,
  author: NewRateAuthor,
  kind: RateChangeKind,
  rate: Rate,
  gone: readonly Rate[],
): Commit<RateResult<Rate>> {
  const form = normalForm(rate.subject)
  const away = new Set(gone.map(({ id }) => id))
  const kept = liveRates(view, author.provider, form).filter(({ id }) => !away.has(id))
  const full = roomFault(kept, author.by)
  if (full !== undefined) return answer(refusal('RateLimitsFull', `${rate.subject}: ${full}`))
  const { provider } = author
  const left = [[form, [...kept, rate]]] as const
  const value = encodeListed(rate)
  const listed = listingsOf(provider, rate).map((key) => ({ key, value, ...expiry([rate]) }))
  return {
    writes: [
      ...writeRates(provider, form, [...kept, rate]),
      ...listed,
      ...gone.flatMap((old) => unlist(provider, old)),
      ...writeLengthOf(view, provider, form),
    ],
    appends: changes(view, author, { kind, added: [rate], removed: gone, left }),
    result: ok(rate),
  }
}

const unlist = (provider: string, rate: Rate): readonly Write[] =>
  listingsOf(provider, rate).map((key) => ({ key }))

/**
 * Who acts by a delegation has less room: however many they are and to whomever they hand it on, the
 * service can still block the subject, and so can the holders of its other grants.
 */
function roomFault(kept: readonly Rate[], { chain }: Actor): string | undefined {
  const grant = chain.at(-1)
  if (kept.length >= MAX_RATES_PER_SUBJECT) {
    return `may have at most ${MAX_RATES_PER_SUBJECT} rates`
  }
  if (grant === undefined) return undefined
  const grants = kept.flatMap(({ by }) => by.chain.slice(-1))
  if (grants.length >= MAX_DELEGATED_RATES) {
    return `may have at most ${MAX_DELEGATED_RATES} rates that were set by delegation`
  }
  return grants.filter((each) => each === grant).length >= MAX_RATES_PER_GRANT
    ? `may have at most ${MAX_RATES_PER_GRANT} rates through one grant of the service`
    : undefined
}

function findRate(view: View, provider: string, id: string): Rate | undefined {
  return liveAt(view, subjectKeyOfId(provider, id)).find((rate) => rate.id === id)
}

const liveRates = (view: View, provider: string, form: string): readonly Rate[] =>
  liveAt(view, subjectKey(provider, form))

function liveAt(view: View, key: Key): readonly Rate[] {
  const [value] = view.read(key)
  return decodeRates(value).filter((rate) => isLive(rate, view.now))
}

function writeRates(provider: string, form: string, rates: readonly Rate[]): readonly Write[] {
  const [key, onBoard] = [subjectKey(provider, form), boardKey(provider, form)]
  const effect = effectOf(rates)
  if (effect === undefined) return [{ key }, { key: onBoard }]
  return [
    { key, value: encodeRates(rates), ...expiry(rates) },
    { key: onBoard, value: encodeEffect(effect), ...expiry(rates) },
  ]
}

const isRange = (form: string): boolean =>
  withLengthOf(NO_PREFIX_LENGTHS, form) !== NO_PREFIX_LENGTHS

/** Only where the form is a range of a length that no rate had before. */
function writeLengthOf(view: View, provider: string, form: string): readonly Write[] {
  if (!isRange(form)) return []
  const key = rangeLengthsKey(provider)
  const [kept] = view.read(key)
  const known = decodeRangeLengths(kept)
  const lengths = withLengthOf(known, form)
  return lengths === known ? [] : [{ key, value: encodeRangeLengths(lengths) }]
}

/** When the last of them expires; absent if one never does. */
function expiry(rates: readonly Rate[]): { readonly expiresAt?: Instant } {
  let last: Instant | undefined
  for (const { expiresAt } of rates) {
    if (expiresAt === undefined) return {}
    if (last === undefined || expiresAt > last) last = expiresAt
  }
  return last === undefined ? {} : { expiresAt: last }
}

/** What a change does, and all rates that it leaves to the forms that it concerns. */
interface Changed extends Pick<RateChange, 'kind' | 'added' | 'removed'> {
  readonly left: readonly (readonly [form: string, rates: readonly Rate[]])[]
}

/** For all who follow, for the history of all, and once more for that of each form. */
function changes(
  view: View,
  { provider, by, cause }: RateAuthor,
  { left, ...done }: Changed,
): readonly Append[] {
  const effects = left.map(([form, rates]) => [form, effectOf(rates) ?? null] as const)
  const entry = encodeRateChange({ ...done, at: view.now, by, cause })
  const histories = left.map(([form]) => historyStream(provider, form))
  return [
    {
      stream: effectStream(provider),
      entry: encodeEffects({ at: view.now, effects }),
      followed: true,
    },
    ...[changeStream(provider), ...histories].map((stream) => ({ stream, entry })),
  ]
}

/** For the history: a delegation was revoked. */
export const revocationChange = (
  view: View,
  { provider, by, cause }: RateAuthor,
  revoker: string,
  { fingerprint, issuer, audience }: Omit<RevokedDelegation, 'revoker'>,
): Append => {
  const revoked = { fingerprint, issuer, audience, revoker }
  const change = {
    kind: 'revoke',
    at: view.now,
    by,
    cause,
    added: [],
    removed: [],
    revoked,
  } as const
  return { stream: changeStream(provider), entry: encodeRateChange(change) }
}

function notFound(id: string): RateResult<never, 'RateLimitsNotFound'> {
  return refusal('RateLimitsNotFound', `rate ${id}: must be one of this provider, found none`)
}
