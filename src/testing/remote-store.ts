/**
 * A store as a remote one behaves, over one in this process: it keeps what it last saw, runs a step over
 * that at once, and sends one request which compares what was read and applies the commit. If something
 * has changed, the reply brings what is there now, and the step runs again.
 *
 * It counts its round trips, so that a test can bound them. Each one that is opened over the same backend
 * is a server of its own: what one of them remembers goes stale when another writes.
 */
import { StoreError } from '../core/errors.ts'
import {
  answer,
  type Commit,
  type Intent,
  type Key,
  type Moving,
  type Step,
  type Store,
  type Value,
  type View,
} from '../core/store.ts'
import type { Clock } from '../core/time.ts'

export interface RemoteOptions {
  /** The clock of the backend. */
  readonly clock: Clock
  /**
   * Asked after each commit that was applied: true loses the reply on its way. The caller then sees
   * STORE_UNAVAILABLE, and the effect stays.
   */
  readonly losesReply?: () => boolean
}

export interface RemoteStore extends Store {
  /** Requests sent so far, those among them whose replies were lost. */
  trips(): number
}

/** Past this many keys all that was seen is dropped; it only saved trips. */
const MAX_SEEN = 10_000

/** `close` ends this server alone; whoever opened the backend closes it. */
export function remoteStore(backend: Store, options: RemoteOptions): RemoteStore {
  const { clock, losesReply = () => false } = options
  const seen = new Map<Key, Value | undefined>()
  const underWay = new Set<Promise<unknown>>()
  let trips = 0
  let closed = false

  const send = async <T>(request: () => Promise<T>): Promise<T> => {
    trips += 1
    await onTheWay()
    try {
      return await request()
    } finally {
      await onTheWay()
    }
  }

  const accept = async <T>(call: () => Promise<T>): Promise<T> => {
    if (closed) throw new StoreError(CLOSED)
    const result = call()
    underWay.add(result)
    return result.finally(() => underWay.delete(result))
  }

  const remember = (found: Iterable<readonly [Key, Value | undefined]>): void => {
    if (seen.size > MAX_SEEN) seen.clear()
    for (const [key, value] of found) seen.set(key, value)
  }

  /** Nothing is compared, as all that the step sees comes with one reply: one trip, and one for each link. */
  const look = async <R>(step: Step<R>, guess: readonly Key[]): Promise<R> => {
    const keys = new Set(guess)
    let shown: ReadonlyMap<Key, Value | undefined> = new Map()
    for (;;) {
      const run = runOver(shown, clock, step)
      if (!isEmpty(run.commit)) return backend.transact(step, guess, 'look')
      const missing = [...run.read.keys()].filter((key) => !shown.has(key))
      if (missing.length === 0) return run.end()
      for (const key of missing) keys.add(key)
      const asked = [...keys]
      const values = await send(() =>
        backend.transact((view) => answer(view.read(...asked)), asked, 'look'),
      )
      shown = new Map(asked.map((key, i) => [key, values[i]]))
      remember(shown)
    }
  }

  const transact = async <R>(step: Step<R>, guess: readonly Key[], intent?: Intent): Promise<R> => {
    if (intent === 'look') return look(step, guess)
    for (;;) {
      const run = runOver(seen, clock, step)
      if (run.read.size === 0 && isEmpty(run.commit)) return run.end()
      const found = await send(() => compareAndApply(backend, run, guess))
      if (found !== undefined) {
        remember(found)
        continue
      }
      if (!isEmpty(run.commit) && losesReply()) throw new StoreError(LOST)
      remember(run.read)
      remember(run.commit?.writes.map(({ key, value }) => [key, value] as const) ?? [])
      return run.end()
    }
  }

  return {
    transact: (step, guess = [], intent) => accept(() => transact(step, guess, intent)),
    read: (...page) => accept(() => send(() => backend.read(...page))),
    range: (...page) => accept(() => send(() => backend.range(...page))),
    trim: (...where) => accept(() => send(() => backend.trim(...where))),
    scan: (...page) => accept(() => send(() => backend.scan(...page))),
    partition: backend.partition,
    ...(backend.moving && {
      moving: movingOver(backend.moving, (work) => accept(() => send(work))),
    }),
    close: async () => {
      closed = true
      await Promise.allSettled(underWay)
    },
    trips: () => trips,
  }
}

const movingOver = (moving: Moving, trip: <T>(work: () => Promise<T>) => Promise<T>): Moving => ({
  status: () => trip(moving.status),
  fence: (why) => trip(() => moving.fence(why)),
  streams: (...page) => trip(() => moving.streams(...page)),
  restore: (...what) => trip(() => moving.restore(...what)),
})

const CLOSED = {
  code: 'STORE_CLOSED',
  thing: 'the remote store',
  rule: 'takes no calls once closed',
} as const

const LOST = {
  code: 'STORE_UNAVAILABLE',
  thing: 'the remote store',
  rule: 'must answer',
  finding: 'a reply that was lost after its commit',
} as const

/** Others come in between, as they do while a request travels. */
const onTheWay = (): Promise<void> => new Promise((arrive) => setImmediate(arrive))

/** One run over what was last seen: it counts only if all that it read is still so. */
interface Run<R> {
  readonly read: ReadonlyMap<Key, Value | undefined>
  /** Absent if the step threw. */
  readonly commit: Commit<R> | undefined
  /** Answers, or throws what the step threw. */
  end(): R
}

function runOver<R>(
  seen: ReadonlyMap<Key, Value | undefined>,
  clock: Clock,
  step: Step<R>,
): Run<R> {
  const read = new Map<Key, Value | undefined>()
  const view: View = {
    // After all that was seen came in: so no state is newer.
    now: clock(),
    read: (...keys) =>
      keys.map((key) => {
        // Once for the run: what another call learns meanwhile is for the next.
        if (!read.has(key)) read.set(key, seen.get(key))
        return read.get(key)
      }),
  }
  try {
    const commit = step(view)
    return { read, commit, end: () => commit.result }
  } catch (thrown) {
    const end = () => {
      throw thrown
    }
    return { read, commit: undefined, end }
  }
}

const isEmpty = (commit: Commit<unknown> | undefined): boolean =>
  commit === undefined || commit.writes.length + commit.appends.length === 0

type Found = readonly (readonly [Key, Value | undefined])[]

/** What the store's script does. Answers what is there if that is not what was read. */
const compareAndApply = (
  backend: Store,
  { read, commit }: Run<unknown>,
  guess: readonly Key[],
): Promise<Found | undefined> => {
  const keys = [...new Set([...read.keys(), ...guess])]
  const apply = (view: View): Commit<Found | undefined> => {
    const values = view.read(...keys)
    const stale = keys.some((key, i) => read.has(key) && read.get(key) !== values[i])
    const unchanged = { writes: [], appends: [] }
    if (stale) return { ...unchanged, result: keys.map((key, i) => [key, values[i]]) }
    return { ...(commit ?? unchanged), result: undefined }
  }
  return backend.transact(apply, keys)
}
