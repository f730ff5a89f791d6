import { describe, expect, test } from 'vitest'
import { mistakeOf } from '../../test/support/mistake-of.ts'
import { parseDocument } from './document.ts'
import { type Field, readList } from './field.ts'
import { readBoolean, readDuration, readOneOf, readPositive, readText } from './scalars.ts'

const field = (text: string): Field => ({
  thing: 'it',
  node: parseDocument(`[${text}]`, 'test.yml'),
})
const item = (text: string): Field => {
  const [first] = readList(field(text))
  if (first === undefined) throw new Error('no item')
  return { ...first, thing: 'burst' }
}
describe('whole numbers', () => {
  test.each([
    ['20', 20],
    ['0x14', 20],
    ['20.0', 20],
    ['20.', 20],
    ['+5', 5],
    ['1e3', 1_000],
    ['1E+3', 1_000],
    ['1.5e3', 1_500],
    ['2000e-3', 2],
    ['10.50e1', 105],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ])('%s is read as %d', (text, value) => {
    expect(readPositive(item(text))).toBe(value)
  })

  test.each([
    ['0', 'FIELD_VALUE', '0'],
    ['-1', 'FIELD_VALUE', '-1'],
    ['9007199254740992', 'FIELD_VALUE', '9007199254740992'],
    ['9223372036854775808', 'FIELD_VALUE', '9223372036854775808'],
    ['"20"', 'FIELD_TYPE', 'the quoted text "20"'],
    ['1.5', 'FIELD_TYPE', '1.5 (a fraction)'],
    ['0.5', 'FIELD_TYPE', '0.5 (a fraction)'],
    ['024', 'FIELD_TYPE', '024 (a leading zero, which some read as octal)'],
    ['1_000', 'FIELD_TYPE', '1_000 (underscores)'],
    ['1e-3', 'FIELD_TYPE', '1e-3 (a fraction)'],
    ['1.25e1', 'FIELD_TYPE', '1.25e1 (a fraction)'],
    ['1.00000000000000000001', 'FIELD_TYPE', '1.00000000000000000001 (a fraction)'],
    ['1e99', 'FIELD_VALUE', '1e99'],
    ['1e999', 'FIELD_VALUE', '1e999'],
    ['0e3', 'FIELD_VALUE', '0e3'],
    ['1e', 'FIELD_TYPE', '1e'],
    ['0o24', 'FIELD_TYPE', '0o24'],
    ['.inf', 'FIELD_TYPE', '.inf'],
    ['٢٠', 'FIELD_TYPE', '٢٠'],
    ['many', 'FIELD_TYPE', 'many'],
    ['~', 'FIELD_TYPE', 'nothing'],
    ['[20]', 'FIELD_TYPE', 'a list'],
    ['{a: 1}', 'FIELD_TYPE', 'a map'],
  ])('%s is refused', (text, code, finding) => {
    expect(mistakeOf(() => readPositive(item(text)))).toMatchObject({ code, finding })
  })

  test('the message names the thing, the rule and the finding', () => {
    expect(mistakeOf(() => readPositive(item('0'))).message).toBe(
      'test.yml:1:2: burst: must be a whole number of at least 1, found 0',
    )
  })
})

describe('other values', () => {
  test('text is source text, and nothing is not text', () => {
    expect(['007', 'true', '""', '"~"'].map((text) => readText(item(text)))).toEqual([
      '007',
      'true',
      '',
      '~',
    ])
    expect(mistakeOf(() => readText(item('null'))).code).toBe('FIELD_TYPE')
  })

  test('text that ends in a colon is a map to YAML, and the message says how to mend it', () => {
    const node = parseDocument('2602:80a::\n', 'test.yml')
    expect(mistakeOf(() => readText({ thing: 'id', node })).message).toContain('needs quotes')
  })

  test('booleans are true and false, and no other word', () => {
    expect(readBoolean(item('true'))).toBe(true)
    expect(readBoolean(item('false'))).toBe(false)
    for (const text of ['yes', 'True', '"true"', '1', '~', '[]']) {
      expect(mistakeOf(() => readBoolean(item(text))).code).toBe('FIELD_TYPE')
    }
  })

  test('durations have a unit and are above zero; quotes do not matter', () => {
    expect(readDuration(item('"1h30m"'))).toBe(5_400_000_000)
    expect(readDuration(item('7d'))).toBe(604_800_000_000)
    for (const text of ['0', '0s', '-1s', '5', '1 h', 'hourly', 'PT1H', '""', '300000w']) {
      expect(mistakeOf(() => readDuration(item(text))).code).toBe('FIELD_VALUE')
    }
    for (const text of ['~', '[1h]']) {
      expect(mistakeOf(() => readDuration(item(text))).code).toBe('FIELD_TYPE')
    }
  })

  test('one of several words', () => {
    expect(readOneOf(item('open'), ['open', 'closed'])).toBe('open')
    expect(mistakeOf(() => readOneOf(item('ajar'), ['open', 'closed'])).message).toBe(
      'test.yml:1:2: burst: must be one of open, closed, found "ajar"',
    )
  })
})
