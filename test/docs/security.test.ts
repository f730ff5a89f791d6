import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ROOT } from '../support/sources.ts'

const page = readFileSync(`${ROOT}SECURITY.md`, 'utf8')

/** A row: a promise, the file of its test, and the test's name. */
const rows = [...page.matchAll(/^\| (?!Promise |---)(.+) \| (.+) \|$/gm)]

test.each(rows.map(([, promise = '', proof = '']) => [promise, proof]))('%s', (_, proof) => {
  const [, path = '', name = ''] = /^`([^`]+\.test\.ts)`: (.+)$/.exec(proof) ?? []
  expect(existsSync(`${ROOT}${path}`), path).toBe(true)
  expect(readFileSync(`${ROOT}${path}`, 'utf8')).toContain(name)
})

test('promises something to each of its users', () => {
  expect(page.match(/^### To /gm)).toHaveLength(5)
  expect(rows.length).toBeGreaterThan(15)
})
