import { expect, test } from 'vitest'
import { assert, HeadgateError, makeMistake, quote, StoreError, throwMistake } from './errors.ts'

test('a mistake names the place, the thing, the rule and the finding', () => {
  const error = new HeadgateError({
    code: 'FIELD_VALUE',
    thing: 'burst of NewOrdersPerAccount',
    rule: 'must be a whole number of at least 1',
    finding: '0',
    at: { file: 'defaults.yml', line: 7, column: 10 },
  })
  expect(error.message).toBe(
    'defaults.yml:7:10: burst of NewOrdersPerAccount: must be a whole number of at least 1, found 0',
  )
  expect(error).toMatchObject({ name: 'HeadgateError', code: 'FIELD_VALUE', finding: '0' })
})

test('an unwell store keeps the cause of its trouble', () => {
  const cause = new Error('disk I/O error')
  const error = new StoreError(
    { code: 'STORE_UNAVAILABLE', thing: 'store', rule: 'must answer' },
    { cause },
  )
  expect(error).toBeInstanceOf(HeadgateError)
  expect(error).toMatchObject({ name: 'StoreError', message: 'store: must answer', cause })
})

test('a bug of ours stops at an assertion', () => {
  expect(() => assert(false, 'two is two')).toThrow('assertion failed: two is two')
  expect(() => assert(true, 'two is two')).not.toThrow()
})

test('text from outside is quoted on one line, and cut after 80 characters', () => {
  expect(quote('two\n"lines"')).toBe('"two\\n\\"lines\\""')
  expect(quote('x'.repeat(80))).toBe(`"${'x'.repeat(80)}"`)
  expect(quote('x'.repeat(81))).toBe(`"${'x'.repeat(80)}…"`)
})

test('a mistake is made or thrown in one call, with its cause if there is one', () => {
  const cause = new Error('ENOENT')
  const made = makeMistake('KEY_INVALID', 'the key', 'must be a file', 'none', cause)
  expect(made).toMatchObject({ code: 'KEY_INVALID', cause })
  expect(made.message).toBe('the key: must be a file, found none')
  const thrown = { code: 'KEY_INVALID', thing: 'the key', rule: 'must be a file', finding: 'none' }
  expect(() => throwMistake(thrown)).toThrow(new HeadgateError(thrown))
  expect(makeMistake('KEY_INVALID', 'the key', 'must be a file')).not.toHaveProperty('cause')
})
