/** What changes rates and reads them: pure steps over a store's view, one provider each. */
import { answer, type Instant, type Plan, type View, type Write } from '../core/index.ts'
import { changeStream, idKey, subjectIndex, subjectKey } from './keys.ts'
import { refuse } from './mistake.ts'
import { coveringForms, normalForm } from './normalise.ts'
import {
  type Actor,
  isBlock,
  isLive,
  MAX_RATES_PER_SUBJECT,
  type Rate,
  type RateDraft,
} from './rate.ts'
import { ok, type Result, refused } from './refusal.ts'
import { type ChangeKind, decodeRates, encodeChange, encodeRates } from './stored.ts'

/** Who acts, and under which id something new is kept: chosen before the step, which may run again. */
export interface Act {
  readonly provider: string
  readonly by: Actor
  readonly cause?: string | undefined
  readonly newId: string
}

export const addRate = (view: View, act: Act, draft: RateDraft): Plan<Result<Rate>> => {
  const rate = toRate(view, act, draft)
  return replace(view, act, 'add', rate, [])
}

export interface Replaced {
  readonly rate: Rate
  readonly replaced: readonly Rate[]
}

/** Replaces all rates that this label gave this very subject. Loosens a block only by force. */
export const setRate = (
  view: View,
  act: Act,
  draft: RateDraft,
  force: boolean,
): Plan<Result<Replaced>> => {
  const rate = toRate(view, act, draft)
  const gone = ratesOf(view, act.provider, draft.subject).filter(
    ({ label }) => label === draft.label,
  )
  const block = gone.find((old) => isBlock(old) && loosens(rate, old))
  if (block !== undefined && !force) {
    const rule = `would loosen the block ${block.id} of ${draft.subject}; force says that this is meant`
    return answer(refused('RateLimitLoosened', `rate ${draft.rate}: ${rule}`))
  }
  const { result, ...plan } = replace(view, act, 'set', rate, gone)
  return { ...plan, result: result.error ? result : ok({ rate, replaced: gone }) }
}

/** All or nothing: an unknown id among several removes none. */
export const removeRates = (
  view: View,
  act: Omit<Act, 'newId'>,
  ids: readonly string[],
): Plan<Result<readonly Rate[]>> => {
  const found: Rate[] = []
  for (const id of new Set(ids)) {
    const rate = findRate(view, act.provider, id)
    if (rate === undefined) return answer(notFound(id))
    found.push(rate)
  }
  const gone = new Set(found.map(({ id }) => id))
  const forms = new Set(found.map(({ subject }) => normalForm(subject)))
  const rewritten = [...forms].map((form) => {
    const kept = liveRates(view, act.provider, form).filter(({ id }) => !gone.has(id))
    return writeRates(act.provider, form, kept)
  })
  const writes = [...rewritten, ...found.map(({ id }) => ({ key: idKey(act.provider, id) }))]
  return { writes, appends: [change(view, act, 'remove', [], found)], result: ok(found) }
}

export const getRate = (view: View, provider: string, id: string): Result<Rate> => {
  const rate = findRate(view, provider, id)
  return rate === undefined ? notFound(id) : ok(rate)
}

/** Of this very subject, as it was given: what other spellings were given is not shown. */
export const ratesOf = (view: View, provider: string, subject: string): readonly Rate[] =>
  liveRates(view, provider, normalForm(subject)).filter((rate) => rate.subject === subject)

/** A rate that applies to a subject, and the form of the subject that it was found under. */
export interface AppliedRate {
  readonly rate: Rate
  readonly subject: string
  readonly form: string
}

/** All that apply to any of the subjects, those of wider subjects included. */
export const ratesApplying = (
  view: View,
  provider: string,
  subjects: readonly string[],
): readonly AppliedRate[] =>
  subjects.flatMap((subject) =>
    coveringForms(subject).flatMap((form) =>
      liveRates(view, provider, form).map((rate) => ({ rate, subject, form })),
    ),
  )

function toRate(view: View, { newId: id, by, cause }: Act, draft: RateDraft): Rate {
  if (!isLive(draft, view.now)) {
    const rule = 'must lie in the future'
    refuse({ code: 'RATE_EXPIRY_INVALID', thing: 'expiry', rule, finding: 'a moment of the past' })
  }
  return { ...draft, id, by, at: view.now, ...(cause === undefined ? {} : { cause }) }
}

/** Weaker, or as strong for a shorter time. */
function loosens(rate: Rate, old: Rate): boolean {
  const endless = Number.POSITIVE_INFINITY
  return !isBlock(rate) || (rate.expiresAt ?? endless) < (old.expiresAt ?? endless)
}

function replace(
  view: View,
  act: Act,
  kind: ChangeKind,
  rate: Rate,
  gone: readonly Rate[],
): Plan<Result<Rate>> {
  const form = normalForm(rate.subject)
  const away = new Set(gone.map(({ id }) => id))
  const kept = liveRates(view, act.provider, form).filter(({ id }) => !away.has(id))
  if (kept.length >= MAX_RATES_PER_SUBJECT) {
    const rule = `may have at most ${MAX_RATES_PER_SUBJECT} rates`
    return answer(refused('RateLimitsFull', `${rate.subject}: ${rule}`))
  }
  const writes = [
    writeRates(act.provider, form, [...kept, rate]),
    { key: idKey(act.provider, rate.id), value: form, ...expiry([rate]) },
    ...gone.map(({ id }) => ({ key: idKey(act.provider, id) })),
  ]
  return { writes, appends: [change(view, act, kind, [rate], gone)], result: ok(rate) }
}

function findRate(view: View, provider: string, id: string): Rate | undefined {
  const [form] = view.read(idKey(provider, id))
  if (form === undefined) return undefined
  return liveRates(view, provider, form).find((rate) => rate.id === id)
}

function liveRates(view: View, provider: string, form: string): readonly Rate[] {
  const [value] = view.read(subjectKey(provider, form))
  return decodeRates(value).filter((rate) => isLive(rate, view.now))
}

function writeRates(provider: string, form: string, rates: readonly Rate[]): Write {
  const key = subjectKey(provider, form)
  if (rates.length === 0) return { key }
  return { key, value: encodeRates(rates), index: subjectIndex(provider), ...expiry(rates) }
}

/** When all of them are over; never, if one is for good. */
function expiry(rates: readonly Rate[]): { readonly expiresAt?: Instant } {
  let last: Instant | undefined
  for (const { expiresAt } of rates) {
    if (expiresAt === undefined) return {}
    if (last === undefined || expiresAt > last) last = expiresAt
  }
  return last === undefined ? {} : { expiresAt: last }
}

function change(
  view: View,
  { provider, by, cause }: Omit<Act, 'newId'>,
  kind: ChangeKind,
  added: readonly Rate[],
  removed: readonly Rate[],
) {
  const entry = encodeChange({ kind, at: view.now, by, cause, added, removed })
  return { stream: changeStream(provider), entry }
}

function notFound(id: string): Result<never, 'RateLimitsNotFound'> {
  return refused('RateLimitsNotFound', `rate ${id}: must be one of this provider, found none`)
}
