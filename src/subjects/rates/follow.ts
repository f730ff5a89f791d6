/**
 * How a server keeps its board up to date: it reads the index of all forms, which is the snapshot, and
 * from then on the stream of effects. A server trims what is old, so another that was away for longer
 * has missed something: it finds that out, and reads the snapshot again.
 */
import { itemOf } from '../../core/names.ts'
import type { Store } from '../../core/store.ts'
import { after, hours, type Instant, span } from '../../core/time.ts'
import { decodeEffect, type Effect } from './rate.ts'
import { boardIndex, decodeEffects, effectStream } from './rate-records.ts'

/** Changes in one page of the stream: each tells who made it and why. */
const CHANGES_PAGE = 1_000

/** Forms in one page of the board: each is a short text and a number. */
const BOARD_PAGE = 10_000

/** Replaces what is known of a form; undefined: nothing is left. */
export type PutEffect = (form: string, effect: Effect | undefined) => void

interface FilledBoard {
  readonly put: PutEffect
}

/** Where the board is read from. Each page that comes shows that the store is up. */
interface BoardSource {
  readonly store: Store
  readonly provider: string
  readonly onPage: () => void
}

/** Also what it is read into. */
interface BoardReading<Board extends FilledBoard> extends BoardSource {
  readonly create: () => Board
}

/**
 * The position of the newest change: found by doubling and halving, as a store tells no end. That is
 * at most two reads of one entry for each binary digit of the position, however long the stream is.
 */
export async function lastPosition({ store, provider, onPage }: BoardSource): Promise<number> {
  const atOrBeyond = async (position: number): Promise<number | undefined> => {
    const [entry] = await store.read(effectStream(provider), position - 1, 1)
    onPage()
    return entry?.position
  }
  let last = 0
  let none: number | undefined
  for (let stride = 1; none === undefined || none - last > 1; stride *= 2) {
    const probe = none === undefined ? last + stride : Math.ceil((last + none) / 2)
    const found = probe > Number.MAX_SAFE_INTEGER ? undefined : await atOrBeyond(probe)
    if (found === undefined) none = probe
    else last = found
  }
  return last
}

export interface Followed<Board extends FilledBoard> {
  readonly board: Board
  /** Of the last change that is on it: a follower goes on from here. */
  readonly position: number
}

/**
 * The board as it is now. What is committed after the first position is read from the stream, whatever
 * the pages of the snapshot show of it.
 */
export async function openBoard<Board extends FilledBoard>(
  source: BoardReading<Board>,
): Promise<Followed<Board>> {
  for (;;) {
    const from = await lastPosition(source)
    const board = source.create()
    await readBoard(source, board)
    const position = await applyChanges(source, board, from)
    // Else more was changed and trimmed meanwhile than the stream keeps.
    if (position !== undefined) return { board, position }
  }
}

/** From where it was, or anew if the stream no longer goes back that far. */
export async function followBoard<Board extends FilledBoard>(
  source: BoardReading<Board>,
  at: Followed<Board>,
): Promise<Followed<Board>> {
  const position = await applyChanges(source, at.board, at.position)
  return position === undefined ? openBoard(source) : { board: at.board, position }
}

async function readBoard(
  { store, provider, onPage }: BoardSource,
  board: FilledBoard,
): Promise<void> {
  for (let beyond = ''; ; ) {
    const items = await store.range(boardIndex(provider), beyond, BOARD_PAGE)
    onPage()
    for (const { key, value } of items) board.put(ownText(itemOf(key)), decodeEffect(value))
    const last = items.at(-1)
    if (last === undefined || items.length < BOARD_PAGE) return
    beyond = last.key
  }
}

/** A part of a text keeps the whole of it in memory: a copy does not, which saves a third of the board. */
const ownText = (part: string): string => Buffer.from(part).toString()

/**
 * Answers the position of the last change in the stream, or undefined if some may be missing. Of each
 * form, the last change says what holds.
 */
async function applyChanges(
  source: BoardSource,
  board: FilledBoard,
  from: number,
): Promise<number | undefined> {
  const { store, provider, onPage } = source
  for (let position = from; ; ) {
    const entries = await store.read(effectStream(provider), position, CHANGES_PAGE)
    onPage()
    const [first] = entries
    if (first !== undefined && !(await isNext(source, position, first.position))) return undefined
    for (const { entry } of entries) {
      for (const [form, effect] of decodeEffects(entry).effects) {
        board.put(form, effect ?? undefined)
      }
    }
    position = entries.at(-1)?.position ?? position
    if (entries.length < CHANGES_PAGE) return position
  }
}

/**
 * Whether nothing lay between two positions, of which the second was just read. Positions have gaps of
 * their own. But streams are trimmed from their oldest entry on: as long as one is left that is no newer
 * than the first position, nothing beyond that is gone.
 */
async function isNext(
  { store, provider, onPage }: BoardSource,
  position: number,
  next: number,
): Promise<boolean> {
  if (next === position + 1) return true
  const [oldest] = await store.read(effectStream(provider), 0, 1)
  onPage()
  return oldest !== undefined && oldest.position <= position
}

/** Polls come every 200 ms: who is an hour behind has slept, and reads the board anew. */
const FOLLOWED_FOR = hours(1)

/** Entries looked at and forgotten at once: a few milliseconds of SQLite's time. */
const TRIM_BITE = 500

/**
 * Forgets a bite of what is older than an hour; answers whether there may be more. The entry at
 * `position` stays: by it, or an older one, followers know that they have missed nothing. Several servers
 * may trim at once, and a clock that leaps costs the others a look at the snapshot, no more.
 */
export async function trimChanges(
  { store, provider }: BoardSource,
  position: number,
  now: Instant,
): Promise<boolean> {
  const stream = effectStream(provider)
  const entries = await store.read(stream, 0, TRIM_BITE)
  const limit = after(now, span(-FOLLOWED_FOR))
  const young = entries.find(
    (each) => each.position >= position || decodeEffects(each.entry).at >= limit,
  )
  const before = young?.position ?? (entries.at(-1)?.position ?? 0) + 1
  if (entries[0] !== young && entries.length > 0) await store.trim(stream, before)
  return young === undefined && entries.length === TRIM_BITE
}
