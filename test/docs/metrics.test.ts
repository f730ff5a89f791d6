import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { testHeadgate } from '../support/headgate.ts'
import { ROOT } from '../support/sources.ts'

test('every metric has a row on the page, and every row is a metric of the kind it says', async () => {
  const { metrics, catalog } = testHeadgate()
  const text = await metrics.text(catalog)
  const served = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, kind]) => [name, kind])
  const page = readFileSync(`${ROOT}docs/reference/metrics.md`, 'utf8')
  const rows = [...page.matchAll(/^\| `(headgate_\w+)` \| (\w+) \|/gm)]
  expect(rows.map(([, name, kind]) => [name, kind]).sort()).toEqual(served.sort())
})
