import { describe, expect, test } from 'vitest'
import { mistakeOf } from '../../test/support/mistake-of.ts'
import { parseDocument } from './document.ts'
import { nearestName, readEntries, readFields, readList } from './field.ts'
import { readPositive } from './scalars.ts'

describe('maps', () => {
  const read = (text: string) =>
    readFields(
      { thing: 'limit', node: parseDocument(text, 'test.yml') },
      { required: ['burst', 'count'], optional: ['comment'] },
    )

  test('fields carry their path; an absent optional field is undefined', () => {
    const fields = read('count: 1\nburst: 2\n')
    expect(fields.burst.thing).toBe('limit.burst')
    expect(readPositive(fields.burst)).toBe(2)
    expect(fields.comment).toBeUndefined()
  })

  test('an unknown field is refused at its key, with the known ones and the nearest', () => {
    expect(mistakeOf(() => read('burst: 1\ncuont: 2\n'))).toMatchObject({
      code: 'FIELD_UNKNOWN',
      message:
        'test.yml:2:1: limit: may hold only burst, count, comment, ' +
        'found "cuont" (did you mean count?)',
    })
    expect(mistakeOf(() => read('Burst: 1\ncount: 2\n')).finding).toBe(
      '"Burst" (did you mean burst?)',
    )
  })

  test.each(['<<', '__proto__', 'constructor', 'toString'])('%s is unknown too', (name) => {
    expect(mistakeOf(() => read(`burst: 1\ncount: 1\n${name}: {a: 1}\n`)).code).toBe(
      'FIELD_UNKNOWN',
    )
  })

  test('a missing field is named', () => {
    expect(mistakeOf(() => read('burst: 1\n'))).toMatchObject({
      code: 'FIELD_MISSING',
      message: 'test.yml:1:1: limit: must hold count, found none',
    })
  })

  test('what is no map or no list is refused', () => {
    expect(mistakeOf(() => read('[1]')).message).toContain('must be a map, found a list')
    expect(
      mistakeOf(() => readList({ thing: 'ids', node: parseDocument('x', 'test.yml') })).message,
    ).toContain('must be a list, found x')
  })

  test('entries of open maps keep their order, names and places', () => {
    const entries = readEntries({ thing: 'limits', node: parseDocument('b: 1\na: 2\n', 'f') })
    expect(entries.map(({ name, thing, nameAt }) => [name, thing, nameAt.line])).toEqual([
      ['b', 'limits.b', 1],
      ['a', 'limits.a', 2],
    ])
  })
})

describe('the nearest known name', () => {
  const names = ['NewOrdersPerAccount', 'CertificatesPerDomain', 'burst', 'id', 'ids']

  test.each([
    ['NewOrderPerAccount', 'NewOrdersPerAccount'],
    ['newordersperaccount', 'NewOrdersPerAccount'],
    ['CertificatesPerDomains', 'CertificatesPerDomain'],
    ['brust', 'burst'],
    ['ID', 'id'],
  ])('%s was meant to be %s', (typed, meant) => {
    expect(nearestName(typed, names)).toBe(meant)
  })

  test.each(['', 'x', 'Widgets', 'b'.repeat(1_000)])('%s resembles none', (typed) => {
    expect(nearestName(typed, names)).toBeUndefined()
  })

  test('is never the word itself', () => {
    for (const name of names) expect(nearestName(name, names)).not.toBe(name)
    expect(nearestName('burst', names)).toBeUndefined()
    expect(nearestName('id', names)).toBe('ids')
  })
})
