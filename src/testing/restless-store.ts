/**
 * A store that runs every step more often than it must, so that an impure step is found: over an
 * empty view, over what earlier calls saw, at other times, and twice over the view that counts.
 */
import assert from 'node:assert/strict'
import type { Commit, Key, Step, Store, Value, View } from '../core/store.ts'
import { instant } from '../core/time.ts'

/** How often a step rehearses at most before the run that counts. */
const MAX_REHEARSALS = 3

/** How far from the true time a rehearsal may be, either way: enough to turn any window. */
const MAX_SHIFT_MICROS = 40 * 86_400_000_000

/** Past this many keys the remembered past is dropped. */
const MAX_REMEMBERED = 10_000

/** `random` answers in [0, 1) as `Math.random` does; a seeded one makes a run repeatable. */
export function restlessStore(inner: Store, random: () => number): Store {
  const past = new Map<Key, Value | undefined>()

  const rehearse = (step: Step<unknown>, view: View): void => {
    const shift = Math.round((random() * 2 - 1) * MAX_SHIFT_MICROS)
    const blank = random() < 0.5
    const imagined: View = {
      now: instant(Math.max(0, view.now + shift)),
      read: (...keys) => keys.map((key) => (blank ? undefined : past.get(key))),
    }
    try {
      step(imagined)
    } catch {
      // An imagined view may well be refused: only the run that counts may throw.
    }
  }

  const restless =
    <R>(step: Step<R>): Step<R> =>
    (view) => {
      for (let left = Math.floor(random() * (MAX_REHEARSALS + 1)); left > 0; left--) {
        rehearse(step, view)
      }
      const commit = runTwice(step, view)
      if (past.size > MAX_REMEMBERED) past.clear()
      for (const { key, value } of commit.writes) if (random() < 0.5) past.set(key, value)
      return commit
    }

  return {
    ...inner,
    transact: (step, guess, intent) => inner.transact(restless(step), guess, intent),
  }
}

/** What the step throws here passes: it may be the store's signal to fetch and run again. */
function runTwice<R>(step: Step<R>, view: View): Commit<R> {
  const first = step(view)
  const second = step(view)
  assert.deepStrictEqual(second, first, 'a step is pure: two runs over one view commit the same')
  return second
}
