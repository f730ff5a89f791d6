/**
 * The one contract every store keeps: it shows values and the time to a pure step, and applies
 * what the step commits, atomically. Stores keep values; they know no limits and parse nothing.
 */
import type { Instant, Span } from './time.ts'

export type Key = string

/** Opaque text. The value is its own version: a commit compares what was read, absence included. */
export type Value = string

export interface View {
  /** The store's time; the same throughout one run of a step. */
  readonly now: Instant
  /**
   * May end the run: a remote store fetches what it does not have at hand and runs the step again.
   * A step must therefore have no effects, and must let the thrown signal pass.
   */
  read(...keys: readonly Key[]): readonly (Value | undefined)[]
}

export interface Write {
  readonly key: Key
  /** Absent: the key is deleted. */
  readonly value?: Value
  /**
   * From here on the store may forget the key, and until it does it shows it. Never a rule: forgetting
   * must change no answer. A store forgets what has expired by its clock and has also been kept for
   * as long in real time: a clock that leaps ahead and returns has then emptied nothing.
   */
  readonly expiresAt?: Instant
}

export interface Append {
  readonly stream: string
  readonly entry: Value
  /** Servers follow the stream: those that listen are told of it, where the store can tell them. */
  readonly followed?: true
}

export interface Commit<R> {
  readonly writes: readonly Write[]
  readonly appends: readonly Append[]
  readonly result: R
}

export type Step<R> = (view: View) => Commit<R>

/** One entry of a stream. Positions grow within a stream, are never reused, and may have gaps. */
export interface Entry {
  readonly position: number
  readonly entry: Value
}

export interface Item {
  readonly key: Key
  readonly value: Value
}

export type Intent = 'look'

/** A key with all that is kept of it. */
export interface KeptItem extends Item {
  /** As it was written, to the millisecond; absent: never, or the store does not tell. */
  readonly expiresAt?: Instant
}

/** Some of what a store keeps, and where the next page begins; without `next` there is none. */
export interface ScanPage {
  readonly items: readonly KeptItem[]
  readonly next?: string
}

/**
 * A spend of a token bucket, in the numbers of gcra.ts: what a store needs that moves them itself, and
 * all that any store knows of limits.
 */
export interface PlainSpend {
  readonly key: Key
  readonly cost: number
  readonly burst: number
  /** The time that one token takes to come back. */
  readonly interval: Span
}

export interface Store {
  /** True where every key is at hand: there a guess saves nothing, and callers need not make one. */
  readonly atHand?: true

  /**
   * Runs a step over one consistent view and applies its commit, all or nothing; durable, where the
   * store is, before the promise resolves. If the step throws, nothing is written and the promise
   * rejects with what it threw. `guess` names keys that the step will probably read; a wrong guess
   * only costs time. `look` promises that the step writes nothing, so that a store need not take a
   * lock for it; a step that writes all the same is a bug, and is told so.
   */
  transact<R>(step: Step<R>, guess?: readonly Key[], intent?: Intent): Promise<R>

  /**
   * The same as `transact` of a step that does nothing but these spends, all or nothing, each of another
   * key. A shortcut that a store may have and need not: it moves the numbers itself, runs the step over
   * what was there before, and rejects with our bug if the step would have committed anything else.
   */
  transactSpends?<R>(step: Step<R>, spends: readonly PlainSpend[]): Promise<R>

  /** A page of an append-only stream, oldest first, of positions beyond `after` (0 for the start). */
  read(stream: string, after: number, limit: number): Promise<readonly Entry[]>

  /**
   * Calls `wake` soon after an append that was `followed`, until the returned function is called. A hint
   * that a store may have and need not, and may lose, repeat or invent: whoever follows polls as well.
   */
  listen?(stream: string, wake: () => void): () => void

  /**
   * A page of an index, in byte order of keys, of keys beyond `after` ('' for the start). Indexes are
   * lists for people, never for a decision.
   */
  range(index: string, after: Key, limit: number): Promise<readonly Item[]>

  /** Forgets a stream's entries at positions below `before`. Positions are still never reused. */
  trim(stream: string, before: number): Promise<void>

  /**
   * Keys, streams and indexes of equal partition can share a transact. Known without asking the store,
   * from the name's tag at most (names.ts).
   */
  partition(name: string): string

  /**
   * All that is kept under keys, page by page and in no order; '' is the first cursor. For export only.
   * What is there from the first page to the last is shown, perhaps twice. A page may hold fewer than
   * `limit`, or none, and not be the last. A cursor that the store no longer knows begins anew.
   */
  scan(cursor: string, limit: number): Promise<ScanPage>

  /** Finishes what was accepted, then lets go of files and connections. Later calls reject. */
  close(): Promise<void>

  /** For moving all of it elsewhere, where the store can. No decision needs it. */
  readonly moving?: Moving
}

/**
 * A store as a whole, for those who move it. `scan`, `read` and `range` also show a fenced store; its
 * `transact` and `trim` reject with STORE_FENCED, on every server and for as long as the fence stands.
 */
export interface Moving {
  status(): Promise<StoreStatus>
  /**
   * A durable mark: once this resolves, nothing that was under way will still change the store. It says
   * why, on one line. Undefined takes it away.
   */
  fence(why: string | undefined): Promise<void>
  /** Every stream, page by page and in no order, perhaps twice; '' is the first cursor. */
  streams(cursor: string, limit: number): Promise<StreamsPage>
  /**
   * Puts back what another store showed, without looking; doing it twice is as doing it once. Entries
   * come in the order of their positions. Not all or nothing: for a fenced store only.
   */
  restore(writes: readonly Write[], streams: readonly RestoredStream[]): Promise<void>
}

export interface StoreStatus {
  /** Why the store takes no calls; undefined: it does. */
  readonly fence: string | undefined
  /** It stands around some partitions only: it was cut off while it was put up, or taken away. */
  readonly partly?: true
  /** What the clock of each of its servers says. */
  readonly clocks: readonly Instant[]
  /** About how many keys there are. */
  readonly keys: number
}

export interface StreamHead {
  readonly stream: string
  /** The last position that was given, though its entry may be trimmed. */
  readonly last: number
}

export interface StreamsPage {
  readonly streams: readonly StreamHead[]
  readonly next?: string
}

export interface RestoredStream extends StreamHead {
  readonly entries: readonly Entry[]
}

/** A commit that changes nothing. */
export const answer = <R>(result: R): Commit<R> => ({ writes: [], appends: [], result })
