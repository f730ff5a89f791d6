/** Many at once, and never one too many. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createLimiter } from '../../src/requests/limiter/verbs.ts'
import { memory } from '../../src/stores/memory/index.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { acmeCatalog } from '../support/acme-catalog.ts'
import { startChild } from '../support/child.ts'
import { times } from '../support/counts.ts'
import { temporaryFolder } from '../support/folder.ts'

const catalog = acmeCatalog({ limits: 'Orders: { id: opaque, burst: 20, count: 1, period: 24h }' })
const order = { limit: 'Orders', id: 'one' }

const stores = {
  memory: () => memory(),
  sqlite: () => sqlite({ path: join(temporaryFolder(), 'headgate.db') }),
}

describe('400 spends at once on one bucket of burst 20', () => {
  for (const [name, open] of Object.entries(stores)) {
    test(`${name}: exactly 20 are admitted`, async () => {
      const store = open()
      const limiter = createLimiter({ store, catalog: () => catalog })
      const answers = await Promise.all(Array.from({ length: 400 }, () => limiter.spend(order)))
      expect(answers.filter((answer) => answer.allowed)).toHaveLength(20)
      await store.close()
    })
  }

  test('four processes on one SQLite file: exactly 20 are admitted among them', async () => {
    for (let round = 0; round < times(2, 25); round++) {
      const path = join(temporaryFolder(), 'headgate.db')
      const children = [1, 2, 3, 4].map(() =>
        startChild('test/faults/children/spender.js', [path, '100']),
      )
      for (const child of children) expect(await child.line()).toBe('ready')
      const admitted = await Promise.all(children.map((child) => child.line().then(Number)))
      expect(admitted.reduce((sum, n) => sum + n, 0)).toBe(20)
      expect(await Promise.all(children.map((child) => child.ended))).toEqual([0, 0, 0, 0])
    }
  })
})

test('at 256 callers, at least 100 decisions share one commit', async () => {
  const groups: number[] = []
  const path = join(temporaryFolder(), 'headgate.db')
  const store = sqlite({ path, onCommit: ({ calls }) => groups.push(calls) })
  const limiter = createLimiter({ store, catalog: () => catalog })
  const caller = async (n: number) => {
    for (let i = 0; i < 20; i++) await limiter.spend({ limit: 'Orders', id: `${n}-${i}` })
  }
  await Promise.all(Array.from({ length: 256 }, (_, n) => caller(n)))
  await store.close()
  const decisions = groups.reduce((sum, calls) => sum + calls, 0)
  expect(decisions).toBe(256 * 20)
  expect(decisions / groups.length).toBeGreaterThanOrEqual(100)
})
