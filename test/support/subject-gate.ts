import { onTestFinished } from 'vitest'
import type { Store } from '../../src/core/store.ts'
import { millis, type Span, seconds, span } from '../../src/core/time.ts'
import type { Timers } from '../../src/lib/poller.ts'
import { memory } from '../../src/stores/memory/index.ts'
import { createSubjectGate } from '../../src/subjects/gate.ts'
import { createRates } from '../../src/subjects/rates/rates.ts'
import { fakeClock, pretendedCluster } from '../../src/testing/index.ts'

export const PROVIDER = 'did:web:example.com'

/**
 * A gate whose time the test moves. `run` lets the process run: its timers fire. In `freeze` time
 * passes and no timer fires.
 */
export const openGate = async (wrap: (store: Store) => Store = (store) => store) => {
  const clock = fakeClock()
  const store = pretendedCluster(memory({ clock }))
  const rates = createRates({ store, provider: PROVIDER })
  let running: Span = seconds(100)
  let due: { readonly at: number; readonly run: () => void }[] = []
  const timers: Timers = {
    after: (delay, run) => {
      const timer = { at: running + delay * 1_000, run }
      due.push(timer)
      return () => {
        due = due.filter((other) => other !== timer)
      }
    },
  }
  const gate = createSubjectGate({
    store: wrap(store),
    provider: PROVIDER,
    clock,
    uptime: () => running,
    timers,
  })
  onTestFinished(gate.close)
  const freeze = (length: Span): void => {
    running = span(running + length)
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  const run = async (length: Span): Promise<void> => {
    const end = running + length
    while (running < end) {
      freeze(millis(10))
      const now = due.filter(({ at }) => at <= running)
      due = due.filter(({ at }) => at > running)
      for (const timer of now) timer.run()
      if (now.length > 0) await settled()
    }
  }
  return { clock, store, rates, gate, freeze, run }
}
