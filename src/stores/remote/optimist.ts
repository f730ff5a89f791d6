/**
 * Runs steps against a store on another machine: at once, over what it was last seen to hold, then one
 * round trip that compares and applies. So a call whose guess is right costs one trip. Where it was
 * wrong, the answer carries what is there now, and the step runs again over that.
 *
 * Calls of one moment travel together; one group is under way at a time, and the next gathers meanwhile.
 */
import { assert, StoreError } from '../../core/errors.ts'
import type { Append, Intent, Key, PlainSpend, Step, Value } from '../../core/store.ts'
import { type Clock, type Instant, type Span, seconds, span, type Uptime } from '../../core/time.ts'
import { uptime as processUptime } from '../../lib/clock.ts'
import { checkCommit, checkKeys } from '../bounds.ts'
import { type Backend, MAX_DECISION_AGE, type PartOutcome } from './backend.ts'
import { type Call, type GatheredPart, gather, groups, MAX_WAITING } from './gather.ts'
import { type LastSeen, lastSeen, serverTime } from './last-seen.ts'
import type { StoreEvent } from './line.ts'

export interface Optimist {
  transact<R>(step: Step<R>, guess?: readonly Key[], intent?: Intent): Promise<R>
  /** Only where the server has a way of its own for them. */
  transactSpends?<R>(step: Step<R>, spends: readonly PlainSpend[]): Promise<R>
  /** Resolves once nothing is under way or waits. */
  drained(): Promise<void>
}

/** What every remote store lets its opener set. */
export interface OptimistSettings {
  /** Instead of the server's time, for tests. */
  readonly clock?: Clock
  /** How long this process has run: what patience is measured by. */
  readonly uptime?: Uptime
  /** How long a call may lose comparisons before it rejects with STORE_CONTENDED; 5 s. */
  readonly patience?: Span
  /** Called after each round trip that was to commit something. */
  readonly onGroup?: (group: GroupSent) => void
  /** Called for each round trip, and when the store stops answering or answers again. */
  readonly observe?: (event: StoreEvent) => void
}

export interface OptimistOptions extends OptimistSettings {
  readonly backend: Backend
  /** Names the store in errors. */
  readonly thing: string
  /** Called with what each part that was applied has appended. */
  readonly onAppended?: (appends: readonly Append[]) => void
  /** Where several share one memory. */
  readonly seen?: LastSeen
}

/** What one round trip came to. */
export interface GroupSent {
  readonly calls: number
  /** Calls that must run again. */
  readonly conflicts: number
  readonly writes: number
  readonly appends: number
  /** Keys that another server had changed: from now on they are looked at first. */
  readonly doubts: number
  /** Parts that lost so often that their keys are now kept for us. */
  readonly claims: number
}

const PATIENCE: Span = seconds(5)

/** Before the next try at keys that are kept for another server: about as long as it needs them. */
const CLAIMED_PAUSE_MS = 5

export const optimist = (options: OptimistOptions): Optimist => {
  const { thing, uptime = processUptime } = options
  const waiting = groups<Call>(rounds(options, (calls, pauseMs) => waiting.again(calls, pauseMs)))
  const looking = groups<Look>(glances(options, (looks) => looking.again(looks)))

  const change = <R>(step: Step<R>, guess: readonly Key[]): Promise<R> =>
    new Promise((resolve, reject) => {
      const enter: Call['enter'] = (view) => {
        const commit = step(view)
        return { commit, end: () => resolve(commit.result) }
      }
      const isTaken = waiting.push({ guess, enter, reject, since: uptime(), losses: 0 })
      if (!isTaken) reject(overfull(thing))
    })
  const look = <R>(step: Step<R>, guess: readonly Key[]): Promise<R> =>
    new Promise((resolve, reject) => {
      const enter: Look['enter'] = (now, shown) => {
        const { missing, answer } = tryStep(step, now, shown)
        if (missing.length === 0) new Promise<R>((done) => done(answer())).then(resolve, reject)
        return missing
      }
      const keys = new Set(guess)
      const isTaken = looking.push({ keys, enter, reject, since: uptime(), losses: 0 })
      if (!isTaken) reject(overfull(thing))
    })

  return {
    transact: async (step, guess = [], intent) => {
      checkKeys(guess)
      return intent === 'look' ? look(step, guess) : change(step, guess)
    },
    drained: async () => {
      await Promise.all([looking.drained(), waiting.drained()])
    },
  }
}

/** Takes a group to the server and back; `again` takes what must run once more. */
function rounds(
  options: OptimistOptions,
  again: (calls: readonly Call[], pauseMs?: number) => void,
): (calls: readonly Call[]) => Promise<void> {
  const { backend, clock, uptime = processUptime, seen = lastSeen() } = options
  const { onGroup, onAppended } = options
  const time = serverTime(uptime)
  const isInTime = patienceOf(options)

  /**
   * Keys that others write too; and on the first call the time, which no answer has told yet. Calls that
   * lost were just told what there is: so a wrong guess costs one more trip, not two.
   */
  const lookFirst = async (calls: readonly Call[]): Promise<void> => {
    const fresh = calls.filter(({ losses }) => losses === 0)
    const doubted = new Set(fresh.flatMap(({ guess }) => guess).filter(seen.isDoubted))
    if (doubted.size === 0 && (clock !== undefined || time.now() !== undefined)) return
    const keys = [...doubted]
    const { now, values } = await backend.look(keys)
    time.heard(now)
    for (const [i, key] of keys.entries()) seen.saw(key, values[i])
  }

  const isPatient = (call: Call): boolean => {
    call.losses += 1
    return isInTime(call)
  }

  /** That nobody got in its way the first time is no loss: its patience begins when it knows what there is. */
  const learnt = (call: Call, took: Span): void => {
    call.took = took
    if (call.losses === 0) call.since = uptime()
  }

  const settle = (part: GatheredPart<Call>, outcome: PartOutcome | undefined, took: Span): void => {
    if (outcome?.kind !== 'conflict') {
      for (const { key, value } of part.writes) seen.wrote(key, value)
      part.end()
      if (part.appends.length > 0) onAppended?.(part.appends)
      return
    }
    let isInTheWay = outcome.claimed
    for (const [i, key] of [...part.expected.keys(), ...part.guessed].entries()) {
      const value = outcome.current[i]
      const was = part.expected.get(key)
      if (isDoubtful(was, value)) {
        seen.doubt(key)
        isInTheWay = true
      }
      seen.saw(key, value)
    }
    if (!isInTheWay) for (const call of part.calls) learnt(call, took)
    again(part.calls.filter(isPatient), outcome.claimed ? CLAIMED_PAUSE_MS : 0)
  }

  const send = async (calls: readonly Call[]): Promise<void> => {
    const now = clock?.() ?? time.now()
    assert(now !== undefined, 'the time of the server was looked at first')
    const parts = gather(calls, now, seen.value)
    if (calls.length > 1 && lengthOf(parts) > MAX_TRIP_LENGTH) {
      const half = Math.ceil(calls.length / 2)
      again(calls.slice(half))
      return send(calls.slice(0, half))
    }
    for (const part of parts) if (isIdle(part)) part.end()
    const busy = parts.filter((part) => !isIdle(part))
    if (busy.length === 0) return
    try {
      const overridden = clock !== undefined
      const sent = uptime()
      const reply = await backend.commit(busy, { now, overridden, maxAge: maxAgeOf(calls) })
      assert(reply.outcomes.length === busy.length, 'every part has an outcome')
      time.heard(reply.now)
      const took = span(uptime() - sent)
      for (const [i, part] of busy.entries()) settle(part, reply.outcomes[i], took)
      onGroup?.(sum(busy, reply.outcomes))
    } catch (error) {
      // What was applied is not known: guesses about these keys are worth nothing now.
      for (const { expected, writes, calls: lost } of busy) {
        seen.forget([...expected.keys(), ...writes.map(({ key }) => key)])
        for (const { reject } of lost) reject(error)
      }
    }
  }

  return async (waiting) => {
    const calls = waiting.filter(isInTime)
    if (calls.length === 0) return
    try {
      await lookFirst(calls)
      await send(calls)
    } catch (error) {
      for (const { reject } of calls) reject(error)
    }
  }
}

/** Rejects what has waited for too long, whether for a turn or for others to let it win. */
export const patienceOf =
  ({
    thing,
    uptime = processUptime,
    patience = PATIENCE,
  }: Pick<OptimistOptions, 'thing' | 'uptime' | 'patience'>) =>
  ({ since, losses, reject }: Pick<Call, 'since' | 'losses' | 'reject'>): boolean => {
    if (uptime() - since < patience) return true
    const lost = 'others writing the same keys all the while'
    reject(contended(thing, losses > 0 ? lost : 'more calls waiting than it answers'))
    return false
  }

/** Characters of one trip; calls that have more between them travel apart, so that none fails for others. */
export const MAX_TRIP_LENGTH = 1_048_576

function lengthOf(parts: readonly GatheredPart<Call>[]): number {
  let length = 0
  for (const { expected, writes, appends } of parts) {
    for (const [key, value] of expected) length += key.length + (value?.length ?? 0)
    for (const { key, value } of writes) length += key.length + (value?.length ?? 0)
    for (const { stream, entry } of appends) length += stream.length + entry.length
  }
  return length
}

/** As often as a decision may be older than at first: the patience of a call ends it anyway. */
const MAX_AGES = 4

/** And as long as a call is known to travel, with some to spare: one that is large arrives too. */
const maxAgeOf = (calls: readonly Call[]): Span =>
  span(
    Math.max(
      MAX_DECISION_AGE * Math.min(MAX_AGES, 1 + Math.max(...calls.map(({ losses }) => losses))),
      2 * Math.max(...calls.map(({ took = 0 }) => took)),
    ),
  )

/** Nothing to compare and nothing to apply. */
const isIdle = ({ expected, writes, appends }: GatheredPart<Call>): boolean =>
  expected.size === 0 && writes.length === 0 && appends.length === 0

/** Not if it was only never seen: then nobody else need be writing it. */
const isDoubtful = (expected: Value | undefined, found: Value | undefined): boolean =>
  expected !== undefined && expected !== found

function sum(
  parts: readonly GatheredPart<Call>[],
  outcomes: readonly (PartOutcome | undefined)[],
): GroupSent {
  const all = { calls: 0, conflicts: 0, writes: 0, appends: 0, doubts: 0, claims: 0 }
  for (const [i, part] of parts.entries()) {
    const outcome = outcomes[i]
    all.calls += part.calls.length
    if (outcome?.kind === 'conflict') {
      all.conflicts += part.calls.length
      if (part.claims && !outcome.claimed) all.claims += 1
      const expected = [...part.expected.values()]
      all.doubts += expected.filter((was, k) => isDoubtful(was, outcome.current[k])).length
    } else {
      all.writes += part.writes.length
      all.appends += part.appends.length
    }
  }
  return all
}

/** Too many wait already. */
export const overfull = (thing: string): StoreError =>
  contended(thing, `${MAX_WAITING} calls already waiting`)

const contended = (thing: string, finding: string): StoreError =>
  new StoreError({
    code: 'STORE_CONTENDED',
    thing,
    rule: 'must take a commit within the patience of a call',
    finding,
  })

// Steps that only look: nothing is compared, for all that they see comes from one answer.

interface Look extends Pick<Call, 'reject' | 'since' | 'losses'> {
  /** What it is known to read. */
  readonly keys: Set<Key>
  /** Runs the step, and answers the caller if nothing is missing. */
  enter(now: Instant, shown: ReadonlyMap<Key, Value | undefined>): readonly Key[]
}

/**
 * One round trip for all that wait; and one more for those that follow a link, or whose guess did not
 * name all that they read.
 */
function glances(
  options: OptimistOptions,
  again: (looks: readonly Look[]) => void,
): (looks: readonly Look[]) => Promise<void> {
  const { backend, clock } = options
  const isInTime = patienceOf(options)
  return async (waiting) => {
    const looks = waiting.filter(isInTime)
    if (looks.length === 0) return
    try {
      const asked = [...new Set(looks.flatMap(({ keys }) => [...keys]))]
      const { now, values } = await backend.look(asked)
      const shown = new Map(asked.map((key, i) => [key, values[i]]))
      const more = looks.filter(({ keys, enter }) => {
        const missing = enter(clock?.() ?? now, shown)
        for (const key of missing) keys.add(key)
        return missing.length > 0
      })
      again(more)
    } catch (error) {
      for (const { reject } of looks) reject(error)
    }
  }
}

interface Tried<R> {
  /** What the step wanted to see and was not asked for: whatever it made of the lack is worth nothing. */
  readonly missing: readonly Key[]
  answer(): R
}

function tryStep<R>(
  step: Step<R>,
  now: Instant,
  shown: ReadonlyMap<Key, Value | undefined>,
): Tried<R> {
  const missing: Key[] = []
  const read = (...keys: readonly Key[]) => {
    checkKeys(keys)
    missing.push(...keys.filter((key) => !shown.has(key)))
    return keys.map((key) => shown.get(key))
  }
  try {
    const commit = step({ now, read })
    checkCommit(commit, 'look')
    return { missing, answer: () => commit.result }
  } catch (error) {
    return {
      missing,
      answer: () => {
        throw error
      },
    }
  }
}
