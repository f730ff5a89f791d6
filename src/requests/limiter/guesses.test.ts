import { expect, test } from 'vitest'
import { MAX_GUESSED_KEYS, MAX_GUESSES, recentGuesses } from './guesses.ts'

test('a guess is what was noted last; where nothing was, there is none', () => {
  const guesses = recentGuesses()
  guesses.note('a', ['x'])
  guesses.note('a', ['y', 'z'])
  expect(guesses.of('a')).toEqual(['y', 'z'])
  expect(guesses.of('b')).toEqual([])
})

test('only so many are remembered, at least the newer half of them, and the oldest go first', () => {
  const guesses = recentGuesses()
  for (let n = 0; n <= MAX_GUESSES; n++) guesses.note(`${n}`, ['x'])
  expect(guesses.of('0')).toEqual([])
  expect(guesses.of(`${MAX_GUESSES / 2}`)).toEqual(['x'])
  expect(guesses.of(`${MAX_GUESSES}`)).toEqual(['x'])
  const kept = Array.from({ length: MAX_GUESSES }, (_, n) => guesses.of(`${n}`)).flat()
  expect(kept.length).toBeLessThanOrEqual(MAX_GUESSES)
})

test('a large batch is not remembered: it would take more room than it saves', () => {
  const guesses = recentGuesses()
  guesses.note(
    'a',
    Array.from({ length: MAX_GUESSED_KEYS + 1 }, (_, i) => `${i}`),
  )
  expect(guesses.of('a')).toEqual([])
})
