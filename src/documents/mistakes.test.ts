import { expect, test } from 'vitest'
import { mistakeOf } from '../../test/support/mistake-of.ts'
import { HeadgateError } from '../core/errors.ts'
import { parseDocument } from './document.ts'
import { gatherFields } from './field.ts'
import { gathering, MAX_MISTAKES, mistakesIn, readAll } from './mistakes.ts'

const refuse = (thing: string): never => {
  throw new HeadgateError({ code: 'FIELD_VALUE', thing, rule: 'must be good' })
}
const things = (error: unknown) => mistakesIn(error).map(({ thing }) => thing)

test('a mistake in one hides none in the others', () => {
  const reading = () => readAll(['a', 'ok', 'b'], (item) => (item === 'ok' ? item : refuse(item)))
  expect(things(mistakeOf(reading))).toEqual(['a', 'b'])
  expect(readAll([1, 2], (item) => item * 2)).toEqual([2, 4])
})

test('several are one error: the first of them, and how many follow', () => {
  const mistake = mistakeOf(() => readAll(['a', 'b', 'c'], refuse))
  expect(mistake).toMatchObject({ code: 'FIELD_VALUE', thing: 'a' })
  expect(mistake.message).toBe('a: must be good (and 2 more)')
})

test('one alone is thrown as it is, and those of a part are among those of the whole', () => {
  expect(mistakeOf(() => readAll(['a'], refuse)).message).toBe('a: must be good')
  const whole = mistakeOf(() => readAll([['a', 'b'], ['c']], (part) => readAll(part, refuse)))
  expect(things(whole)).toEqual(['a', 'b', 'c'])
  expect(whole.message).toBe('a: must be good (and 2 more)')
})

test('what is no mistake of a caller is never kept', () => {
  const bug = () => {
    throw new TypeError('ours')
  }
  expect(() => gathering().attempt(bug)).toThrow(TypeError)
})

test('ends by itself once it has enough', () => {
  let read = 0
  const endless = Array.from({ length: MAX_MISTAKES * 10 }, (_, i) => `${i}`)
  const mistake = mistakeOf(() =>
    readAll(endless, (item) => {
      read += 1
      return refuse(item)
    }),
  )
  expect(mistakesIn(mistake)).toHaveLength(MAX_MISTAKES)
  expect(read).toBe(MAX_MISTAKES)
})

test('a map tells every unknown and every missing field, and gives those it has', () => {
  const mistakes = gathering()
  const node = parseDocument('{a: 1, x: 2, y: 3}', 'm.yml')
  const shape = { required: ['a', 'b', 'c'], optional: [] } as const
  const fields = gatherFields({ thing: 'm', node }, shape, mistakes)
  expect(Object.keys(fields)).toEqual(['a'])
  expect(mistakes.found.map(({ code, finding, rule }) => [code, finding, rule])).toEqual([
    ['FIELD_UNKNOWN', '"x"', 'may hold only a, b, c'],
    ['FIELD_UNKNOWN', '"y"', 'may hold only a, b, c'],
    ['FIELD_MISSING', 'none', 'must hold b'],
    ['FIELD_MISSING', 'none', 'must hold c'],
  ])
})

test('a document tells every key that stands twice and every alias of nothing', () => {
  const mistake = mistakeOf(() =>
    parseDocument('a: 1\na: 2\nb: *x\nc: {d: 1, d: 2, e: *y}\n', 'm.yml'),
  )
  expect(mistakesIn(mistake).map(({ code, at }) => [code, at?.line, at?.column])).toEqual([
    ['DOCUMENT_DUPLICATE_KEY', 2, 1],
    ['DOCUMENT_ALIAS', 3, 4],
    ['DOCUMENT_DUPLICATE_KEY', 4, 11],
    ['DOCUMENT_ALIAS', 4, 20],
  ])
})

test('a field that is mistyped is told as unknown, and not as missing too', () => {
  const mistakes = gathering()
  const node = parseDocument('{brust: 1, period: 2}', 'm.yml')
  const shape = { required: ['burst', 'period'], optional: [] } as const
  gatherFields({ thing: 'm', node }, shape, mistakes)
  expect(mistakes.found.map(({ finding }) => finding)).toEqual(['"brust" (did you mean burst?)'])
})
