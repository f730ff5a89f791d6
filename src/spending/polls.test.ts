import { expect, onTestFinished, test } from 'vitest'
import { openSpending } from '../../test/support/open-spending.ts'
import { instant, seconds } from '../core/time.ts'
import { startBalancePoll } from './balance-poll.ts'
import type { Timers } from './poller.ts'
import { startRatePoll } from './rate-poll.ts'

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

const until = async (holds: () => boolean | Promise<boolean>) => {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve))
}

test('a balance that was read binds the next admission', async () => {
  const spending = openSpending()
  const now = (await spending.pushBalance(0n)).at
  const asked: string[] = []
  const poll = startBalancePoll({
    mirrorNode: {
      balance: async (account) => {
        asked.push(account)
        return { account, amount: 150n, at: instant(now + 1) }
      },
    },
    account: '0.0.2',
    every: seconds(60),
    spending,
    onFault: () => {},
  })
  onTestFinished(() => poll.stop())
  await until(async () => (await spending.check({ estimate: 150n })).allowed)
  expect((await spending.check({ estimate: 151n })).reason).toBe('OPERATOR_BALANCE')
  expect(asked).toEqual(['0.0.2'])
})

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
