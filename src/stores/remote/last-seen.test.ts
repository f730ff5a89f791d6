import { expect, test } from 'vitest'
import { instant, seconds, span } from '../../core/time.ts'
import { lastSeen, serverTime } from './last-seen.ts'

test('it tells what was last seen or written, and nothing of what is gone', () => {
  const seen = lastSeen()
  expect(seen.value('a')).toBeUndefined()
  seen.saw('a', '1')
  expect(seen.value('a')).toBe('1')
  seen.wrote('a', '2')
  expect(seen.value('a')).toBe('2')
  seen.saw('a', undefined)
  expect(seen.value('a')).toBeUndefined()
})

test('beyond its size it forgets what came first, and never grows', () => {
  const seen = lastSeen(3)
  for (const key of ['a', 'b', 'c', 'd']) seen.saw(key, key)
  expect(['a', 'b', 'c', 'd'].map(seen.value)).toEqual([undefined, 'b', 'c', 'd'])
  seen.saw('b', 'again')
  expect(['b', 'c', 'd'].map(seen.value)).toEqual(['again', 'c', 'd'])
})

test('it is bounded by the length of what it holds too, whatever becomes of it', () => {
  const seen = lastSeen(100, 10)
  for (const key of ['a', 'b', 'c']) seen.saw(key, '123')
  expect(['a', 'b', 'c'].map(seen.value)).toEqual([undefined, '123', '123'])
  seen.wrote('b', '1')
  seen.saw('d', '1')
  expect(['b', 'c', 'd'].map(seen.value)).toEqual(['1', '123', '1'])
  seen.forget(['c'])
  seen.saw('b', undefined)
  seen.saw('e', '1234567')
  expect(['d', 'e'].map(seen.value)).toEqual(['1', '1234567'])
  seen.saw('f', '12345678901')
  expect(['d', 'e', 'f'].map(seen.value)).toEqual([undefined, undefined, undefined])
})

test('doubts are bounded as well', () => {
  const seen = lastSeen(2)
  for (const key of ['a', 'b', 'a', 'c']) seen.doubt(key)
  expect(['a', 'b', 'c'].map(seen.isDoubted)).toEqual([false, true, true])
})

test('a doubted key is trusted again when it was found unchanged four times in a row', () => {
  const seen = lastSeen()
  seen.saw('a', '1')
  seen.doubt('a')
  for (const value of ['1', '1', '2', '2', '2', '2']) {
    expect(seen.isDoubted('a')).toBe(true)
    seen.saw('a', value)
  }
  expect(seen.isDoubted('a')).toBe(true)
  seen.saw('a', '2')
  expect(seen.isDoubted('a')).toBe(false)
})

test('what was forgotten is neither taken for absent nor for there: it is simply not known', () => {
  const seen = lastSeen()
  seen.saw('a', '1')
  seen.saw('b', '2')
  seen.forget(['a'])
  expect([seen.value('a'), seen.value('b')]).toEqual([undefined, '2'])
})

const HOUR = seconds(3_600)

const at = (start: number) => {
  let running = 0
  const time = serverTime(() => span(running))
  time.heard(instant(start))
  return {
    time,
    pass: (micros: number) => {
      running += micros
    },
  }
}

test('nothing is known before the first answer', () => {
  expect(serverTime(() => span(0)).now()).toBeUndefined()
})

test('it goes on between answers, a thousandth slower than our own clock', () => {
  const { time, pass } = at(1_000)
  pass(1_000_000)
  expect(time.now()).toBe(1_000 + 999_000)
})

test('it is not ahead of a server whose clock runs slow by as much as NTP corrects', () => {
  const { time, pass } = at(0)
  pass(HOUR)
  expect(Number(time.now())).toBeLessThanOrEqual(HOUR * (1 - 500e-6))
})

test('a server whose clock stepped back is believed at once', () => {
  const { time } = at(5_000_000)
  time.heard(instant(1))
  expect(time.now()).toBe(1)
})
