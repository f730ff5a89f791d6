/**
 * The gate before every charge: is a subject blocked? It answers from memory, without a round trip,
 * and follows the stream of changes, so that a block takes effect on every server within a second.
 * What it refused is counted.
 *
 * It never guesses: where the last answer of the store is more than a second old it says `stale`.
 * If this process stood still for that second, the store was not silent: `ready` then asks it before
 * anything is judged. If the process ran and heard nothing, the policy of the limit decides.
 */
import type { Store } from '../core/store.ts'
import {
  after,
  type Clock,
  days,
  type Instant,
  instant,
  millis,
  type Span,
  seconds,
} from '../core/time.ts'
import { oneRunAhead } from '../lib/one-at-a-time.ts'
import { listenFor, startPoller, systemTimers, type Timers } from '../lib/poller.ts'
import { NO_PREFIX_LENGTHS } from '../net/range-table.ts'
import {
  type Followed,
  followBoard,
  openBoard,
  type PutEffect,
  trimChanges,
} from './rates/follow.ts'
import type { Effect } from './rates/rate.ts'
import {
  checkProvider,
  effectStream,
  encodeRefusals,
  type Refusals,
  refusalsIn,
  refusalsKey,
} from './rates/rate-records.ts'
import { checkSubjectCount, coveringForms, withLengthOf } from './rates/subject.ts'

export type GateVerdict =
  | { readonly state: 'clear' }
  | { readonly state: 'blocked'; readonly by: FoundBlock }
  /** No block is known, but what is in memory is more than a second old. */
  | { readonly state: 'stale' }

export interface SubjectGate {
  /**
   * Undefined: judge at once. Else to be awaited first: it ends when the store has answered a question
   * asked from now on, or has been silent for a second.
   */
  ready(subjects: readonly string[]): Promise<void> | undefined
  /** A block that is known holds, however old the memory is: only what is not known can be stale. */
  judge(subjects: readonly string[]): GateVerdict
  /** The smallest rate above 0 that applies, for limits that take their count from it. */
  smallestRate(subjects: readonly string[]): number | undefined
  /** Whether the store has answered within the last second that this process ran. */
  isHeard(): boolean
  /** Resolves once everything in the store by now is in memory. */
  catchUp(): Promise<void>
  /**
   * The store, for all that changes rates in this process: a change is in memory before the call that
   * made it answers, or the store has been silent since for a second.
   */
  readonly store: Store
  close(): void
}

export interface SubjectGateOptions {
  readonly store: Store
  readonly provider: string
  /** Decides when rates expire. */
  readonly clock: Clock
  /** Never steps back: measures how old the last answer of the store is. */
  readonly uptime: () => Span
  /** By which it polls and counts the seconds of its running; the system's unless told. */
  readonly timers?: Timers
  /** Called for each question that a block refused. */
  readonly onBlocked?: (by: FoundBlock) => void
  /** Called for each poll that the store failed. */
  readonly onFailure?: (error: unknown) => void
}

/** No decision uses an older memory without asking first. */
const STALE_AFTER = seconds(1)

/** Several polls before the memory counts as stale: one slow answer does no harm. */
const POLL_EVERY = millis(200)

/** Subjects looked at after each poll for rates that have ended: a million take three minutes. */
const LOOKS_PER_POLL = 1_000

/** Polls between two looks for changes that nobody needs to follow any more: a minute's. */
const TRIM_EVERY = 300

/** A rate is dropped this long after it expired: a clock that was wrong for a while must not unblock forever. */
const DROP_AFTER = days(1)

const CLEAR: GateVerdict = { state: 'clear' }
const STALE: GateVerdict = { state: 'stale' }

/** Follows the rates in a store, and answers for the charges of a limiter. */
export const createSubjectGate = (options: SubjectGateOptions): SubjectGate => {
  const { clock } = options
  const memory = followRates({ ...options, provider: checkProvider(options.provider) })

  return {
    ready: () => (memory.isFresh() || memory.isSilent() ? undefined : memory.heardFrom()),
    judge: (subjects) => {
      checkSubjectCount(subjects)
      const by = memory.board()?.blockOn(subjects, clock())
      if (by !== undefined) {
        options.onBlocked?.(by)
        return { state: 'blocked', by }
      }
      return memory.isFresh() ? CLEAR : STALE
    },
    smallestRate: (subjects) => {
      checkSubjectCount(subjects)
      return memory.board()?.smallestRate(subjects, clock())
    },
    isHeard: memory.isHeard,
    catchUp: memory.catchUp,
    store: feltStore(options, memory.heardFrom),
    close: memory.close,
  }
}

/** Steps may run several times: what the last run appended is what was committed. */
function feltStore({ store, provider }: SubjectGateOptions, felt: () => Promise<void>): Store {
  const stream = effectStream(provider)
  return {
    ...store,
    transact: async (step, guess, intent) => {
      let changed = false
      const result = await store.transact(
        (view) => {
          const commit = step(view)
          changed = commit.appends.some((append) => append.stream === stream)
          return commit
        },
        guess,
        intent,
      )
      if (changed) await felt()
      return result
    },
  }
}

/** The board, kept up to date by polling. Undefined before it was read for the first time. */
function followRates(options: SubjectGateOptions) {
  const { store, provider, clock, uptime, timers = systemTimers, onFailure = () => {} } = options
  const ear = listenFor(timers)
  const opened = { at: clock(), uptime: uptime() }
  let followed: Followed<Board> | undefined
  let polls = 0
  let freshAt: Span | undefined

  const source = { store, provider, onPage: ear.heard, create: createBoard }
  const ask = async (): Promise<void> => {
    const question = ear.ask()
    // The answer is as old as its question.
    const askedAt = uptime()
    followed = await (followed === undefined ? openBoard(source) : followBoard(source, followed))
    freshAt = askedAt
    ear.answered(question)
    // Not by a clock alone that leapt ahead: no longer than this process has lived.
    const lived = instant(opened.at + (askedAt - opened.uptime))
    followed.board.sweep(instant(Math.min(clock(), lived) - DROP_AFTER), LOOKS_PER_POLL)
    if (polls++ % TRIM_EVERY === 0) void trim(followed.position)
  }
  /** Beside the polls: what it fails to forget, the next one does. */
  const trim = async (position: number): Promise<void> => {
    try {
      while (await trimChanges(source, position, clock()));
    } catch (error) {
      onFailure(error)
    }
  }
  const poll = joined(() =>
    ask().catch((error: unknown) => {
      ear.failed()
      throw error
    }),
  )
  const catchUp = async (): Promise<void> => {
    // A poll under way may have asked too early.
    await poll.underWay()?.catch(() => {})
    await poll.run()
  }
  const polling = { ask: poll.run, every: POLL_EVERY, onAnswer: () => {}, onFault: onFailure }
  const poller = startPoller({ ...polling, timers })
  // What was told is read at once; what was not, by the next poll.
  const wake = oneRunAhead(catchUp)
  const stopListening = store.listen?.(effectStream(provider), () => void wake().catch(() => {}))

  return {
    board: () => followed?.board,
    isFresh: () => freshAt !== undefined && uptime() - freshAt <= STALE_AFTER,
    isSilent: ear.isSilent,
    isHeard: () => followed !== undefined && !ear.isSilent(),
    /** If this attempt fails, the next ones of the poller count, until the store is silent. */
    heardFrom: (): Promise<void> => {
      const heard = ear.nextAnswer()
      catchUp().catch(() => {})
      return heard
    },
    catchUp,
    close: () => {
      ear.close()
      stopListening?.()
      void poller.stop()
    },
  }
}

/** The position moves with each run, so there are never two: a call meanwhile joins the one under way. */
function joined(work: () => Promise<void>) {
  let underWay: Promise<void> | undefined
  return {
    underWay: () => underWay,
    run: (): Promise<void> => {
      underWay ??= work().finally(() => {
        underWay = undefined
      })
      return underWay
    },
  }
}

/** A map of V8 holds 2^24 keys; beyond, rates would have to be looked up in the store. */
const MAX_FORMS = 16_000_000

/**
 * What the rates of all subjects come to, in little memory: one short value for each normal form. Who
 * set them and why stays in the store.
 */
interface Board {
  readonly put: PutEffect
  /** The first block on any of the subjects or on a wider one. */
  blockOn(subjects: readonly string[], now: Instant): FoundBlock | undefined
  /** The smallest rate above 0. */
  smallestRate(subjects: readonly string[], now: Instant): number | undefined
  /** Looks at the next few forms, and drops those of which all has ended by then. */
  sweep(then: Instant, looks: number): void
  /** How many forms it holds. */
  size(): number
}

/** A subject that is blocked, and the form under which the block was found. */
interface FoundBlock {
  readonly subject: string
  readonly form: string
}

export const createBoard = (): Board => {
  const effects = new Map<string, Effect>()
  // Only grows: one length too many costs a look, one too few would miss a block.
  let lengths = NO_PREFIX_LENGTHS
  // Made when it is needed: a walk that stands still keeps every table that the map has outgrown.
  let lap: MapIterator<[string, Effect]> | undefined
  return {
    put: (form, effect) => {
      if (effect !== undefined) lengths = withLengthOf(lengths, form)
      if (effect === undefined) effects.delete(form)
      else if (effects.size < MAX_FORMS || effects.has(form)) effects.set(form, effect)
      else throw new RangeError(`a server holds the rates of at most ${MAX_FORMS} subjects`)
    },
    blockOn: (subjects, now) => {
      for (const subject of subjects) {
        for (const form of coveringForms(subject, lengths)) {
          const effect = effects.get(form)
          if (effect !== undefined && blocks(effect, now)) return { subject, form }
        }
      }
      return undefined
    },
    smallestRate: (subjects, now) => {
      const found = subjects.flatMap((subject) =>
        coveringForms(subject, lengths).map((form) => smallestIn(effects.get(form), now)),
      )
      const smallest = Math.min(...found)
      return smallest === ENDLESS ? undefined : smallest
    },
    sweep: (then, looks) => {
      lap ??= effects.entries()
      for (let look = 0; look < looks; look++) {
        const { value, done } = lap.next()
        if (done === true) {
          lap = undefined
          return
        }
        const [form, effect] = value
        if (hasEnded(effect, then)) effects.delete(form)
      }
    },
    size: () => effects.size,
  }
}

const ENDLESS = Number.POSITIVE_INFINITY

const isOver = (end: number | undefined, now: Instant): boolean =>
  end !== undefined && end !== 0 && end <= now

function blocks(effect: Effect, now: Instant): boolean {
  if (typeof effect === 'number') return effect <= 0 && !isOver(-effect, now)
  return effect[0] === 0 && !isOver(effect[1], now)
}

/** Above 0; endless if there is none. */
function smallestIn(effect: Effect | undefined, now: Instant): number {
  if (effect === undefined) return ENDLESS
  if (typeof effect === 'number') return effect > 0 ? effect : ENDLESS
  for (let at = 0; at < effect.length; at += 2) {
    const rate = effect[at]
    if (rate !== undefined && rate > 0 && !isOver(effect[at + 1], now)) return rate
  }
  return ENDLESS
}

const hasEnded = (effect: Effect, then: Instant): boolean =>
  typeof effect === 'number'
    ? effect < 0 && isOver(-effect, then)
    : effect.every((end, at) => at % 2 === 0 || isOver(end, then))

/** A block that has refused nothing for so long starts again from 0. */
const KEPT_FOR = days(90)

/** Of one flush. More blocks than this refuse within a few seconds only under a flood; the rest wait. */
const MAX_FLUSHED = 1_000

/**
 * How often blocks refused: counted in memory, and added to the store every few seconds. What a crash
 * loses is the last few seconds.
 */
export interface RefusalCounts {
  /** A block that was found under this form refused. */
  count(by: { readonly form: string }): void
  /** Adds what was counted to the store. What a store that is down did not take is kept. */
  flush(): Promise<void>
}

export const createRefusalCounts = (options: {
  readonly store: Store
  readonly provider: string
  readonly clock: Clock
}): RefusalCounts => {
  const { store, provider, clock } = options
  const counted = new Map<string, Refusals>()
  const add = (form: string, { count, last }: Refusals): void => {
    const before = counted.get(form)
    counted.set(form, { count: count + (before?.count ?? 0), last: laterOf(last, before?.last) })
  }
  return {
    count: ({ form }) => add(form, { count: 1, last: clock() }),
    flush: async () => {
      const taken = [...counted].slice(0, MAX_FLUSHED)
      if (taken.length === 0) return
      for (const [form] of taken) counted.delete(form)
      try {
        const forms = taken.map(([form]) => form)
        await store.transact(
          (view) => {
            const before = refusalsIn(view, provider, forms)
            const writes = taken.map(([form, found]) => {
              const known = before.get(form)
              const count = found.count + (known?.count ?? 0)
              const last = laterOf(found.last, known?.last)
              const value = encodeRefusals({ count, last })
              return { key: refusalsKey(provider, form), value, expiresAt: after(last, KEPT_FOR) }
            })
            return { writes, appends: [], result: undefined }
          },
          forms.map((form) => refusalsKey(provider, form)),
        )
      } catch (error) {
        for (const [form, found] of taken) add(form, found)
        throw error
      }
    },
  }
}

const laterOf = (one: Instant, other: Instant | undefined): Instant =>
  other !== undefined && other > one ? other : one
