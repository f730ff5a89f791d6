import { expect, test } from 'vitest'
import { instant, seconds } from '../../core/time.ts'
import type { Timers } from '../../lib/poller.ts'
import { startRatePoll } from './exchange-rate.ts'

/** Rounds that the test starts. */
function rounds() {
  let next = () => {}
  const timers: Timers = {
    after: (_, run) => {
      next = run
      return () => {}
    },
  }
  return { timers, next: () => next() }
}

const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

test('the last good rate stays while the mirror node has none', async () => {
  const { timers, next } = rounds()
  const faults: unknown[] = []
  let answer = async () => ({ cents: 12n, hbars: 1n, expiresAt: instant(0) })
  const poll = startRatePoll({
    mirrorNode: { exchangeRate: () => answer() },
    every: seconds(60),
    onFault: (error) => faults.push(error),
    timers,
  })
  expect(poll.current()).toBeUndefined()
  await until(() => poll.current() !== undefined)
  answer = () => Promise.reject(new Error('away'))
  await new Promise((resolve) => setImmediate(resolve))
  next()
  await until(() => faults.length > 0)
  expect(poll.current()?.cents).toBe(12n)
  await poll.stop()
})
