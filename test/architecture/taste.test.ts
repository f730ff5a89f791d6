/** Sizes and habits that keep the code readable, measured. */
import { expect, test } from 'vitest'
import { sources } from '../support/sources.ts'

const files = sources()
const lines = (text: string): number => text.split('\n').length - 1
const named = (found: typeof files) => found.map(({ path }) => path)

test('no file is longer than 400 lines, and nine of ten have at most 250', () => {
  expect(named(files.filter(({ text }) => lines(text) > 400))).toEqual([])
  const sizes = files.map(({ text }) => lines(text)).sort((a, b) => a - b)
  expect(sizes[Math.floor(sizes.length * 0.9)]).toBeLessThanOrEqual(250)
})

test('no any', () => {
  expect(
    named(files.filter(({ text }) => /:\s*any\b|<any>|\bas any\b|any\[\]/.test(text))),
  ).toEqual([])
})

test('nothing is left to do later in the sources', () => {
  expect(named(files.filter(({ text }) => /\b(TODO|FIXME|XXX)\b/.test(text)))).toEqual([])
})

test('every module opens with a sentence that says what it is', () => {
  const open = /^(#!.*\n)?\/\*\*[\s\S]+?\*\//
  expect(named(files.filter(({ text }) => !open.test(text)))).toEqual([])
})

test('type assertions stand only in brand constructors, parsers and literals', () => {
  const allowed = new Set([
    'src/core/time.ts',
    'src/core/staged.ts',
    'src/documents/field.ts',
    'src/documents/settings/restart.ts',
    'src/documents/settings/table.ts',
    'src/requests/limiter/operations.ts',
    'src/secrets/eip712/ethereum.ts',
    'src/secrets/eip712/typed-data.ts',
    'src/secrets/poprf/blinded-message.ts',
  ])
  const assertion = /\bas (?!const\b)[A-Z]\w*/
  const code = (text: string) =>
    text.replace(/\/\*[\s\S]*?\*\/|\/\/.*|import [\s\S]*? from '.*'|export type \{[^}]*\}/g, '')
  const wrong = files.filter(({ path, text }) => assertion.test(code(text)) && !allowed.has(path))
  expect(named(wrong)).toEqual([])
})
