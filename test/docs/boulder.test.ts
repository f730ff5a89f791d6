import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as tables from '../support/boulder-differences.ts'
import { ROOT } from '../support/sources.ts'

const page = readFileSync(`${ROOT}docs/guide/migrating.md`, 'utf8').split('\n## Boulder\n')[1] ?? ''

test('every reason for a difference from Boulder is on the page', () => {
  const reasons = Object.values(tables).flatMap((table) =>
    Object.values(table).map(({ reason }) => reason.replace(/^(LANDMINE|BUG): /, '')),
  )
  expect(reasons.length).toBeGreaterThan(40)
  expect([...new Set(reasons)].filter((reason) => !page.includes(reason))).toEqual([])
})
