/**
 * Rates in a store: the keys they are kept under, and rates and changes as text. What is read back
 * was written here, and is trusted.
 *
 * The provider is the tag of every name: all of it shares a partition.
 */
import { createHash } from 'node:crypto'
import { quote } from '../../core/errors.ts'
import { listedName, nameOf } from '../../core/names.ts'
import { wholeNumbers } from '../../core/numbers.ts'
import type { Key, Value, View } from '../../core/store.ts'
import { type Instant, instant } from '../../core/time.ts'
import { NO_PREFIX_LENGTHS, type PrefixLengths } from '../../net/range-table.ts'
import { refuseSubject } from '../mistake.ts'
import type { Actor, Effect, Rate } from './rate.ts'

const subjectName = (provider: string, ...parts: readonly string[]): string =>
  nameOf('subjects', provider, ...parts)

/** All rates of the subjects that have one normal form. */
export const subjectKey = (provider: string, form: string): Key =>
  subjectName(provider, 'subject', placeOf(form))

/** The same of the subject of a rate: its id says where that is, so nobody has to look it up first. */
export const subjectKeyOfId = (provider: string, id: string): Key =>
  subjectName(provider, 'subject', id.slice(-PLACE_LENGTH))

/** 128 bits of a digest of a form. */
const placeOf = (form: string): string =>
  createHash('sha256').update(form).digest().subarray(0, 16).toString('base64url')

const PLACE_LENGTH = 22

/**
 * The lengths of all ranges that ever had a rate: what a question about an address looks for. It only
 * grows, to 160 numbers at most, and so hardly any change writes it.
 */
export const rangeLengthsKey = (provider: string): Key => subjectName(provider, 'range-lengths')

/** What those rates come to: all that a server keeps in memory. Listed in `boardIndex`. */
export const boardKey = (provider: string, form: string): Key =>
  listedName(boardIndex(provider), form)

/**
 * The keys under which a rate is listed for people: by the time at which it was set, by its subject as
 * it was spelled, and by its label, then by time. Each holds the whole rate, which never changes: a page
 * of a list is one read.
 */
export const listingsOf = (
  provider: string,
  { id, subject, label }: Pick<Rate, 'id' | 'subject' | 'label'>,
): readonly Key[] => [
  listedName(listIndex(provider, 'id'), id),
  listedName(listIndex(provider, 'spelled'), `${subject} ${id}`),
  ...(label === undefined
    ? []
    : [listedName(listIndex(provider, 'label'), `${labelItem(label)}${id}`)]),
]

/** What the items of a label begin with. A label may hold what no key may. */
export const labelItem = (label: string): string => `${encodeURIComponent(label)} `

/** Ids begin with the time at which their rate was set, so that their order is that of time, and end with where it is kept. */
export const rateId = (at: Instant, id: string, form: string): string =>
  `${idTime(at)}-${id}-${placeOf(form)}`

/** Eleven digits of base 36 count microseconds until the year 6000. */
export const idTime = (at: Instant): string => at.toString(36).padStart(11, '0')

/** The receipt of an invocation, by the fingerprint of what was signed. */
export const receiptKey = (provider: string, fingerprint: string): Key =>
  subjectName(provider, 'receipt', fingerprint)

/** Who revoked a delegation, by the fingerprint of what was signed. */
export const revocationKey = (provider: string, fingerprint: string): Key =>
  subjectName(provider, 'revoked', fingerprint)

/** How often delegations were revoked by those who act through one grant of the service. */
export const grantRevocationsKey = (provider: string, fingerprint: string): Key =>
  subjectName(provider, 'revocations', fingerprint)

/** How often a block under this form refused. */
export const refusalsKey = (provider: string, form: string): Key =>
  subjectName(provider, 'refusals', form)

/** The index of all board keys. */
export const boardIndex = (provider: string): string => subjectName(provider, 'board')

/** The index of one way to list rates. */
export const listIndex = (provider: string, list: 'id' | 'spelled' | 'label'): string =>
  subjectName(provider, list)

/** The history of all changes. It is never trimmed. */
export const changeStream = (provider: string): string => subjectName(provider, 'changes')

/** What each change made of the forms that it concerns: for servers that follow, which trim it. */
export const effectStream = (provider: string): string => subjectName(provider, 'effects')

/** The changes that concern one normal form, again: so that nobody searches all changes for them. */
export const historyStream = (provider: string, form: string): string =>
  subjectName(provider, 'history', form)

/** A provider is part of every key, and has a bound as they have. */
export const checkProvider = (did: string): string => {
  if (/^(?=.{1,270}$)did:[a-z0-9]+:(?:[A-Za-z0-9._:-]|%[0-9A-Fa-f]{2})+$/.test(did)) return did
  const rule = 'must be a DID, such as did:web:example.com'
  return refuseSubject({ code: 'PROVIDER_INVALID', thing: 'provider', rule, finding: quote(did) })
}

export type RateChangeKind = 'add' | 'remove' | 'set' | 'revoke'

/** A delegation that was revoked, known by what was signed. */
export interface RevokedDelegation {
  readonly fingerprint: string
  readonly issuer: string
  readonly audience: string
  /** In whose name: the issuer of the invocation, or who gave it the right to revoke. */
  readonly revoker: string
}

/** One entry of the history. Of two that concern one form, the later says what holds. */
export interface RateChange {
  readonly kind: RateChangeKind
  readonly at: Instant
  readonly by: Actor
  readonly cause?: string | undefined
  readonly added: readonly Rate[]
  readonly removed: readonly Rate[]
  /** Only where the kind is `revoke`, which neither adds nor removes rates. */
  readonly revoked?: RevokedDelegation | undefined
}

/** What the rates of each form come to from this change on; null: nothing. */
export interface ChangedEffects {
  readonly at: Instant
  readonly effects: readonly (readonly [form: string, effect: Effect | null])[]
}

export const encodeRates = (rates: readonly Rate[]): Value => JSON.stringify(rates)
export const decodeRates = (value: Value | undefined): readonly Rate[] => {
  const stored: readonly StoredRate[] = value === undefined ? [] : JSON.parse(value)
  return stored.map(toRate)
}

export const encodeRangeLengths = (lengths: PrefixLengths): Value => JSON.stringify(lengths)
export const decodeRangeLengths = (value: Value | undefined): PrefixLengths =>
  value === undefined ? NO_PREFIX_LENGTHS : JSON.parse(value)

export const encodeListed = (rate: Rate): Value => JSON.stringify(rate)
export const decodeListed = (value: Value): Rate => {
  const stored: StoredRate = JSON.parse(value)
  return toRate(stored)
}

export const encodeEffects = (changed: ChangedEffects): Value => JSON.stringify(changed)
export const decodeEffects = (value: Value): ChangedEffects => {
  const { at, effects }: Plain<ChangedEffects> = JSON.parse(value)
  return { at: instant(at), effects }
}

export const encodeRateChange = (change: RateChange): Value => JSON.stringify(change)
export const decodeRateChange = (value: Value): RateChange => {
  const stored: StoredChange = JSON.parse(value)
  return {
    ...stored,
    at: instant(stored.at),
    added: stored.added.map(toRate),
    removed: stored.removed.map(toRate),
  }
}

type Plain<T> = { [Name in keyof T]: T[Name] extends Instant | undefined ? number : T[Name] }
type StoredRate = Plain<Rate>
interface StoredChange extends Omit<RateChange, 'at' | 'added' | 'removed'> {
  readonly at: number
  readonly added: readonly StoredRate[]
  readonly removed: readonly StoredRate[]
}

function toRate({ at, expiresAt, ...rest }: StoredRate): Rate {
  const expiry = expiresAt === undefined ? {} : { expiresAt: instant(expiresAt) }
  return { ...rest, at: instant(at), ...expiry }
}

/** How often a block has refused, for people who ask why. No decision reads it. */
export interface Refusals {
  readonly count: number
  readonly last: Instant
}

/** Of those forms under which a block has refused. */
export const refusalsIn = (
  view: View,
  provider: string,
  forms: readonly string[],
): ReadonlyMap<string, Refusals> => {
  const distinct = [...new Set(forms)]
  const values = view.read(...distinct.map((form) => refusalsKey(provider, form)))
  return new Map(
    distinct.flatMap((form, at) => {
      const value = values[at]
      return value === undefined ? [] : [[form, decodeRefusals(value)] as const]
    }),
  )
}

export const encodeRefusals = ({ count, last }: Refusals): Value => `${count} ${last}`

function decodeRefusals(value: Value): Refusals {
  const [count = 0, last = 0] = wholeNumbers(value, 2)
  return { count, last: instant(last) }
}
