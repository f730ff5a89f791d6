/** A rate: what somebody set for a subject, when, by what right and why. Seed: "w3 Rate Limit Protocol". */
import type { Instant } from '../core/index.ts'
import { quote, refuse } from './mistake.ts'

/** By what right something was done. */
export interface Actor {
  /** A DID, or the name of another way in. */
  readonly issuer: string
  /** The delegations that were used, by CID, from the invocation's proof up to the provider's own. */
  readonly chain: readonly string[]
}

/** What a caller sets. The subject and the rate are kept as given; only look-up normalises. */
export interface RateDraft {
  readonly subject: string
  /** 0 or less blocks. What else it means is for those who read it. */
  readonly rate: number
  /** From here on the rate is as if it had been removed. */
  readonly expiresAt?: Instant | undefined
  readonly reason?: string | undefined
  /** Who it belongs to, as "fraud" or "billing": `set` replaces by it. */
  readonly label?: string | undefined
}

export interface Rate extends RateDraft {
  /** Opaque, and never used twice. */
  readonly id: string
  readonly at: Instant
  readonly by: Actor
  /** The CID of the invocation that set it. */
  readonly cause?: string | undefined
}

/** In UTF-8. Room for any DID and any sensible URL; a subject is part of a store's key. */
export const MAX_SUBJECT_BYTES = 1_024

/** Nobody reads a longer reason, and a subject's rates are read whole. */
export const MAX_REASON = 1_024
export const MAX_LABEL = 128
export const MAX_RATE_ID = 128

/** Rates of one subject. Beyond this, somebody adds in a loop instead of replacing by label. */
export const MAX_RATES_PER_SUBJECT = 100

export const isBlock = ({ rate }: Pick<Rate, 'rate'>): boolean => rate <= 0

export const isLive = ({ expiresAt }: Pick<Rate, 'expiresAt'>, now: Instant): boolean =>
  expiresAt === undefined || expiresAt > now

export const checkDraft = (draft: RateDraft): RateDraft => {
  checkSubject(draft.subject)
  if (!Number.isFinite(draft.rate)) {
    const rule = 'must be a finite number'
    return refuse({ code: 'RATE_INVALID', thing: 'rate', rule, finding: String(draft.rate) })
  }
  if (draft.reason !== undefined) checkNote('reason', draft.reason, MAX_REASON)
  if (draft.label !== undefined) checkNote('label', draft.label, MAX_LABEL)
  return draft
}

export const checkSubject = (subject: string): string => {
  const bytes = Buffer.byteLength(subject)
  if (subject.trim() !== '' && bytes <= MAX_SUBJECT_BYTES && isKeepable(subject)) return subject
  const rule = `must be 1 to ${MAX_SUBJECT_BYTES} bytes of Unicode text without control characters`
  return refuse({ code: 'SUBJECT_INVALID', thing: 'subject', rule, finding: quote(subject) })
}

export const checkRateId = (id: string): string => {
  if (id !== '' && id.length <= MAX_RATE_ID && isKeepable(id)) return id
  const rule = `must be 1 to ${MAX_RATE_ID} characters without control characters`
  return refuse({ code: 'RATE_ID_INVALID', thing: 'id', rule, finding: quote(id) })
}

function checkNote(thing: 'reason' | 'label', text: string, longest: number): void {
  if (text !== '' && text.length <= longest && !UNKEEPABLE.test(text)) return
  const rule = `must be 1 to ${longest} characters of Unicode text`
  refuse({ code: 'RATE_NOTE_INVALID', thing, rule, finding: quote(text) })
}

/** What stores refuse in a key, and what nobody could tell apart in a list. */
const isKeepable = (text: string): boolean => !/\p{Cc}/u.test(text) && !UNKEEPABLE.test(text)
const UNKEEPABLE = /\p{Surrogate}|\0/u
