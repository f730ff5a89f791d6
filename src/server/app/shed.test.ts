import { describe, expect, test } from 'vitest'
import { createPace } from './shed.ts'

describe('the pace of sheds', () => {
  const scene = () => {
    const pauses: (() => void)[] = []
    const pace = createPace((callback) => pauses.push(callback))
    let told = 0
    const tell = () => {
      told += 1
      return true
    }
    const shed = (count: number) => {
      for (let n = 0; n < count; n++) pace.shed(tell)
      return told
    }
    const pause = () => {
      pauses.shift()?.()
      return told
    }
    return { pace, shed, pause, pauses, tell, told: () => told }
  }

  test('tells 100 at once, and 100 more after each pause', () => {
    const { shed, pause } = scene()
    expect(shed(250)).toBe(100)
    expect([pause(), pause(), pause()]).toEqual([200, 250, 250])
    expect(shed(10)).toBe(260)
  })

  test('tells those who waited before those who come', () => {
    const { shed, pause } = scene()
    shed(150)
    expect(pause()).toBe(150)
    // Fifty of this pause are left.
    expect(shed(100)).toBe(200)
    expect(pause()).toBe(250)
  })

  test('does not count those who have left', () => {
    const { pace, shed, pause } = scene()
    shed(100)
    for (let n = 0; n < 1_000; n++) expect(pace.shed(() => false)).toBe('held')
    shed(100)
    expect(pause()).toBe(200)
  })

  test('rests when there is nothing to tell', () => {
    const { shed, pause, pauses } = scene()
    shed(1)
    pause()
    expect(pauses).toHaveLength(0)
  })

  test('keeps nobody waiting when the server ends, and no more than a bound while it runs', () => {
    const { pace, shed, tell, told } = scene()
    shed(60_100)
    expect(told()).toBe(100)
    expect(pace.shed(tell)).toBe('full')
    pace.flush()
    expect(told()).toBe(60_100)
  })
})
