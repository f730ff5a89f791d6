/**
 * Places: how many may do something at once. Acquired before, released after; a place whose holder
 * died comes back by itself. Each is a hold of one on a budget that nothing is ever spent of.
 */
import {
  type BudgetState,
  decideBudget,
  decodeBudget,
  encodeBudget,
  endHold,
  holdExpiry,
  NOTHING_SPENT,
  openAt,
} from '../../core/budget.ts'
import { parseDuration } from '../../core/duration.ts'
import { HeadgateError, quote, StoreError } from '../../core/errors.ts'
import { nameOf, tagOf } from '../../core/names.ts'
import { checkOperationId, MAX_OPERATION_ID } from '../../core/once.ts'
import {
  type Commit,
  type Key,
  type Step,
  answer as unchanged,
  type View,
  type Write,
} from '../../core/store.ts'
import { days, type Instant, instant, type Span, span, type Wait } from '../../core/time.ts'
import { type BucketAsk, bucketName } from '../catalog/catalog.ts'
import type { Bucket, Places } from '../catalog/definition.ts'
import { isDivided } from './across.ts'
import type { AskErrorCode } from './charge.ts'
import { recentGuesses } from './guesses.ts'
import { hashOf } from './operations.ts'
import { heldElsewhere, linked, releaseLinked } from './place-links.ts'
import type { Caller, LimiterOptions, PlaceVerb } from './verbs.ts'

export interface Place {
  /** Names the place when it is released. */
  readonly id: string
  /** When it comes back by itself, if it is not released before. */
  readonly expiresAt: Instant
}

export interface PlaceAnswer {
  readonly allowed: boolean
  /** `ALL_TAKEN`; or allowed without a place, as the store is down and the limit is `onStoreFailure: open`. */
  readonly reason?: 'ALL_TAKEN' | 'STORE_UNAVAILABLE'
  /** Only where a place was free. */
  readonly place?: Place
  /** Places still free; infinite where that is not known. */
  readonly remaining: number
  /** Until a place is free at the latest; sooner if one is released. */
  readonly retryIn: Wait
  /** This id holds its place already; it did not get another. */
  readonly replayed?: true
}

/** Where a place is asked for. */
export interface PlaceAsk extends BucketAsk, AcquireOptions {}

export interface AcquireOptions {
  /** The same id again gets the place that it has: a retry after a lost reply takes no second one. */
  readonly operationId?: string
  /** Instead of the limit's own `heldFor`. */
  readonly heldFor?: Span | string
}

export type LimiterErrorCode = 'DURATION_INVALID'

export interface PlaceVerbs {
  acquire(ask: PlaceAsk, caller: Caller): Promise<PlaceAnswer>
  look(ask: BucketAsk): Promise<PlaceAnswer>
  release(placeId: string, caller: Caller): Promise<boolean>
}

export const placeVerbs = ({ store, catalog, observe }: LimiterOptions): PlaceVerbs => {
  const isCluster = isDivided(store)
  const guesses = recentGuesses()
  /** While the store is down, as the limit says; without a place there is nothing to release. */
  const ask = async (verb: PlaceVerb, bucket: Bucket, asking: () => Promise<PlaceAnswer>) => {
    const limit = bucket.definition.name
    try {
      const answer = await asking()
      observe?.({ kind: 'place', verb, limit, answer })
      return answer
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      const open = bucket.definition.onStoreFailure === 'open'
      observe?.({ kind: 'store-failure', error, open })
      if (!open) throw error
      observe?.({ kind: 'place', verb, limit, answer: OPEN })
      return OPEN
    }
  }
  return {
    acquire: async ({ operationId, heldFor, ...asked }, { scope }) => {
      const bucket = catalog().resolve(asked)
      const nonce = crypto.randomUUID()
      const length = heldFor === undefined ? placesOf(bucket).heldFor : toSpan(heldFor, 'heldFor')
      const state = bucketName('places', bucket)
      const id =
        operationId === undefined ? newPlaceId(nonce, state) : checkOperationId(operationId)
      const locator = locatorKey(scope, id)
      const holder = isCluster ? holderBeside(bucket, locator) : locator
      const term = { id, holder, nonce, heldFor: length }
      const take = () => {
        const keys = [state, holder]
        return store.transact((view) => acquirePlace(view, bucket, term), keys)
      }
      const link = { locator, holder, state, nonce, heldFor: length, id }
      const answer = await ask(
        'acquire',
        bucket,
        isCluster ? () => linked(store, link, take) : take,
      )
      if (answer.place !== undefined) guesses.note(locator, [state])
      return answer
    },
    look: async (asked) => {
      const bucket = catalog().resolve(asked)
      const { heldFor } = placesOf(bucket)
      const step: Step<PlaceAnswer> = (view) => {
        const term = { id: '', holder: undefined, nonce: '', heldFor }
        const { result } = acquirePlace(view, bucket, term)
        const { place: _, ...answer } = result
        // One was counted as taken that is not.
        return unchanged({ ...answer, remaining: answer.remaining + (answer.allowed ? 1 : 0) })
      }
      const keys = [bucketName('places', bucket)]
      return ask('check', bucket, () => store.transact(step, keys, 'look'))
    },
    release: async (placeId, { scope }) => {
      const locator = locatorKey(scope, checkOperationId(placeId))
      if (isCluster) return releaseLinked(store, locator, releasePlace)
      const keys = [locator, ...guesses.of(locator), ...placesOn(placeId)]
      return store.transact((view) => releasePlace(view, locator), keys)
    },
  }
}

/** Longer waits and holds are slips, and a moment so far ahead could not be kept. */
const MAX_LENGTH = days(3_650)

/** `thing` names it in messages. */
export const toSpan = (length: Span | string, thing: string, least = 1): Span => {
  const given = typeof length === 'string' ? parseDuration(length) : length
  if (Number.isSafeInteger(given) && given !== undefined && given >= least && given <= MAX_LENGTH) {
    return given
  }
  throw new HeadgateError<LimiterErrorCode>({
    code: 'DURATION_INVALID',
    thing,
    rule: `must be a duration ${least > 0 ? 'above' : 'of at least'} zero with its unit (90s, 1h30m), at most 10 years`,
    finding: quote(String(length)),
  })
}

const OPEN: PlaceAnswer = {
  allowed: true,
  reason: 'STORE_UNAVAILABLE',
  remaining: Number.POSITIVE_INFINITY,
  retryIn: span(0),
}

interface PlaceTerm {
  /** Of the place. */
  readonly id: string
  /** Where it is kept who holds it; undefined: nobody will. */
  readonly holder: Key | undefined
  /** Chance, drawn by the caller: a step that runs again must decide the same. */
  readonly nonce: string
  readonly heldFor: Span
}

/** Takes a place, unless all are taken. The same `id` again gets the place that it has. */
const acquirePlace = (
  view: View,
  bucket: Bucket,
  { id, holder, nonce, heldFor }: PlaceTerm,
): Commit<PlaceAnswer> => {
  const { now } = view
  const places = placesOf(bucket)
  const key = bucketName('places', bucket)
  const [stored, value] = view.read(key, ...(holder === undefined ? [] : [holder]))
  const state = stored === undefined ? undefined : decodeState(stored)
  const amount = BigInt(places.atOnce)
  const held = value === undefined ? undefined : heldPlace(value)
  if (held !== undefined && held.expiresAt > now && held.key !== key) throw heldElsewhere(id)
  if (held !== undefined && isHeld(held, state, now)) {
    const look = { now, cost: 0n, mode: 'check' as const }
    const free = decideBudget({ kind: 'budget', amount }, state?.budget, look)
    const place = { id, expiresAt: held.expiresAt }
    const remaining = Number(free.decision.remaining)
    return unchanged({ allowed: true, place, remaining, retryIn: span(0), replayed: true })
  }
  const at = stateAt(state, now, nonce)
  // Where many are held, a new one ends a little sooner than asked, never later.
  const expiresAt = holdExpiry(at.budget, instant(now + heldFor), now)
  const limit = { kind: 'budget', amount, holdUntil: expiresAt } as const
  const { decision, next } = decideBudget(limit, at.budget, { now, cost: 1n, mode: 'spend' })
  const remaining = Number(decision.remaining)
  if (!decision.allowed || next === undefined) {
    const { retryIn } = decision
    return unchanged({ allowed: false, reason: 'ALL_TAKEN', remaining, retryIn })
  }
  const result = { allowed: true, place: { id, expiresAt }, remaining, retryIn: span(0) }
  const taken = writeState(key, { ...at, budget: next })
  if (holder === undefined) return { writes: [taken], appends: [], result }
  const kept = { key: holder, value: `${expiresAt} ${at.era} ${key}`, expiresAt }
  return { writes: [taken, kept], appends: [], result }
}

/** Gives a place back. False: it was released before, or its time had run out. */
const releasePlace = (view: View, holder: Key): Commit<boolean> => {
  const [value] = view.read(holder)
  if (value === undefined) return unchanged(false)
  const held = heldPlace(value)
  const [stored] = view.read(held.key)
  const state = stored === undefined ? undefined : decodeState(stored)
  const gone: Write = { key: holder }
  if (state === undefined || !isHeld(held, state, view.now)) {
    return { writes: [gone], appends: [], result: false }
  }
  const budget = endHold(state.budget, { expiresAt: held.expiresAt, amount: 1n })
  return { writes: [writeState(held.key, { ...state, budget }), gone], appends: [], result: true }
}

/**
 * Chance, and where the places are: so a server that did not give the place away knows what its release
 * reads. Only ever a guess; an id that would be too long goes without, as one that the caller chose does.
 */
function newPlaceId(nonce: string, state: Key): string {
  const id = nonce + state.slice(ROOM.length)
  return id.length <= MAX_OPERATION_ID && PRINTABLE.test(id) ? id : nonce
}

const placesOn = (placeId: string): readonly Key[] => {
  const path = PLACE_ID.exec(placeId)?.[1]
  return path === undefined ? [] : [`${ROOM}${path}`]
}

const ROOM = 'places'
const PLACE_ID = /^[\da-f-]{36}(\/\{.*)$/
const PRINTABLE = /^[\x21-\x7e]*$/

/** A partition of its own for each id: a place is released by its bare id. */
const locatorKey = (scope: string, id: string): Key => nameOf('holders', hashOf(scope, id))

/** In the partition of the places themselves. */
const holderBeside = ({ tag }: Bucket, locator: Key): Key => nameOf('holders', tag, tagOf(locator))

/**
 * Holds that end together are one entry, so a hold alone does not say whose it is. After a clock
 * stepped back, the holder of a place that had ended could release one that another took since.
 * Hence eras: places of an earlier one are not released, they come back when their time is over.
 */
interface PlacesState {
  readonly budget: BudgetState
  /** No two are alike: the chance of the call that began it. */
  readonly era: string
  /** The newest end of a hold that was dropped in this era because its time had run out. */
  readonly endedAt: Instant
}

function stateAt(state: PlacesState | undefined, now: Instant, era: string): PlacesState {
  if (state === undefined) return { budget: NOTHING_SPENT, era, endedAt: instant(0) }
  const budget = openAt(state.budget, now)
  if (now < state.endedAt) return { budget, era, endedAt: instant(0) }
  const dropped = state.budget.held[state.budget.held.length - budget.held.length - 1]
  return { ...state, budget, endedAt: dropped?.expiresAt ?? state.endedAt }
}

function isHeld(place: HeldPlace, state: PlacesState | undefined, now: Instant): boolean {
  if (state === undefined || place.era !== state.era) return false
  return place.expiresAt > now && place.expiresAt > state.endedAt
}

function writeState(key: Key, { budget, era, endedAt }: PlacesState): Write {
  const expiresAt = budget.held.at(-1)?.expiresAt
  if (expiresAt === undefined) return { key }
  return { key, value: `${endedAt} ${era} ${encodeBudget(budget)}`, expiresAt }
}

function decodeState(value: string): PlacesState {
  const [endedAt, era, budget] = cut(value)
  return { budget: decodeBudget(budget), era, endedAt: instant(Number(endedAt)) }
}

function placesOf({ definition: { name, places } }: Bucket): Places {
  if (places !== undefined) return places
  throw new HeadgateError<AskErrorCode>({
    code: 'LIMIT_KIND',
    thing: name,
    rule: 'bounds a rate, not how many run at once: spend from it instead',
  })
}

interface HeldPlace {
  readonly expiresAt: Instant
  readonly era: string
  readonly key: Key
}

function heldPlace(value: string): HeldPlace {
  const [expiresAt, era, key] = cut(value)
  return { expiresAt: instant(Number(expiresAt)), era, key }
}

/** Three words, of which only the last may hold spaces. */
function cut(value: string): readonly [string, string, string] {
  const first = value.indexOf(' ')
  const second = value.indexOf(' ', first + 1)
  return [value.slice(0, first), value.slice(first + 1, second), value.slice(second + 1)]
}
