import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mistakeOf } from '../../test/support/mistake-of.ts'
import { MAX_DOCUMENT_LENGTH, parseDocument, readYaml } from './document.ts'
import { MAX_DEPTH, type Node } from './node.ts'

const parse = (text: string): Node => parseDocument(text, 'test.yml')

/** The plain values of a tree, without positions. */
const plain = (node: Node): unknown => {
  switch (node.kind) {
    case 'scalar':
      return node.text
    case 'list':
      return node.items.map(plain)
    case 'map':
      return Object.fromEntries(node.entries.map(({ key, value }) => [key, plain(value)]))
    default:
      return node satisfies never
  }
}

const refusalOf = (text: string) => mistakeOf(() => parse(text))

describe('one document becomes a tree of source text', () => {
  test('scalars keep their text: no number is rounded and no word becomes a boolean', () => {
    const text = 'a: 18446744073709551615\nb: 007\nc: 0x10\nd: yes\ne: 1e3\nf: 2001:db8::1\n'
    expect(plain(parse(text))).toEqual({
      a: '18446744073709551615',
      b: '007',
      c: '0x10',
      d: 'yes',
      e: '1e3',
      f: '2001:db8::1',
    })
  })

  test('quoted text, blocks of text and !!str are not plain scalars', () => {
    const tree = parse('- 20\n- "20"\n- \'20\'\n- |\n  20\n- !!str 20\n')
    expect(tree.kind === 'list' && tree.items.map((n) => n.kind === 'scalar' && n.quoted)).toEqual([
      false,
      true,
      true,
      true,
      true,
    ])
  })

  test('every value and every key knows its line and column, counted from 1', () => {
    const tree = parse('first: 1\nsecond:\n  - x\n  -   y\n')
    expect(tree).toMatchObject({
      kind: 'map',
      at: { file: 'test.yml', line: 1, column: 1 },
      entries: [
        { key: 'first', keyAt: { line: 1, column: 1 }, value: { at: { line: 1, column: 8 } } },
        {
          key: 'second',
          keyAt: { line: 2, column: 1 },
          value: { items: [{ at: { line: 3, column: 5 } }, { at: { line: 4, column: 7 } }] },
        },
      ],
    })
  })

  test.each([
    ['JSON, tabs included', '{\n\t"a": [1, "x"],\n\t"b": {}\n}', { a: ['1', 'x'], b: {} }],
    ['Windows line ends', 'a: 1\r\nb: 2\r\n', { a: '1', b: '2' }],
    ['a byte order mark', '\uFEFFa: 1\n', { a: '1' }],
    ['a document marker and an end marker', '---\na: 1\n...\n', { a: '1' }],
    ['anchors and aliases', 'a: &x [1, 2]\nb: *x\n', { a: ['1', '2'], b: ['1', '2'] }],
    ['an alias in place of a key', '- &k name\n- *k : 1\n', ['name', { name: '1' }]],
    ['the key of a flow map without a value', '{a, b: 1}', { a: '', b: '1' }],
    ['a YAML 1.1 directive changes nothing', '%YAML 1.1\n---\na: 012\n', { a: '012' }],
    [
      'a merge key brings in what a map lacks, wherever it stands',
      'a: &a {x: 1, y: 2}\nb: {x: 3, <<: *a}\nc: {<<: *a, y: 4}\n',
      { a: { x: '1', y: '2' }, b: { x: '3', y: '2' }, c: { x: '1', y: '4' } },
    ],
    [
      'of several merged maps the first that has a key gives it',
      'l: [&a {x: 1}, &b {x: 2, y: 3}]\nm:\n  <<: [*a, *b]\nn: {<<: {z: 5}}\n',
      { l: [{ x: '1' }, { x: '2', y: '3' }], m: { x: '1', y: '3' }, n: { z: '5' } },
    ],
    ['a quoted merge key is a key like any other', "a: {'<<': 1}", { a: { '<<': '1' } }],
    ['and so it is in JSON', '{"a": {"<<": 1}}', { a: { '<<': '1' } }],
  ])('%s', (_, text, expected) => {
    expect(plain(parse(text))).toEqual(expected)
  })
})

describe('JSON is read by its own rules, and means what it means as YAML', () => {
  test('any JSON, however it is laid out: the same tree, positions included', () => {
    const layout = fc.constantFrom(undefined, 1, 4, '\t')
    fc.assert(
      fc.property(fc.oneof(fc.array(fc.jsonValue()), fc.object()), layout, (value, space) => {
        const text = JSON.stringify(value, undefined, space)
        expect(parse(text)).toEqual(readYaml(text, 'test.yml'))
      }),
    )
  })

  test('what only begins like JSON is YAML, and refused in its words', () => {
    expect(plain(parse('[a, b] # and a comment'))).toEqual(['a', 'b'])
    expect(refusalOf('{"a": 1, "a": 2}').message).toContain('must occur once in its map')
  })
})

describe('what is doubtful is refused, with its position', () => {
  test.each([
    ['nothing at all', '', 'DOCUMENT_EMPTY', 1, 1],
    ['only comments', '# nothing here\n', 'DOCUMENT_EMPTY', 1, 1],
    ['a bare null', 'null\n', 'DOCUMENT_EMPTY', 1, 1],
    ['a bare tilde', '\n~\n', 'DOCUMENT_EMPTY', 2, 1],
    ['only a document marker', '---\n', 'DOCUMENT_EMPTY', 1, 4],
    ['a second document', 'a: 1\n---\nb: 1\n', 'DOCUMENT_MULTIPLE', 2, 1],
    ['a key twice', 'a: 1\nb: 2\na: 3\n', 'DOCUMENT_DUPLICATE_KEY', 3, 1],
    ['a key twice, once in quotes', 'a: 1\n"a": 3\n', 'DOCUMENT_DUPLICATE_KEY', 2, 1],
    ['a tab as indentation', 'a:\n\tb: 1\n', 'DOCUMENT_SYNTAX', 2, 1],
    ['an unclosed list', 'a: [1, 2\n', 'DOCUMENT_SYNTAX', 2, 1],
    ['a tag that makes a number', 'a: !!int 3\n', 'DOCUMENT_SYNTAX', 1, 4],
    ['a list as a key', '? [a]\n: 1\n', 'DOCUMENT_SYNTAX', 1, 3],
    ['an alias of nothing', 'a: *nope\n', 'DOCUMENT_ALIAS', 1, 4],
    ['an alias before its anchor', 'a: *x\nb: &x 1\n', 'DOCUMENT_ALIAS', 1, 4],
    ['an anchor that contains itself', 'a: &a [1, *a]\n', 'DOCUMENT_ALIAS', 1, 11],
  ])('%s', (_, text, code, line, column) => {
    expect(refusalOf(text)).toMatchObject({ code, at: { file: 'test.yml', line, column } })
  })

  test('text that ends in a colon needs quotes, and the message says so', () => {
    expect(refusalOf('- id: 2602:80a:6000::\n').message).toContain('needs quotes')
  })

  test('the message says where, what, the rule, and what was found', () => {
    expect(refusalOf('a: 1\na: 2\n').message).toBe(
      'test.yml:2:1: the key "a": must occur once in its map, found it also at test.yml:1:1',
    )
  })
})

describe('bounds', () => {
  test('aliases that multiply are counted as if written out', () => {
    const layers = Array.from({ length: 12 }, (_, i) => {
      const alias = i === 0 ? 'x' : `*l${i - 1}`
      return `- &l${i} [${Array.from({ length: 10 }, () => alias).join(', ')}]\n`
    })
    expect(refusalOf(layers.join(''))).toMatchObject({ code: 'DOCUMENT_TOO_LARGE' })
  })

  test('nesting has a bound in flow style, in compact lists, and when it is absurd', () => {
    const lists = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(parse(lists(MAX_DEPTH)).kind).toBe('list')
    expect(refusalOf(lists(MAX_DEPTH + 2)).code).toBe('DOCUMENT_TOO_LARGE')
    expect(refusalOf(lists(20_000)).code).toBe('DOCUMENT_TOO_LARGE')
    expect(refusalOf('['.repeat(20_000)).code).toBe('DOCUMENT_TOO_LARGE')
    expect(refusalOf(`${'- '.repeat(2_000)}x\n`).code).toBe('DOCUMENT_TOO_LARGE')
  })

  test('a document beyond the length is refused unread', () => {
    const text = ' '.repeat(MAX_DOCUMENT_LENGTH + 1)
    expect(refusalOf(text)).toMatchObject({ code: 'DOCUMENT_TOO_LARGE', at: { line: 1 } })
  })

  test('a map of many keys is read in linear time, duplicates noticed', () => {
    const keys = Array.from({ length: 50_000 }, (_, i) => `k${i}: 1\n`).join('')
    expect(refusalOf(`${keys}k7: 1\n`).code).toBe('DOCUMENT_DUPLICATE_KEY')
  })
})
