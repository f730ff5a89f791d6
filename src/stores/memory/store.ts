/**
 * A store in this process's memory: for tests, and for limits that may be forgotten on restart.
 *
 * A step runs at once, and JavaScript lets nothing come between its reads and its writes.
 */
import { StoreError } from '../../core/errors.ts'
import type { Store } from '../../core/store.ts'
import type { Clock } from '../../core/time.ts'
import { systemClock } from '../clock.ts'
import { checkKeys, checkName, checkPage, checkPlan, checkPosition } from '../plan.ts'
import { items } from './items.ts'
import { streams } from './streams.ts'

export interface MemoryOptions {
  readonly clock?: Clock
}

export function memoryStore({ clock = systemClock }: MemoryOptions = {}): Store {
  const values = items()
  const entries = streams()
  let closed = false

  const refuseIfClosed = (): void => {
    if (closed) throw new StoreError(CLOSED)
  }

  return {
    transact: async (step) => {
      refuseIfClosed()
      const now = clock()
      const plan = step({
        now,
        read: (...keys) => {
          checkKeys(keys)
          return keys.map((key) => values.get(key, now))
        },
      })
      checkPlan(plan)
      for (const write of plan.writes) values.apply(write, now)
      for (const append of plan.appends) entries.append(append)
      return plan.result
    },
    read: async (stream, after, limit) => {
      refuseIfClosed()
      checkName('stream', stream)
      checkPosition(after)
      checkPage(limit)
      return entries.page(stream, after, limit)
    },
    range: async (index, after, limit) => {
      refuseIfClosed()
      checkName('index', index)
      checkPage(limit)
      return values.page(after, limit, clock(), index)
    },
    trim: async (stream, before) => {
      refuseIfClosed()
      checkName('stream', stream)
      checkPosition(before)
      entries.trim(stream, before)
    },
    partition: () => '',
    scan: async (after, limit) => {
      refuseIfClosed()
      checkPage(limit)
      return values.page(after, limit, clock())
    },
    close: async () => {
      closed = true
    },
  }
}

const CLOSED = {
  code: 'STORE_CLOSED',
  thing: 'the memory store',
  rule: 'takes no calls once closed',
} as const
