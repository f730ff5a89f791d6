/**
 * A counter with labels, kept in plain numbers and handed to its registry only when someone looks.
 *
 * The library's own counter hashes its labels at every increment, which costs more than a decision.
 */
import { Counter, type Registry } from 'prom-client'

export interface Tally {
  /** Label values in the order of the names. */
  add(...values: readonly string[]): void
}

export interface TallyOptions {
  readonly name: string
  readonly help: string
  readonly labels: readonly string[]
  readonly registry: Registry
}

export const createTally = ({ name, help, labels, registry }: TallyOptions): Tally => {
  const counts = new Map<string, { readonly values: readonly string[]; count: number }>()
  const counter = new Counter({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    collect: () => {
      counter.reset()
      for (const { values, count } of counts.values()) counter.labels(...values).inc(count)
    },
  })
  return {
    add: (...values) => {
      const key = values.join('\n')
      const row = counts.get(key)
      if (row === undefined) counts.set(key, { values, count: 1 })
      else row.count += 1
    },
  }
}
