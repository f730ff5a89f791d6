import { expect, test } from 'vitest'
import { nameFault, registeredDomain, suffixFault } from './domains.ts'

test.each([
  ['www.example.com', 'example.com'],
  ['a.b.c.example.co.uk', 'example.co.uk'],
  ['x.foo.github.io', 'foo.github.io'],
  ['example.com', 'example.com'],
  ['host.local', 'host.local'],
])('%s is registered as %s', (name, registered) => {
  expect(registeredDomain(name)).toBe(registered)
})

test.each(['co.uk', 'com', 'github.io', 's3.amazonaws.com'])(
  '%s is a suffix, and its own registered domain',
  (name) => {
    expect(registeredDomain(name)).toBe(name)
  },
)

test.each([
  ['', 'must not be empty'],
  ['example.com.', 'must not end in a dot'],
  ['example..com', 'must not have an empty label'],
  ['.example.com', 'must not have an empty label'],
  ['-example.com', 'lower-case letters'],
  ['example-.com', 'lower-case letters'],
  ['Example.com', 'lower-case letters'],
  ['bücher.com', 'xn-- form'],
  ['a_b.com', 'lower-case letters'],
  ['ab--cd.com', 'valid xn-- labels'],
  ['xn--0.com', 'valid xn-- labels'],
  ['xn--a.com', 'valid xn-- labels'],
  [`${'a'.repeat(64)}.com`, 'labels of at most 63'],
  [`${'a.'.repeat(10)}com`, 'at most 10 labels'],
  [`${'a'.repeat(254)}`, 'at most 253 characters'],
  ['localhost', 'at least two labels'],
  ['1.2.3.4.5', 'not a number'],
])('%j breaks a rule of names', (name, rule) => {
  expect(nameFault(name)).toContain(rule)
})

test.each(['example.com', 'xn--bcher-kva.com', 'a-b.com', '123.com', 'host.local', 'com', 'co.uk'])(
  '%s is a well-formed name',
  (name) => {
    expect(nameFault(name)).toBeUndefined()
  },
)

test('certificates need a public suffix, and something below it', () => {
  expect(suffixFault('example.com')).toBeUndefined()
  // Suffixes of the private section are names that someone registered.
  expect(suffixFault('github.io')).toBeUndefined()
  expect(suffixFault('co.uk')).toBe('must not itself be a public suffix')
  expect(suffixFault('foo.test')).toBe('must end in a public suffix, such as .com')
})
