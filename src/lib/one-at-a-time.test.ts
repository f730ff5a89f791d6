import { expect, test } from 'vitest'
import { oneAtATime, oneRunAhead } from './one-at-a-time.ts'

const soon = () => new Promise<void>((resolve) => setImmediate(resolve))
const bounds = { perKey: 3, inAll: 5 }

test('work on one key runs one after the other, and on other keys meanwhile', async () => {
  const line = oneAtATime(bounds)
  const log: string[] = []
  const work = (name: string) => async () => {
    log.push(`${name} begins`)
    await soon()
    log.push(`${name} ends`)
  }
  await Promise.all([
    line.run('a', work('a1')),
    line.run('a', work('a2')),
    line.run('b', work('b1')),
  ])
  expect(log.slice(0, 2)).toEqual(['a1 begins', 'b1 begins'])
  const ofA = log.filter((entry) => entry.startsWith('a'))
  expect(ofA).toEqual(['a1 begins', 'a1 ends', 'a2 begins', 'a2 ends'])
})

test('work that fails lets the next run', async () => {
  const line = oneAtATime(bounds)
  const failed = line.run('a', () => Promise.reject(new Error('no')))
  const next = line.run('a', async () => 'yes')
  await expect(failed).rejects.toThrow('no')
  expect(await next).toBe('yes')
})

test('a key that is full takes no more until one has left', async () => {
  const line = oneAtATime(bounds)
  const waiting = [1, 2, 3].map(() => line.run('a', soon))
  expect(line.run('a', soon)).toBeUndefined()
  await Promise.all(waiting)
  expect(line.run('a', soon)).toBeDefined()
})

test('all keys together are bounded too', async () => {
  const line = oneAtATime(bounds)
  const waiting = ['a', 'a', 'b', 'b', 'c'].map((key) => line.run(key, soon))
  expect(line.run('d', soon)).toBeUndefined()
  await Promise.all(waiting)
  expect(line.run('d', soon)).toBeDefined()
})

test('runs are shared by all who call before they begin, never by those who call later', async () => {
  let [runs, running] = [0, 0]
  const run = oneRunAhead(async () => {
    runs += 1
    running += 1
    const [own, together] = [runs, running]
    await soon()
    running -= 1
    if (own === 2) throw new Error('the second')
    return [own, together]
  })
  const first = run()
  await Promise.resolve()
  const storm = Array.from({ length: 1_000 }, () => run().catch(() => 'failed'))
  expect(await first).toEqual([1, 1])
  expect(new Set(await Promise.all(storm))).toEqual(new Set(['failed']))
  expect(await run()).toEqual([3, 1])
})
