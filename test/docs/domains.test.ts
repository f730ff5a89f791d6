/** The page about the domain API says what the signer does. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { STATUS } from '../../src/secrets/refusal.ts'
import { SECRETS_ERROR_CODES } from '../../src/secrets/secrets-mistake.ts'
import { samples } from '../support/odis-samples.ts'
import { ROOT } from '../support/sources.ts'

const page = readFileSync(`${ROOT}docs/reference/domains.md`, 'utf8')

test('every refusal is on the page with its statuses, in the order of the checks', () => {
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| (\d+) \| (\d+) \|/gm)]
  const told = rows.map(([, code, cip40, celo]) => [code, Number(cip40), Number(celo)])
  expect(told).toEqual(Object.entries(STATUS).map(([code, { cip40, celo }]) => [code, cip40, celo]))
})

test('every mistake has a heading', () => {
  const headings = [...page.matchAll(/^### ([A-Z_]+)$/gm)].map(([, code]) => code)
  expect(headings).toEqual([...SECRETS_ERROR_CODES])
})

test('every domain has a row, with the endpoints that it has', () => {
  const rows = [...page.matchAll(/^\| `(ODIS [^`]+)` \| (\d+) \| ([^|]+) \|/gm)]
  const told = rows.map(([, name, version, endpoints]) => `${name} ${version}: ${endpoints}`)
  const known = Object.values(samples('docs')).map(({ domain, endpoints }) => {
    const which = endpoints.length === 3 ? 'all' : endpoints.join(', ')
    return `${domain['name']} ${domain['version']}: ${which}`
  })
  expect(new Set(told)).toEqual(new Set(known))
})
