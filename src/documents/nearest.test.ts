import { expect, test } from 'vitest'
import { nearestName } from './nearest.ts'

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
