/**
 * Spends of plain token buckets by a script of their own, the one algorithm that is written twice. The
 * script moves the numbers, in one trip and with no guess to lose; the step of the call then tells the
 * story from the values that were there before, and what it would have committed must be what the
 * script did. What the script does not know, it leaves to the ordinary way.
 *
 * One hot key with four processes: 12.9 times one script call each, where guesses came to 1.5.
 */
import { assert } from '../../core/errors.ts'
import type { Commit, Key, PlainSpend, Step, Value, View } from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'
import { groups } from '../remote/gather.ts'
import type { LastSeen } from '../remote/last-seen.ts'
import type { Optimist, OptimistSettings } from '../remote/optimist.ts'
import { GRACE, type RedisBackendOptions, replyList, textOf, timeOf } from './backend.ts'
import { SPEND } from './scripts.ts'

interface SpendsOptions extends RedisBackendOptions, Pick<OptimistSettings, 'clock' | 'onGroup'> {
  readonly seen: LastSeen
  /** Takes what the script leaves. */
  readonly ordinary: Optimist
}

interface SpendCall {
  readonly spends: readonly PlainSpend[]
  enter(view: View): { readonly commit: Commit<unknown>; end(): void }
  /** The ordinary way. */
  leave(): void
  reject(error: unknown): void
}

/** Takes spends in the place of the ordinary way, and all else to it. */
export const withScriptedSpends = (options: SpendsOptions): Optimist => {
  const { ordinary } = options
  const waiting = groups<SpendCall>((calls) => serve(options, calls))
  return {
    transact: ordinary.transact,
    transactSpends: <R>(step: Step<R>, spends: readonly PlainSpend[]) =>
      new Promise<R>((resolve, reject) => {
        const enter: SpendCall['enter'] = (view) => {
          const commit = step(view)
          return { commit, end: () => resolve(commit.result) }
        }
        const guess = spends.map(({ key }) => key)
        const leave = () => resolve(ordinary.transact(step, guess))
        if (!waiting.push({ spends, enter, leave, reject })) leave()
      }),
    drained: async () => {
      await waiting.drained()
      await ordinary.drained()
    },
  }
}

async function serve(options: SpendsOptions, calls: readonly SpendCall[]): Promise<void> {
  const { link, line, names, tag, clock, seen } = options
  const places = new Map<Key, number>()
  const args: (string | number)[] = []
  for (const { spends } of calls) {
    args.push(spends.length)
    for (const { key, cost, burst, interval } of spends) {
      const place = places.get(key) ?? places.size + 1
      places.set(key, place)
      args.push(place, cost, burst, interval)
    }
  }
  const keys = [...places.keys()]
  const asked = [names.claims(tag), ...keys.map(names.key)]
  const overridden: Instant | '' = clock?.() ?? ''
  try {
    const head = [overridden, GRACE, calls.length]
    const reply = await line.ask(() => link.run(SPEND, asked, [...head, ...args]))
    tell(options, calls, toMoved(reply, keys, overridden))
  } catch (error) {
    seen.forget(keys)
    for (const { reject } of calls) reject(error)
  }
}

/** What the script did. */
interface Moved {
  readonly now: Instant
  /** A mark for each call. */
  readonly marks: string
  readonly before: Map<Key, Value | undefined>
  /** What it wrote. */
  readonly after: ReadonlyMap<Key, Value>
}

function toMoved(reply: unknown, keys: readonly Key[], overridden: Instant | ''): Moved {
  const [seconds, micros, marks, ...values] = replyList(reply)
  const after = new Map<Key, Value>()
  for (const [i, key] of keys.entries()) {
    const written = textOf(values[keys.length + i])
    if (written !== undefined) after.set(key, written)
  }
  return {
    now: overridden === '' ? timeOf(seconds, micros) : overridden,
    marks: String(marks),
    before: new Map(keys.map((key, i) => [key, textOf(values[i])])),
    after,
  }
}

/** The script has no bucket of this kind, or it is kept for another server: nothing was moved. */
const LEFT = '-'

/**
 * Runs the steps over what there was, in the order of the script. Answers nobody before all of it is
 * compared: a script and a step that disagree are our bug, and are told so.
 */
function tell(
  { seen, onGroup }: SpendsOptions,
  calls: readonly SpendCall[],
  { now, marks, before, after }: Moved,
): void {
  const values = before
  const written = new Set<Key>()
  const left: SpendCall[] = []
  const ends: (() => void)[] = []
  const read = (...keys: readonly Key[]) => keys.map((key) => values.get(key))
  for (const [i, call] of calls.entries()) {
    if (marks[i] === LEFT) {
      left.push(call)
      continue
    }
    const { commit, end } = call.enter({ now, read })
    for (const { key, value } of commit.writes) {
      values.set(key, value)
      written.add(key)
    }
    ends.push(end)
  }
  for (const [key, value] of values) {
    const moved = after.get(key)
    const agreed = moved === (written.has(key) ? value : undefined)
    assert(agreed, () => `the script of spends and core/gcra.ts disagree: ${moved}, ${value}`)
    seen.wrote(key, value)
  }
  for (const end of ends) end()
  for (const { leave } of left) leave()
  onGroup?.({ calls: calls.length, conflicts: left.length, writes: after.size, appends: 0 })
}
