import { describe, expect, test } from 'vitest'
import { jsonField } from '../../../test/support/json-field.ts'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { days, hours, millis, minutes, span } from '../../core/time.ts'
import {
  duration,
  filePath,
  formatted,
  listOf,
  oneOf,
  type Reader,
  type TextReader,
  trueOrFalse,
  wholeNumberIn,
} from './reader.ts'

const even = formatted({
  parse: (text) => (/^\d*[02468]$/.test(text) ? text : undefined),
  rule: 'must be even',
  schema: { pattern: '[02468]$' },
})

const fromText = <T>(reader: TextReader<T>, text: string, folder?: string): T =>
  reader.fromText(
    { text, thing: '--flag', code: 'FLAG_WRONG' },
    folder === undefined ? {} : { folder },
  )

const fromField = <T>(reader: Reader<T>, value: unknown, folder?: string): T =>
  reader.fromField(jsonField(value, 'key'), folder === undefined ? {} : { folder })

describe('a value is the same in a document and as text', () => {
  test.each([
    [wholeNumberIn({ min: 1, max: 20 }), 7, '7', 7],
    [trueOrFalse, true, 'true', true],
    [oneOf(['a', 'b']), 'b', 'b', 'b'],
    [duration, '90s', '90s', minutes(1.5)],
    [even, '12', '12', '12'],
    [filePath, 'x/y', 'x/y', 'x/y'],
  ] as readonly (readonly [TextReader<unknown>, unknown, string, unknown])[])(
    '%#',
    (reader, value, text, expected) => {
      expect(fromField(reader, value)).toBe(expected)
      expect(fromText(reader, text)).toBe(expected)
    },
  )
})

describe('a wrong value is refused by one rule', () => {
  test.each([
    [wholeNumberIn({ min: 1, max: 20 }), '21', 'must be a whole number from 1 to 20'],
    [wholeNumberIn({ min: 1, max: 20 }), '007', 'must be a whole number from 1 to 20'],
    [trueOrFalse, 'yes', 'must be true or false'],
    [oneOf(['a', 'b']), 'c', 'must be one of a, b'],
    [duration, '90', 'must be a duration above zero'],
    [even, '13', 'must be even'],
    [filePath, '', 'must name a file'],
  ] as readonly (readonly [TextReader<unknown>, string, string])[])(
    '%#: %s in a flag %j',
    (reader, text, rule) => {
      const { code, thing, message } = mistakeOf(() => fromText(reader, text))
      expect({ code, thing }).toEqual({ code: 'FLAG_WRONG', thing: '--flag' })
      expect(message).toContain(rule)
    },
  )

  test('in a document with its position', () => {
    expect(mistakeOf(() => fromField(even, '13'))).toMatchObject({
      code: 'FIELD_VALUE',
      thing: 'key',
      rule: 'must be even',
      at: { line: 1, column: 1 },
    })
    expect(mistakeOf(() => fromField(filePath, '')).rule).toBe('must name a file')
  })

  test('and what may be a secret is not repeated', () => {
    const secret = formatted({
      parse: () => undefined,
      rule: 'must be right',
      schema: {},
      finding: 'something else',
    })
    for (const run of [() => fromText(secret, 'hunter2'), () => fromField(secret, 'hunter2')]) {
      expect(mistakeOf(run).message).not.toContain('hunter2')
    }
  })
})

test('relative file names start from the folder, if there is one', () => {
  for (const read of [fromField<string>, fromText<string>]) {
    expect(read(filePath, 'a.yml', '/etc/headgate')).toBe('/etc/headgate/a.yml')
    expect(read(filePath, '/srv/a.yml', '/etc/headgate')).toBe('/srv/a.yml')
    expect(read(filePath, 'a.yml')).toBe('a.yml')
  }
})

test('a list has a bound', () => {
  const list = listOf(even, 2)
  expect(fromField(list, ['2', '4'])).toEqual(['2', '4'])
  expect(mistakeOf(() => fromField(list, ['2', '4', '6'])).rule).toBe('must hold at most 2')
  expect(list.schema).toMatchObject({ type: 'array', maxItems: 2, items: { type: 'string' } })
})

test('a duration is shown in its largest whole unit, and read back as it was', () => {
  const lengths = [days(7), hours(36), minutes(3), millis(1_500), span(5)]
  const shown = lengths.map((length) => duration.toJson?.(length))
  expect(shown).toEqual(['7d', '36h', '3m', '1500ms', '5us'])
  expect(shown.map((text) => fromField(duration, text))).toEqual(lengths)
})
