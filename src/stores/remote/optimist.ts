/**
 * Runs steps against a store on another machine: at once, over what it was last seen to hold, then one
 * round trip that compares and applies. So a call whose guess is right costs one trip. Where it was
 * wrong, the answer carries what is there now, and the step runs again over that.
 *
 * Calls of one moment travel together; one group is under way at a time, and the next gathers meanwhile.
 */
import { assert, StoreError } from '../../core/errors.ts'
import type { Intent, Key, Step, Value } from '../../core/store.ts'
import { type Clock, type Instant, type Span, seconds, type Uptime } from '../../core/time.ts'
import { uptime as processUptime } from '../../lib/clock.ts'
import { checkCommit, checkKeys } from '../bounds.ts'
import type { Backend, PartOutcome } from './backend.ts'
import { type Call, type GatheredPart, gather, groups, MAX_WAITING } from './gather.ts'
import { type LastSeen, lastSeen, serverTime } from './last-seen.ts'

export interface Optimist {
  transact<R>(step: Step<R>, guess?: readonly Key[], intent?: Intent): Promise<R>
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
}

export interface OptimistOptions extends OptimistSettings {
  readonly backend: Backend
  /** Names the store in errors. */
  readonly thing: string
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
}

const PATIENCE: Span = seconds(5)

/** Before the next try at keys that are kept for another server: about as long as it needs them. */
const CLAIMED_PAUSE_MS = 5

export const optimist = (options: OptimistOptions): Optimist => {
  const { thing, uptime = processUptime, backend, clock } = options
  const waiting = groups<Call>(rounds(options, (calls, pauseMs) => waiting.again(calls, pauseMs)))
  const looks = new Set<Promise<unknown>>()

  const change = <R>(step: Step<R>, guess: readonly Key[]): Promise<R> =>
    new Promise((resolve, reject) => {
      const enter: Call['enter'] = (view) => {
        const commit = step(view)
        return { commit, end: () => resolve(commit.result) }
      }
      const taken = waiting.push({ guess, enter, reject, since: uptime(), losses: 0 })
      if (!taken) reject(contended(thing, `${MAX_WAITING} calls already waiting`))
    })

  return {
    transact: async (step, guess = [], intent) => {
      checkKeys(guess)
      if (intent !== 'look') return change(step, guess)
      const looking = glance(backend, step, guess, clock).finally(() => looks.delete(looking))
      looks.add(looking)
      return looking
    },
    drained: async () => {
      await Promise.allSettled(looks)
      await waiting.drained()
    },
  }
}

/** Takes a group to the server and back; `again` takes what must run once more. */
function rounds(
  { backend, thing, clock, uptime = processUptime, patience = PATIENCE, ...more }: OptimistOptions,
  again: (calls: readonly Call[], pauseMs?: number) => void,
): (calls: readonly Call[]) => Promise<void> {
  const { seen = lastSeen(), onGroup } = more
  const time = serverTime(uptime)

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
    if (uptime() - call.since < patience) return true
    call.reject(contended(thing, 'others writing the same keys all the while'))
    return false
  }

  const settle = (part: GatheredPart<Call>, outcome: PartOutcome | undefined): void => {
    if (outcome?.kind !== 'conflict') {
      for (const { key, value } of part.writes) seen.wrote(key, value)
      part.end()
      return
    }
    for (const [i, key] of [...part.expected.keys(), ...part.guessed].entries()) {
      const value = outcome.current[i]
      const was = part.expected.get(key)
      // Not if it was only never seen: then nobody else need be writing it.
      if (was !== undefined && was !== value) seen.doubt(key)
      seen.saw(key, value)
    }
    again(part.calls.filter(isPatient), outcome.claimed ? CLAIMED_PAUSE_MS : 0)
  }

  const send = async (calls: readonly Call[]): Promise<void> => {
    const now = clock?.() ?? time.now()
    assert(now !== undefined, 'the time of the server was looked at first')
    const parts = gather(calls, now, seen.value)
    for (const part of parts) if (isIdle(part)) part.end()
    const busy = parts.filter((part) => !isIdle(part))
    if (busy.length === 0) return
    try {
      const reply = await backend.commit(busy, { now, overridden: clock !== undefined })
      time.heard(reply.now)
      for (const [i, part] of busy.entries()) settle(part, reply.outcomes[i])
      onGroup?.(sum(busy, reply.outcomes))
    } catch (error) {
      // What was applied is not known: guesses about these keys are worth nothing now.
      for (const { expected, writes, calls: lost } of busy) {
        seen.forget([...expected.keys(), ...writes.map(({ key }) => key)])
        for (const { reject } of lost) reject(error)
      }
    }
  }

  return async (calls) => {
    try {
      await lookFirst(calls)
      await send(calls)
    } catch (error) {
      for (const { reject } of calls) reject(error)
    }
  }
}

/** Nothing to compare and nothing to apply. */
const isIdle = ({ expected, writes, appends }: GatheredPart<Call>): boolean =>
  expected.size === 0 && writes.length === 0 && appends.length === 0

function sum(
  parts: readonly GatheredPart<Call>[],
  outcomes: readonly (PartOutcome | undefined)[],
): GroupSent {
  let [calls, conflicts, writes, appends] = [0, 0, 0, 0]
  for (const [i, part] of parts.entries()) {
    calls += part.calls.length
    if (outcomes[i]?.kind === 'conflict') {
      conflicts += part.calls.length
    } else {
      writes += part.writes.length
      appends += part.appends.length
    }
  }
  return { calls, conflicts, writes, appends }
}

const contended = (thing: string, finding: string): StoreError =>
  new StoreError({
    code: 'STORE_CONTENDED',
    thing,
    rule: 'must take a commit within the patience of a call',
    finding,
  })

// Steps that only look: nothing is compared, for all that they see comes from one answer.

/** One round trip if the guess names all that the step reads, and one more for each link it follows. */
const glance = async <R>(
  backend: Backend,
  step: Step<R>,
  guess: readonly Key[],
  clock?: Clock,
): Promise<R> => {
  const keys = new Set(guess)
  for (;;) {
    const asked = [...keys]
    const { now, values } = await backend.look(asked)
    const shown = new Map(asked.map((key, i) => [key, values[i]]))
    const found = tryStep(step, clock?.() ?? now, shown)
    if (found.missing.length === 0) return found.answer()
    for (const key of found.missing) keys.add(key)
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
