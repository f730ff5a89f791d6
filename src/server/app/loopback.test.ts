import { expect, test } from 'vitest'
import { isLoopback, isLoopbackHost } from './access.ts'

const THIS = ['localhost', 'LOCALHOST', 'app.localhost', '127.0.0.1', '127.9.8.7', '::1']

test.each(THIS)('%s is this machine', (host) => {
  expect(isLoopback(host)).toBe(true)
})

const OTHERS = ['', '0.0.0.0', '::', '10.0.0.1', '127.evil.example', 'localhost.example', '127.1']

test.each(OTHERS)('%j is not this machine', (host) => {
  expect(isLoopback(host)).toBe(false)
})

test.each(['localhost', 'localhost:8080', '127.0.0.1:80', '[::1]', '[::1]:8080'])(
  'a Host header of %s names this machine',
  (header) => {
    expect(isLoopbackHost(header)).toBe(true)
  },
)

test.each([
  '',
  'evil.example',
  'evil.example:80',
  'localhost:x',
  'localhost@evil.example',
  '[::2]',
])('a Host header of %j does not', (header) => {
  expect(isLoopbackHost(header)).toBe(false)
})
