import { expect, test } from 'vitest'
import { mistakeOf } from '../../test/support/mistake-of.ts'
import { seconds } from '../core/time.ts'
import { readFields, readList } from './field.ts'
import { treeOf } from './from-value.ts'
import { readBoolean, readDuration, readText, readWholeNumber } from './scalars.ts'

const fieldsOf = (value: unknown) =>
  readFields(
    { thing: 'it', node: treeOf(value, 'limits') },
    { required: [], optional: ['burst', 'period', 'open', 'ids'] },
  )

test('a value is read as the document that says the same', () => {
  const { burst, period, open, ids } = fieldsOf({
    burst: 3,
    period: '1s',
    open: true,
    ids: ['a', 'b'],
  })
  expect(burst && readWholeNumber(burst, { min: 1 })).toBe(3)
  expect(period && readDuration(period)).toBe(seconds(1))
  expect(open && readBoolean(open)).toBe(true)
  expect(ids && readList(ids).map(readText)).toEqual(['a', 'b'])
})

test('an undefined field is absent', () => {
  expect(fieldsOf({ burst: undefined })).toEqual({})
})

test('a mistake names the value, and no line of a text that is not there', () => {
  const unknown = mistakeOf(() => fieldsOf({ brust: 3 }))
  expect(unknown.code).toBe('FIELD_UNKNOWN')
  expect(unknown.message).toMatch(/^limits: it: .*"brust" \(did you mean burst\?\)$/)
})

test('text is no number, and a number no text of digits', () => {
  const { burst } = fieldsOf({ burst: '3' })
  const mistake = mistakeOf(() => burst && readWholeNumber(burst, { min: 1 }))
  expect(mistake.code).toBe('FIELD_TYPE')
})

test.each([[() => 1], [Symbol('s')]])('%s is no value of a document', (value) => {
  expect(mistakeOf(() => treeOf({ period: value }, 'limits'))).toMatchObject({
    code: 'FIELD_TYPE',
    thing: 'limits.period',
  })
})
