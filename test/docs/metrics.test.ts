import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createSignerMetrics } from '../../src/server/secrets/metrics.ts'
import { ROOT } from '../support/sources.ts'
import { spendingServer } from '../support/spending-server.ts'

test('every metric has a row on the page, and every row is a metric of the kind it says', async () => {
  const { headgate } = await spendingServer()
  const { metrics, catalog } = headgate
  const signer = createSignerMetrics({
    load: () => ({ running: 0, waiting: 0 }),
    keys: { current: 1, notices: [] },
  })
  // The two processes share some.
  const text = `${await metrics.text(catalog)}${await signer.text()}`
  const found = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, kind]) => [name, kind])
  const served = [...new Map(found.map((pair) => [pair[0], pair])).values()]
  const page = readFileSync(`${ROOT}docs/reference/metrics.md`, 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)` \| (counter|gauge|histogram) \|/gm)]
  expect(rows.map(([, name, kind]) => [name, kind]).sort()).toEqual(served.sort())
})
