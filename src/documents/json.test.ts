import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mistakeOf } from '../../test/support/mistake-of.ts'
import { HeadgateError } from '../core/errors.ts'
import { parseJson } from './json.ts'
import type { Node } from './node.ts'

const plain = (node: Node): unknown => {
  switch (node.kind) {
    case 'scalar':
      return node.quoted ? node.text : JSON.parse(node.text)
    case 'list':
      return node.items.map(plain)
    case 'map':
      return Object.fromEntries(node.entries.map(({ key, value }) => [key, plain(value)]))
    default:
      return node satisfies never
  }
}

test('whatever JSON.stringify writes is read back, however it is indented', () => {
  const indents = fc.constantFrom('', ' ', '  ', '\t')
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), indents, (value, indent) => {
      const text = JSON.stringify(value, undefined, indent)
      expect(plain(parseJson(text, 'x.json'))).toEqual(JSON.parse(text))
    }),
  )
})

test('text with a character removed, doubled or replaced is accepted exactly if JSON.parse accepts it', () => {
  const edit = fc.record({
    at: fc.nat(),
    cut: fc.nat(1),
    put: fc.constantFrom('', ',', '"', '}', '0', '.', '-', '\\', 'e', ' '),
  })
  fc.assert(
    fc.property(fc.json(), edit, (json, { at, cut, put }) => {
      const start = at % (json.length + 1)
      const text = json.slice(0, start) + put + json.slice(start + cut)
      // JSON.parse lets the later of two equal keys win; here they are a mistake of their own.
      const code = codeOf(() => parseJson(text, 'x.json'))
      fc.pre(code !== 'DOCUMENT_DUPLICATE_KEY')
      expect(code).toBe(isJson(text) ? undefined : 'DOCUMENT_SYNTAX')
    }),
    { numRuns: 500 },
  )
})

test('a number keeps the digits that a double would lose', () => {
  expect(parseJson('18446744073709551615', 'x.json')).toMatchObject({
    text: '18446744073709551615',
  })
})

test.each([
  ['', 'its end', 1, 1],
  ['[1,\n 2', 'its end', 2, 3],
  ['[1,]', '"]"', 1, 4],
  ['{"a":1,}', '"}"', 1, 8],
  ['[] // note', '"//"', 1, 4],
  ["{'a':1}", `"'a':1}"`, 1, 2],
  ['[01]', '"01]"', 1, 2],
  ['[NaN]', '"NaN]"', 1, 2],
  ['[\n\n1 2]', '"2"', 3, 3],
])('%j is refused where it stops being JSON', (text, finding, line, column) => {
  expect(mistakeOf(() => parseJson(text, 'x.json'))).toMatchObject({
    code: 'DOCUMENT_SYNTAX',
    finding,
    at: { file: 'x.json', line, column },
  })
})

test('the same key twice is refused, at the second', () => {
  expect(mistakeOf(() => parseJson('{"a":1,\n"a":2}', 'x.json'))).toMatchObject({
    code: 'DOCUMENT_DUPLICATE_KEY',
    at: { line: 2, column: 1 },
  })
})

test('text of millions of escapes does not exhaust the stack', () => {
  const text = `"${'\\n'.repeat(4_000_000)}"`
  expect(parseJson(text, 'test.json')).toMatchObject({ kind: 'scalar', text: JSON.parse(text) })
})

test('a deep document is refused before it can exhaust the stack', () => {
  expect(mistakeOf(() => parseJson('['.repeat(100_000), 'x.json')).code).toBe('DOCUMENT_TOO_LARGE')
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function codeOf(read: () => unknown): string | undefined {
  try {
    read()
    return undefined
  } catch (error) {
    if (error instanceof HeadgateError) return error.code
    throw error
  }
}
