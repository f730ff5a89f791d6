import { expect, test } from 'vitest'
import { fieldInteger, fieldString, MAX_FIELD_INTEGER } from './structured-field.ts'

test('a plain name is quoted', () => {
  expect(fieldString('NewOrdersPerAccount')).toBe('"NewOrdersPerAccount"')
})

test('quotes and backslashes are escaped', () => {
  expect(fieldString('a"b\\c')).toBe('"a\\"b\\\\c"')
})

test('what is not printable ASCII cannot be written, and no header is forged with it', () => {
  expect(() => fieldString('a\r\nSet-Cookie: b')).toThrow('printable ASCII')
  expect(() => fieldString('é')).toThrow('printable ASCII')
})

test('integers stop at fifteen digits', () => {
  expect(fieldInteger(300)).toBe(300)
  expect(fieldInteger(2 ** 52)).toBe(MAX_FIELD_INTEGER)
})
