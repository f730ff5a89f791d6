/** Following the stream of changes: one node's knowledge of all rates, and how fresh it is. */
import {
  type Clock,
  days,
  instant,
  millis,
  type Span,
  type Store,
  seconds,
  toMillis,
} from '../core/index.ts'
import { type Board, createBoard } from './board.ts'
import { changeStream, subjectIndex } from './keys.ts'
import { decodeChange, decodeRates } from './stored.ts'

export interface Follower {
  /** Undefined before the first word from the store. */
  board(): Board | undefined
  /** Whether the store was heard within the last second. */
  isHeard(): boolean
  /** Resolves when all that is in the store by now has been heard. */
  catchUp(): Promise<void>
  close(): void
}

export interface FollowerOptions {
  readonly store: Store
  readonly provider: string
  readonly clock: Clock
  /** A time that never steps back: by it silence is measured. */
  readonly uptime: () => Span
  readonly onFailure?: (error: unknown) => void
}

/** After this, the store counts as down. */
const SILENCE = seconds(1)

/** Four words from the store before its silence counts: a slow one does no harm. */
const POLL_EVERY = millis(200)

/** Polls between two sweeps for what has expired: about a minute. */
const PRUNE_AFTER = 300

/** What expired this long ago is forgotten: a clock that was wrong for a while must not unblock for good. */
const FORGET_AFTER = days(1)

/** A page of the stream or of the index. */
const PAGE = 1_000

export const followRates = (options: FollowerOptions): Follower => {
  const { store, provider, clock, uptime, onFailure = () => {} } = options
  let board: Board | undefined
  let position = 0
  let heardAt: Span | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let polls = 0

  const listen = async (): Promise<void> => {
    // What was heard is as old as the question, not as the answer.
    const asked = uptime()
    const known = board ?? (await loadBoard(store, provider))
    position = await follow(store, provider, known, position)
    board = known
    heardAt = asked
    polls += 1
    if (polls % PRUNE_AFTER === 0) known.prune(instant(clock() - FORGET_AFTER))
  }

  const listening = oneAtATime(listen)

  const poll = async (): Promise<void> => {
    await listening.start().catch(onFailure)
    if (closed) return
    timer = setTimeout(poll, toMillis(POLL_EVERY))
    timer.unref()
  }

  void poll()
  return {
    board: () => board,
    isHeard: () => heardAt !== undefined && uptime() - heardAt <= SILENCE,
    catchUp: async () => {
      // One that is under way may have asked too early.
      await listening.pending()?.catch(() => {})
      await listening.start()
    },
    close: () => {
      closed = true
      clearTimeout(timer)
    },
  }
}

/** The position moves with each run, so there are never two: whoever starts meanwhile joins. */
function oneAtATime(run: () => Promise<void>) {
  let pending: Promise<void> | undefined
  return {
    pending: () => pending,
    start: (): Promise<void> => {
      pending ??= run().finally(() => {
        pending = undefined
      })
      return pending
    },
  }
}

/**
 * What the index shows, before the whole stream is heard. The stream alone would do until somebody
 * trims it; the index alone might miss a change made while it was read.
 */
async function loadBoard(store: Store, provider: string): Promise<Board> {
  const board = createBoard()
  for (let after = ''; ; ) {
    const items = await store.range(subjectIndex(provider), after, PAGE)
    for (const { value } of items) for (const rate of decodeRates(value)) board.put(rate)
    const last = items.at(-1)
    if (last === undefined || items.length < PAGE) return board
    after = last.key
  }
}

async function follow(store: Store, provider: string, board: Board, from: number): Promise<number> {
  for (let position = from; ; ) {
    const entries = await store.read(changeStream(provider), position, PAGE)
    for (const { entry } of entries) board.apply(decodeChange(entry))
    position = entries.at(-1)?.position ?? position
    if (entries.length < PAGE) return position
  }
}
