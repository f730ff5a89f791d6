/**
 * The one contract every store keeps: it shows values and the time to a pure step, and applies
 * what the step plans, atomically. Stores keep values; they know no limits and parse nothing.
 */
import type { Instant } from './time.ts'

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
  /** From here on the store may forget the key. Never a rule: forgetting must change no answer. */
  readonly expiresAt?: Instant
  /** The small index that lists this key while it lives: lists for people, never for a decision. */
  readonly index?: string
}

export interface Append {
  readonly stream: string
  readonly entry: Value
}

export interface Plan<R> {
  readonly writes: readonly Write[]
  readonly appends: readonly Append[]
  readonly result: R
}

export type Step<R> = (view: View) => Plan<R>

/** One entry of a stream. Positions grow within a stream, are never reused, and may have gaps. */
export interface Entry {
  readonly position: number
  readonly entry: Value
}

export interface Item {
  readonly key: Key
  readonly value: Value
}

export interface Store {
  /**
   * Runs a step over one consistent view and applies its plan, all or nothing; durable, where the
   * store is, before the promise resolves. If the step throws, nothing is written and the promise
   * rejects with what it threw. `guess` names keys that the step will probably read; a wrong guess
   * only costs time.
   */
  transact<R>(step: Step<R>, guess?: readonly Key[]): Promise<R>

  /** A page of an append-only stream, oldest first, of positions beyond `after` (0 for the start). */
  read(stream: string, after: number, limit: number): Promise<readonly Entry[]>

  /** A page of an index, in byte order of keys, of keys beyond `after` ('' for the start). */
  range(index: string, after: Key, limit: number): Promise<readonly Item[]>

  /** Forgets a stream's entries at positions below `before`. Positions are still never reused. */
  trim(stream: string, before: number): Promise<void>

  /** Keys of equal partition can share a transact. Known without asking the store. */
  partition(key: Key): string

  /** Every live key, in byte order, beyond `after`. For export only. */
  scan(after: Key, limit: number): Promise<readonly Item[]>

  /** Finishes what was accepted, then lets go of files and connections. Later calls reject. */
  close(): Promise<void>
}

/** A plan that changes nothing. */
export const answer = <R>(result: R): Plan<R> => ({ writes: [], appends: [], result })
