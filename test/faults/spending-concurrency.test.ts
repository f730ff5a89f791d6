/** Many clients in several processes want the last of the money; one gets it. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createSpending, NO_PLANS } from '../../src/spending/index.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { startChild } from '../support/child.ts'
import { times } from '../support/counts.ts'
import { temporaryFolder } from '../support/folder.ts'
import { SETTINGS } from '../support/ledger-desk.ts'

const PROCESSES = 4
const CLIENTS = 64

const grantedAmong = async (path: string, total: bigint, callers: 'one' | 'many') => {
  const args = [path, String(CLIENTS / PROCESSES), String(total), callers]
  const children = Array.from({ length: PROCESSES }, () =>
    startChild('test/faults/children/spending-holder.js', args),
  )
  for (const child of children) expect(await child.line()).toBe('ready')
  const granted = await Promise.all(children.map((child) => child.line().then(Number)))
  expect(await Promise.all(children.map((child) => child.ended))).toEqual([0, 0, 0, 0])
  return granted.reduce((sum, n) => sum + n, 0)
}

describe('64 clients in four processes, each holding 300', () => {
  test('of a plan of 300: one is granted', async () => {
    for (let round = 0; round < times(2, 25); round++) {
      const path = join(temporaryFolder(), 'headgate.db')
      expect(await grantedAmong(path, 1_000_000n, 'one')).toBe(1)
    }
  })

  test('of a total of 300, each with a plan of its own: one is granted', async () => {
    for (let round = 0; round < times(2, 25); round++) {
      const path = join(temporaryFolder(), 'headgate.db')
      expect(await grantedAmong(path, 300n, 'many')).toBe(1)
    }
  })

  test('of a total of 1,000: three are granted, and the books agree', async () => {
    const path = join(temporaryFolder(), 'headgate.db')
    expect(await grantedAmong(path, 1_000n, 'many')).toBe(3)
    const store = sqlite({ path })
    const spending = createSpending({ store, settings: () => SETTINGS, plans: () => NO_PLANS })
    expect(await spending.verify()).toMatchObject({ entries: 3, findings: [] })
    await store.close()
  })
})
