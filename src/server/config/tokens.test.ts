import { expect, test } from 'vitest'
import { HeadgateError } from '../../core/errors.ts'
import { parseDocument } from '../../documents/document.ts'
import { tokenList } from './tokens.ts'

const A = 'a'.repeat(64)
const B = 'B'.repeat(64)

const read = (text: string) =>
  tokenList.fromField({ thing: 'tokens', node: parseDocument(text, 'headgate.yml') }, {})

test('a token has a name, the hash of what its bearer shows, and scopes', () => {
  expect(read(`[{name: ci, sha256: ${B}, scopes: [decide, admin, decide]}]`)).toEqual([
    { name: 'ci', sha256: B.toLowerCase(), scopes: ['decide', 'admin'] },
  ])
  expect(read('[]')).toEqual([])
})

test.each([
  [`[{name: a, sha256: ${A}, scopes: []}]`, 'FIELD_VALUE', 'must hold decide or admin'],
  [`[{name: a, sha256: ${A}, scopes: [root]}]`, 'FIELD_VALUE', 'must be one of decide, admin'],
  [`[{name: a, sha256: ${A}}]`, 'FIELD_MISSING', 'must hold scopes'],
  [`[{name: "a b", sha256: ${A}, scopes: [admin]}]`, 'FIELD_VALUE', 'must be up to 64 letters'],
  [`[{name: local, sha256: ${A}, scopes: [admin]}]`, 'FIELD_VALUE', 'stands for no token'],
  [
    `[{name: a, sha256: ${A}, scopes: [admin]}, {name: a, sha256: ${B}, scopes: [admin]}]`,
    'TOKEN_DUPLICATE',
    'name "a": must stand once, found it also at headgate.yml:1:9',
  ],
  [
    `[{name: a, sha256: ${A}, scopes: [admin]}, {name: b, sha256: ${A.toUpperCase()}, scopes: [admin]}]`,
    'TOKEN_DUPLICATE',
    'sha256 of "b": must stand once',
  ],
])('refused: %s', (text, code, words) => {
  expect(() => read(text)).toThrow(expect.objectContaining({ code }))
  expect(() => read(text)).toThrow(words)
})

test('a token in the place of its hash is refused without being repeated', () => {
  const secret = 'hg_dGhpcyBpcyBhIHNlY3JldCB0b2tlbg'
  const reading = () => read(`[{name: a, sha256: ${secret}, scopes: [admin]}]`)
  expect(reading).toThrow(HeadgateError)
  expect(reading).toThrow('not the token itself, found 33 characters')
  expect(reading).not.toThrow(secret)
})
