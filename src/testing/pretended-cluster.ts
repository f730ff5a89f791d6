/**
 * A store that pretends to be a cluster: names of one tag share a partition, and a transaction that
 * touches two is refused as the bug that it would be there.
 */
import assert from 'node:assert/strict'
import { tagOf } from '../core/names.ts'
import type { Commit, Step, Store, View } from '../core/store.ts'

/** Over any store: what is kept, and how, stays the same. Guesses count as touched. */
export function pretendedCluster(inner: Store): Store {
  const { atHand: _, ...rest } = inner
  return {
    ...rest,
    partition: tagOf,
    transact: async (step, guess = [], intent) => {
      const whole = partitionWatch()
      whole.touch(guess)
      return inner.transact(watched(step, whole), guess, intent)
    },
  }
}

interface PartitionWatch {
  touch(names: readonly string[]): void
  /** Throws if two partitions were touched, though the step caught it when it happened. */
  check(): void
}

function partitionWatch(): PartitionWatch {
  let first: string | undefined
  let stranger: string | undefined
  const check = (): void => {
    if (stranger === undefined) return
    assert.fail(`a transaction stays within one partition: ${first} and ${stranger}`)
  }
  return {
    touch: (names) => {
      for (const name of names) {
        first ??= name
        if (tagOf(name) !== tagOf(first)) stranger ??= name
      }
      check()
    },
    check,
  }
}

/** A run may be over a view that never was: what it touched counts all the same, as a guess would. */
const watched =
  <R>(step: Step<R>, whole: PartitionWatch): Step<R> =>
  ({ now, read }) => {
    const view: View = {
      now,
      read: (...keys) => {
        whole.touch(keys)
        return read(...keys)
      },
    }
    try {
      const commit = step(view)
      whole.touch(namesIn(commit))
      return commit
    } finally {
      whole.check()
    }
  }

const namesIn = ({ writes, appends }: Commit<unknown>): readonly string[] => [
  ...writes.map(({ key }) => key),
  ...appends.map(({ stream }) => stream),
]
