/**
 * What the steps of one group see: the database, and over it what earlier steps of the group
 * planned. Each key is fetched once and written once, however many steps touch it.
 */
import type { Append, Key, Plan, Value, View, Write } from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'
import { checkKeys, checkPlan } from '../plan.ts'
import type { Statements } from './statements.ts'

export interface Overlay {
  readonly view: View
  /** The database failed under a read; set even if the step swallowed it. */
  failure(): { readonly cause: unknown } | undefined
  apply(plan: Plan<unknown>): void
  /** Hands everything planned to the database; answers how much that was. */
  flush(): { readonly writes: number; readonly appends: number }
}

export function overlay(sql: Statements, now: Instant): Overlay {
  const seen = new Map<Key, Value | undefined>()
  const planned = new Map<Key, Write>()
  const found = new Set<Key>()
  const appends: Append[] = []
  let failure: { readonly cause: unknown } | undefined

  const fetch = (key: Key): Value | undefined => {
    if (seen.has(key)) return seen.get(key)
    try {
      const value = sql.get(key, now)
      seen.set(key, value)
      if (value !== undefined) found.add(key)
      return value
    } catch (cause) {
      failure = { cause }
      throw cause
    }
  }

  return {
    view: {
      now,
      read: (...keys) => {
        checkKeys(keys)
        return keys.map(fetch)
      },
    },
    failure: () => failure,
    apply: (plan) => {
      checkPlan(plan)
      for (const write of plan.writes) {
        planned.set(write.key, write)
        const expired = write.expiresAt !== undefined && write.expiresAt <= now
        seen.set(write.key, expired ? undefined : write.value)
      }
      for (const append of plan.appends) appends.push(append)
    },
    flush: () => {
      for (const { key, value, expiresAt, index } of planned.values()) {
        if (value === undefined) sql.remove(key)
        else if (found.has(key)) sql.change(key, { value, expiresAt, index })
        else sql.put(key, { value, expiresAt, index })
      }
      for (const append of appends) sql.append(append)
      return { writes: planned.size, appends: appends.length }
    },
  }
}
