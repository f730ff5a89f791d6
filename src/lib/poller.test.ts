import { expect, test } from 'vitest'
import { seconds } from '../core/time.ts'
import { startPoller, systemTimers, type Timers } from './poller.ts'

/** Timers that go off when the test calls `pass`. */
function handTimers() {
  const waiting: (() => void)[] = []
  const timers: Timers = {
    after: (_, run) => {
      waiting.push(run)
      return () => waiting.splice(waiting.indexOf(run), 1)
    },
  }
  return { timers, waiting, pass: () => waiting.shift()?.() }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('it asks at once, then after each answer; a fault is reported and does not end it', async () => {
  const { timers, pass } = handTimers()
  const seen: unknown[] = []
  let count = 0
  const poller = startPoller({
    ask: async () => {
      count += 1
      if (count === 2) throw new Error('down')
      return count
    },
    every: seconds(60),
    onAnswer: (answer) => {
      seen.push(answer)
    },
    onFault: (error) => seen.push(error instanceof Error ? error.message : error),
    timers,
  })
  await settled()
  pass()
  await settled()
  pass()
  await settled()
  expect(seen).toEqual([1, 'down', 3])
  await poller.stop()
})

test('a slow answer delays the next question, and after a stop no callback is called', async () => {
  const { timers, waiting } = handTimers()
  let answer = (_: number) => {}
  const seen: number[] = []
  const poller = startPoller({
    ask: () =>
      new Promise<number>((resolve) => {
        answer = resolve
      }),
    every: seconds(60),
    onAnswer: (value) => {
      seen.push(value)
    },
    onFault: () => {},
    timers,
  })
  await settled()
  expect(waiting).toEqual([])
  const stopped = poller.stop()
  answer(1)
  await stopped
  expect([seen, waiting]).toEqual([[], []])
})

test('a stop between two questions cancels the next one', async () => {
  const { timers, waiting } = handTimers()
  const poller = startPoller({
    ask: async () => 1,
    every: seconds(60),
    onAnswer: () => {},
    onFault: () => {},
    timers,
  })
  await settled()
  expect(waiting).toHaveLength(1)
  await poller.stop()
  expect(waiting).toEqual([])
})

test('real timers call back once, or not at all when cancelled', async () => {
  let calls = 0
  systemTimers.after(1, () => {
    calls += 10
  })()
  await new Promise<void>((resolve) => {
    systemTimers.after(1, () => {
      calls += 1
      resolve()
    })
    // The timer alone does not keep a process alive; the test has to.
    setTimeout(() => {}, 1_000)
  })
  expect(calls).toBe(1)
})
