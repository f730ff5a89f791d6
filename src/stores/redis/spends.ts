/**
 * Spends of plain token buckets by a script of their own, the one algorithm that is written twice. The
 * script moves the numbers, in one trip and with no guess to lose; the step of the call then tells the
 * story from the values that were there before, and what it would have committed must be what the
 * script did. What the script does not know, it leaves to the ordinary way.
 *
 * One hot key with four processes: 12.9 times one script call each, where guesses came to 1.5.
 */
import { assert } from '../../core/errors.ts'
import type { Key, PlainSpend, Step, Value } from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'
import { uptime as processUptime } from '../../lib/clock.ts'
import { checkKeys } from '../bounds.ts'
import { GRACE } from '../remote/backend.ts'
import { type Call, groups } from '../remote/gather.ts'
import type { LastSeen } from '../remote/last-seen.ts'
import {
  MAX_TRIP_LENGTH,
  type Optimist,
  type OptimistSettings,
  overfull,
  patienceOf,
} from '../remote/optimist.ts'
import { type RedisBackendOptions, replyList, runUnfenced, textOf, timeOf } from './backend.ts'
import { SPEND } from './spend-script.ts'

interface SpendsOptions extends RedisBackendOptions, OptimistSettings {
  /** Names the store in errors. */
  readonly thing: string
  readonly seen: LastSeen
  /** Takes what the script leaves. */
  readonly ordinary: Optimist
}

/** It never loses: the script compares nothing. */
interface SpendCall extends Omit<Call, 'guess'> {
  readonly spends: readonly PlainSpend[]
  /** The ordinary way. */
  leave(): void
}

/** Takes spends in the place of the ordinary way, and all else to it. */
export const withScriptedSpends = (options: SpendsOptions): Optimist => {
  const { thing, ordinary, uptime = processUptime } = options
  const isInTime = patienceOf(options)
  const waiting = groups<SpendCall>(async (calls) => {
    const trip = tripOf(calls.filter(isInTime))
    waiting.again(trip.left)
    if (trip.calls.length > 0) await send(options, trip)
  })
  const transactSpends = <R>(step: Step<R>, spends: readonly PlainSpend[]) =>
    new Promise<R>((resolve, reject) => {
      const enter: SpendCall['enter'] = (view) => {
        const commit = step(view)
        return { commit, end: () => resolve(commit.result) }
      }
      const guess = spends.map(({ key }) => key)
      checkKeys(guess)
      const leave = () => resolve(ordinary.transact(step, guess))
      const call = { spends, enter, leave, reject, since: uptime(), losses: 0 }
      if (!waiting.push(call)) reject(overfull(thing))
    })
  return {
    transact: ordinary.transact,
    transactSpends,
    drained: async () => {
      await waiting.drained()
      await ordinary.drained()
    },
  }
}

interface Trip {
  readonly calls: readonly SpendCall[]
  readonly keys: readonly Key[]
  /** Of each call: how many spends; of each spend: which key, cost, burst and interval. */
  readonly words: readonly number[]
  /** Would make it too long. */
  readonly left: readonly SpendCall[]
}

function tripOf(calls: readonly SpendCall[]): Trip {
  const places = new Map<Key, number>()
  const words: number[] = []
  let length = 0
  let taken = 0
  for (const { spends } of calls) {
    if (length > MAX_TRIP_LENGTH) break
    taken += 1
    words.push(spends.length)
    for (const { key, cost, burst, interval } of spends) {
      const place = places.get(key) ?? places.size + 1
      if (place > places.size) length += key.length
      places.set(key, place)
      words.push(place, cost, burst, interval)
    }
  }
  return {
    calls: calls.slice(0, taken),
    keys: [...places.keys()],
    words,
    left: calls.slice(taken),
  }
}

async function send(options: SpendsOptions, { calls, keys, words }: Trip): Promise<void> {
  const { link, line, names, tag, clock, seen } = options
  const asked = [names.claims(tag), ...keys.map(names.key)]
  const overridden: Instant | '' = clock?.() ?? ''
  try {
    const args = [overridden, GRACE, calls.length, ...words]
    const reply = await line.ask(() => runUnfenced(link, SPEND, { keys: asked, args }))
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
  onGroup?.({
    calls: calls.length,
    conflicts: left.length,
    writes: after.size,
    ...{ appends: 0, doubts: 0, claims: 0 },
  })
}
