/**
 * Calls to a Redis Cluster: a script stays within one slot, so the calls of each slot travel together and
 * those of others beside them. The time is that of the server which has the slot.
 */
import { assert } from '../../core/errors.ts'
import type { Commit, Key, Step } from '../../core/store.ts'
import { instant } from '../../core/time.ts'
import { lastSeen } from '../remote/last-seen.ts'
import type { ServerLine } from '../remote/line.ts'
import { type Optimist, type OptimistOptions, optimist } from '../remote/optimist.ts'
import { type RedisBackendOptions, redisBackend } from './backend.ts'
import { slotOfName, tagOfSlot } from './slots.ts'
import { withScriptedSpends } from './spends.ts'

/** Slots whose time is remembered, at 2 kB each: the first call to another asks for it once more. */
const MAX_ENGINES = 4_096

interface PartitionOptions
  extends Omit<OptimistOptions, 'backend' | 'seen'>,
    Pick<RedisBackendOptions, 'link' | 'names'> {
  /** One for each slot: where the server of one is gone, calls to others do not fail with it. */
  readonly newLine: () => ServerLine
  /** Whether spends of plain token buckets go by their script. */
  readonly script: boolean
}

export const partitionedCalls = ({
  link,
  names,
  newLine,
  script,
  ...settings
}: PartitionOptions): Optimist => {
  const seen = lastSeen()
  const engines = new Map<number, Optimist>()
  const underWay = new Set<Promise<unknown>>()

  const newEngine = (slot: number): Optimist => {
    const places = { link, line: newLine(), names, tag: tagOfSlot(slot) }
    const ordinary = optimist({ ...settings, seen, backend: redisBackend(places) })
    return script ? withScriptedSpends({ ...settings, ...places, seen, ordinary }) : ordinary
  }
  const engineOf = (slot: number): Optimist => {
    const engine = engines.get(slot) ?? newEngine(slot)
    // To the end: the first is the one that was idle for longest.
    engines.delete(slot)
    engines.set(slot, engine)
    for (const oldest of engines.keys()) {
      if (engines.size <= MAX_ENGINES) break
      // What is under way there goes on; a second engine of its slot is one more server.
      engines.delete(oldest)
    }
    return engine
  }

  const follow = <R>(call: Promise<R>): Promise<R> => {
    underWay.add(call)
    return call.finally(() => underWay.delete(call))
  }
  const transact: Optimist['transact'] = async (step, guess = [], intent) => {
    const slot = slotOf(step, guess)
    for (const key of guess) checkSlot(slot, key)
    return follow(engineOf(slot).transact(within(slot, step), guess, intent))
  }
  return {
    transact,
    ...(script && {
      transactSpends: async (step, spends) => {
        const guess = spends.map(({ key }) => key)
        const slot = slotOf(step, guess)
        for (const key of guess) checkSlot(slot, key)
        const { transactSpends } = engineOf(slot)
        return transactSpends ? follow(transactSpends(step, spends)) : transact(step, guess)
      },
    }),
    drained: async () => {
      await Promise.allSettled(underWay)
    },
  }
}

/** Where a call belongs: by its guess, or by the first name that its step touches when nothing is there. */
function slotOf(step: Step<unknown>, [guessed]: readonly Key[]): number {
  if (guessed !== undefined) return slotOfName(guessed)
  const touched: string[] = []
  try {
    const read = (...keys: readonly Key[]) => {
      touched.push(...keys)
      return keys.map(() => undefined)
    }
    touched.push(...namesIn(step({ now: instant(0), read })))
  } catch {
    // What it throws over nothing says nothing.
  }
  const [first] = touched
  return first === undefined ? 0 : slotOfName(first)
}

/** The same step, which may not leave its slot. */
const within =
  <R>(slot: number, step: Step<R>): Step<R> =>
  ({ now, read }) => {
    const commit = step({
      now,
      read: (...keys) => {
        for (const key of keys) checkSlot(slot, key)
        return read(...keys)
      },
    })
    for (const name of namesIn(commit)) checkSlot(slot, name)
    return commit
  }

const namesIn = ({ writes, appends }: Commit<unknown>): string[] => [
  ...writes.map(({ key }) => key),
  ...appends.map(({ stream }) => stream),
]

function checkSlot(slot: number, name: string): void {
  // The empty name is refused by all stores alike.
  if (name === '') return
  const own = slotOfName(name)
  assert(own === slot, () => `a transact stays in one partition: ${name.slice(0, 64)}`)
}
