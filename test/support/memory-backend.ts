/** A server that remote stores talk to, within the test: it compares and sets, counts its trips, and can fail. */
import type { Key, Value } from '../../src/core/store.ts'
import { after, type Clock, type Instant, instant, type Span } from '../../src/core/time.ts'
import {
  type Backend,
  CLAIM,
  type Part,
  type PartOutcome,
} from '../../src/stores/remote/backend.ts'

export interface MemoryServer {
  readonly values: Map<Key, Value>
  readonly entries: string[]
  /** One for each client. */
  connect(): MemoryBackend
}

interface MemoryBackend extends Backend {
  readonly trips: { commits: number; looks: number }
  /** Called before a request arrives: others may come first. */
  meanwhile: () => void
  /** Before: the request never arrives. After: its reply does not. */
  failure: 'none' | 'before' | 'after'
}

/** Its time moves on by a microsecond with every request, and as `clock` does. */
export const memoryServer = (clock: Clock): MemoryServer => {
  const values = new Map<Key, Value>()
  const entries: string[] = []
  const claims = new Map<Key, { readonly who: object; readonly until: Instant }>()
  let requests = 0
  const now = (): Instant => instant(clock() + ++requests)

  const apply = (who: object, part: Part, at: Instant, isTimely: boolean): PartOutcome => {
    const { expected, guessed, writes, appends } = part
    const claimed = [...expected.keys()].some((key) => {
      const claim = claims.get(key)
      return claim !== undefined && claim.who !== who && claim.until > at
    })
    const isAsExpected = [...expected].every(([key, value]) => values.get(key) === value)
    if (isAsExpected && isTimely && !claimed) {
      for (const { key, value } of writes) {
        if (value === undefined) values.delete(key)
        else values.set(key, value)
      }
      for (const { entry } of appends) entries.push(entry)
      for (const key of expected.keys()) if (claims.get(key)?.who === who) claims.delete(key)
      return { kind: 'applied' }
    }
    if (part.claims && !claimed) {
      for (const key of expected.keys()) claims.set(key, { who, until: after(at, CLAIM) })
    }
    const current = [...expected.keys(), ...guessed].map((key) => values.get(key))
    return { kind: 'conflict', current, claimed }
  }

  const connect = (): MemoryBackend => {
    const travel = async <T>(serve: () => T): Promise<T> => {
      backend.meanwhile()
      await Promise.resolve()
      if (backend.failure === 'before') throw new Error('cut on the way there')
      const reply = serve()
      await Promise.resolve()
      if (backend.failure === 'after') throw new Error('cut on the way back')
      return reply
    }
    const backend: MemoryBackend = {
      trips: { commits: 0, looks: 0 },
      meanwhile: () => {},
      failure: 'none',
      commit: (parts, decided) => {
        backend.trips.commits += 1
        return travel(() => {
          const at = now()
          const age: Span | number = at - decided.now
          const isTimely = decided.overridden || (age >= 0 && age <= decided.maxAge)
          return { now: at, outcomes: parts.map((part) => apply(backend, part, at, isTimely)) }
        })
      },
      look: (keys) => {
        backend.trips.looks += 1
        return travel(() => ({ now: now(), values: keys.map((key) => values.get(key)) }))
      },
    }
    return backend
  }
  return { values, entries, connect }
}
