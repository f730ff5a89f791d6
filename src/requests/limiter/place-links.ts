/**
 * Places where the store has partitions: who holds a place is kept beside the places of its bucket, and
 * a place is released by its bare id. So a link, in a partition of its own for each id, says where to
 * look. It is written first: a place that nobody can find comes back by time only.
 */
import { assert, HeadgateError } from '../../core/errors.ts'
import type { OperationErrorCode } from '../../core/once.ts'
import {
  type Commit,
  type Key,
  type Store,
  answer as unchanged,
  type View,
} from '../../core/store.ts'
import { after, type Instant, instant, type Span } from '../../core/time.ts'
import type { PlaceAnswer } from './places.ts'

/** What a call that takes a place has its link say. */
export interface PlaceLink {
  readonly id: string
  readonly locator: Key
  readonly holder: Key
  /** Of the places. An id that holds a place under one limit cannot name a place under another. */
  readonly state: Key
  /** Tells this call from others with the same id. */
  readonly nonce: string
  readonly heldFor: Span
}

/**
 * Links, then takes. Where no place is free the link goes, unless another call with the same id has
 * come since. One that a crash leaves behind ends when the place would have.
 */
export const linked = async (
  store: Store,
  link: PlaceLink,
  take: () => Promise<PlaceAnswer>,
): Promise<PlaceAnswer> => {
  const isNew = await store.transact((view) => write(view, link), [link.locator])
  const answer = await take()
  if (isNew && answer.place === undefined) await unlink(store, link.locator, link.nonce)
  return answer
}

/** Follows the link, releases, and unlinks. */
export const releaseLinked = async (
  store: Store,
  locator: Key,
  release: (view: View, holder: Key) => Commit<boolean>,
): Promise<boolean> => {
  const find = (view: View) => unchanged(read(view, locator))
  const link = await store.transact(find, [locator], 'look')
  if (link === undefined) return false
  const { holder, state, nonce } = link
  const released = await store.transact((view) => release(view, holder), [holder, state])
  await unlink(store, locator, nonce)
  return released
}

export const heldElsewhere = (id: string) =>
  new HeadgateError<OperationErrorCode>({
    code: 'OPERATION_ID_REUSED',
    thing: `operationId ${id}`,
    rule: 'must name one place only; this id holds a place under another limit or id',
  })

function write(view: View, link: PlaceLink): Commit<boolean> {
  const { id, locator, holder, state, nonce, heldFor } = link
  const known = read(view, locator)
  const isHeld = known !== undefined && known.until > view.now
  if (isHeld && known.state !== state) throw heldElsewhere(id)
  const end = after(view.now, heldFor)
  // A retry may ask for less than the place has.
  const expiresAt = isHeld && known.until > end ? known.until : end
  const value = [expiresAt, nonce, holder, state].map(encodeURIComponent).join(' ')
  return { writes: [{ key: locator, value, expiresAt }], appends: [], result: !isHeld }
}

async function unlink(store: Store, locator: Key, nonce: string): Promise<void> {
  await store.transact(
    (view) => {
      const isSame = read(view, locator)?.nonce === nonce
      return { writes: isSame ? [{ key: locator }] : [], appends: [], result: undefined }
    },
    [locator],
  )
}

interface KnownLink extends Pick<PlaceLink, 'holder' | 'state' | 'nonce'> {
  readonly until: Instant
}

function read(view: View, locator: Key): KnownLink | undefined {
  const [value] = view.read(locator)
  if (value === undefined) return undefined
  const [until, nonce, holder, state] = value.split(' ').map(decodeURIComponent)
  assert(
    nonce !== undefined && holder !== undefined && state !== undefined,
    'a link has an end, a nonce, a holder and a state',
  )
  return { until: instant(Number(until)), nonce, holder, state }
}
