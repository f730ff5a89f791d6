import { expect, test } from 'vitest'
import { createTurns, MAX_WAITING } from './turns.ts'

const soon = () => new Promise<void>((resolve) => setImmediate(resolve))

test('work on one key runs one after the other, and on other keys meanwhile', async () => {
  const turns = createTurns()
  const log: string[] = []
  const work = (name: string) => async () => {
    log.push(`${name} begins`)
    await soon()
    log.push(`${name} ends`)
  }
  await Promise.all([
    turns.take('a', work('a1')),
    turns.take('a', work('a2')),
    turns.take('b', work('b1')),
  ])
  expect(log.slice(0, 2)).toEqual(['a1 begins', 'b1 begins'])
  const ofA = log.filter((line) => line.startsWith('a'))
  expect(ofA).toEqual(['a1 begins', 'a1 ends', 'a2 begins', 'a2 ends'])
})

test('work that fails lets the next have its turn', async () => {
  const turns = createTurns()
  const failed = turns.take('a', () => Promise.reject(new Error('no')))
  const next = turns.take('a', async () => 'yes')
  await expect(failed).rejects.toThrow('no')
  expect(await next).toBe('yes')
})

test('a line that is full takes nobody more, until somebody has left', async () => {
  const turns = createTurns()
  const waiting = Array.from({ length: MAX_WAITING }, () => turns.take('a', soon))
  expect(turns.take('a', soon)).toBeUndefined()
  await Promise.all(waiting)
  expect(turns.take('a', soon)).toBeDefined()
})
