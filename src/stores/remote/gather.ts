/**
 * Calls on their way to a server. Those of one moment travel together, one group at a time. Their steps
 * run one after another over one view of guesses and become parts: calls that share a key stand or fall
 * together, all others alone.
 */
import type { Append, Commit, Key, Value, View, Write } from '../../core/store.ts'
import type { Instant, Span } from '../../core/time.ts'
import { checkCommit, checkKeys } from '../bounds.ts'
import type { Part } from './backend.ts'

export interface Call {
  readonly guess: readonly Key[]
  /** Runs the step: what it would change, and what answers the caller once that is done. */
  enter(view: View): { readonly commit: Commit<unknown>; end(): void }
  reject(error: unknown): void
  /** When it came, or first knew what there is, by the uptime of the process. */
  since: number
  /** How often it had to run again. */
  losses: number
  /** How long its last trip took, if it came to nothing though no other server was in the way. */
  took?: Span
}

/** By then chance alone does not explain it: others are nearer to the server, or busier. */
const CLAIM_AFTER_LOSSES = 4

/** A call that has run: what it will answer once its part is applied. */
interface Ran<C> {
  /** Which of the calls it was. */
  readonly order: number
  readonly call: C
  readonly cells: ReadonlySet<Cell>
  readonly appends: readonly Append[]
  end(): void
}

/** What the calls of the moment make of one key. */
interface Cell {
  readonly key: Key
  readonly expected: Value | undefined
  value: Value | undefined
  /** Read before any call of the moment wrote it: must be as expected. */
  read: boolean
  write: Write | undefined
}

export interface GatheredPart<C> extends Part {
  readonly calls: readonly C[]
  /** Answers all calls, now that the part is applied. */
  end(): void
}

/** `seen` guesses what a key holds. */
export const gather = <C extends Call>(
  calls: readonly C[],
  now: Instant,
  seen: (key: Key) => Value | undefined,
): readonly GatheredPart<C>[] => {
  const cells = new Map<Key, Cell>()
  const cellOf = (key: Key): Cell => {
    const known = cells.get(key)
    if (known !== undefined) return known
    const expected = seen(key)
    const cell = { key, expected, value: expected, read: false, write: undefined }
    cells.set(key, cell)
    return cell
  }
  return joined(calls.map((call, order) => ({ order, ...run(call, now, cellOf) }))).map(toPart)
}

function run<C extends Call>(
  call: C,
  now: Instant,
  cellOf: (key: Key) => Cell,
): Omit<Ran<C>, 'order'> {
  const cells = new Set<Cell>()
  const touch = (key: Key): Cell => {
    const cell = cellOf(key)
    cells.add(cell)
    return cell
  }
  const read = (...keys: readonly Key[]): readonly (Value | undefined)[] => {
    checkKeys(keys)
    return keys.map((key) => {
      const cell = touch(key)
      if (cell.write === undefined) cell.read = true
      return cell.value
    })
  }
  try {
    const { commit, end } = call.enter({ now, read })
    checkCommit(commit)
    for (const write of commit.writes) {
      const cell = touch(write.key)
      cell.value = write.value
      cell.write = write
    }
    return { call, cells, appends: commit.appends, end }
  } catch (error) {
    // Believed only if what the step saw was true: told with its part, like an answer.
    return { call, cells, appends: [], end: () => call.reject(error) }
  }
}

/** Groups of calls that share no key with one another. */
function joined<C>(all: readonly Ran<C>[]): readonly (readonly Ran<C>[])[] {
  const groupOf = new Map<Cell, Ran<C>[]>()
  const groups = new Set<Ran<C>[]>()
  for (const ran of all) {
    const touching = new Set<Ran<C>[]>()
    for (const cell of ran.cells) {
      const group = groupOf.get(cell)
      if (group !== undefined) touching.add(group)
    }
    const [first, ...others] = touching
    const group = first ?? []
    for (const other of others) {
      group.push(...other)
      groups.delete(other)
      for (const { cells } of other) for (const cell of cells) groupOf.set(cell, group)
    }
    group.push(ran)
    groups.add(group)
    for (const cell of ran.cells) groupOf.set(cell, group)
  }
  return [...groups]
}

function toPart<C extends Call>(joinedCalls: readonly Ran<C>[]): GatheredPart<C> {
  const group = joinedCalls.toSorted((a, b) => a.order - b.order)
  const cells = new Set(group.flatMap(({ cells: own }) => [...own]))
  const expected = new Map<Key, Value | undefined>()
  const writes: Write[] = []
  for (const { key, expected: was, read, write } of cells) {
    if (read) expected.set(key, was)
    if (write !== undefined) writes.push(write)
  }
  const guesses = new Set(group.flatMap(({ call }) => call.guess))
  return {
    expected,
    guessed: [...guesses].filter((key) => !expected.has(key)),
    writes,
    appends: group.flatMap(({ appends }) => appends),
    claims: group.some(({ call }) => call.losses >= CLAIM_AFTER_LOSSES),
    calls: group.map(({ call }) => call),
    end: () => {
      for (const { end } of group) end()
    },
  }
}

export interface Groups<C> {
  /** False: too many wait already. */
  push(call: C): boolean
  /** Before all others: they have waited once. After a pause, if one is given. */
  again(calls: readonly C[], pauseMs?: number): void
  /** Resolves once nothing is under way or waits. */
  drained(): Promise<void>
}

/** Calls that may travel together: beyond it a group holds the server up more than it saves. */
const MAX_GROUP = 256

/** Calls that may wait: beyond it the last would run out of patience anyway. */
export const MAX_WAITING = 65_536

/** `serve` never rejects. The next group gathers while it runs. */
export const groups = <C>(serve: (calls: readonly C[]) => Promise<void>): Groups<C> => {
  const onEmpty: (() => void)[] = []
  let waiting: C[] = []
  let pausing = 0
  let underWay = false

  const start = (): void => {
    if (underWay) return
    underWay = true
    // Not at once: what this turn of the event loop brings belongs to the same moment.
    setImmediate(goOn)
  }
  const goOn = async (): Promise<void> => {
    const calls = waiting.slice(0, MAX_GROUP)
    waiting = waiting.slice(calls.length)
    await serve(calls)
    underWay = false
    if (waiting.length > 0) start()
    else if (pausing === 0) for (const resolve of onEmpty.splice(0)) resolve()
  }

  return {
    push: (call) => {
      if (waiting.length + pausing >= MAX_WAITING) return false
      waiting.push(call)
      start()
      return true
    },
    again: (calls, pauseMs = 0) => {
      if (calls.length === 0) return
      if (pauseMs === 0) {
        waiting = [...calls, ...waiting]
        start()
        return
      }
      pausing += calls.length
      setTimeout(() => {
        pausing -= calls.length
        waiting = [...calls, ...waiting]
        start()
      }, pauseMs)
    },
    drained: async () => {
      if (underWay || waiting.length + pausing > 0) {
        await new Promise<void>((resolve) => onEmpty.push(resolve))
      }
    },
  }
}
