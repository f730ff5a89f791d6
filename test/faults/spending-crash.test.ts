/** Killed at any moment, spending comes back with books that agree and every acknowledged capture, once. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createSpending, NO_PLANS } from '../../src/spending/index.ts'
import { keysOf } from '../../src/spending/keys.ts'
import { readLedger } from '../../src/spending/ledger.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { startChild } from '../support/child.ts'
import { times } from '../support/counts.ts'
import { temporaryFolder } from '../support/folder.ts'
import { SETTINGS } from '../support/ledger-desk.ts'

/** Acknowledgements to wait for before each kill: it falls somewhere in the next commit. */
const PATIENCE = 40

test('kill -9 under load: ledger and balances agree, and what was acknowledged is there once', async () => {
  const path = join(temporaryFolder(), 'headgate.db')
  const acknowledged: string[] = []
  for (let round = 0; round < times(3, 50); round++) {
    const child = startChild('test/faults/children/spending-spender.js', [path, String(round)])
    for (let i = 0; i < PATIENCE; i++) acknowledged.push(await child.line())
    await child.kill('SIGKILL')
    const { captures, drifts, missing } = await audit(path)
    expect({ drifts, missing }).toEqual({ drifts: [], missing: [] })
    expect(acknowledged.filter((id) => captures.get(id) !== 1)).toEqual([])
    expect([...captures.values()].filter((count) => count !== 1)).toEqual([])
  }
})

async function audit(path: string) {
  const store = sqliteStore({ path })
  const settings = { ...SETTINGS, total: 'unlimited' } as const
  const spending = createSpending({ store, settings: () => settings, plans: () => NO_PLANS })
  const found = await spending.verify()
  const captures = new Map<string, number>()
  for await (const { entry } of readLedger(store, keysOf(SETTINGS.payer))) {
    if (entry.kind !== 'capture' || entry.operationId === undefined) continue
    captures.set(entry.operationId, (captures.get(entry.operationId) ?? 0) + 1)
  }
  await store.close()
  return { ...found, captures }
}
