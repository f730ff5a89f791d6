// A sponsor: pays fees for its users, and never more than it decided.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spending } from 'headgate/spending'
import { sqlite } from 'headgate/sqlite'

const folder = mkdtempSync(join(tmpdir(), 'headgate-'))
const store = sqlite(join(folder, 'headgate.db'))
const money = spending({
  store,
  total: 1_000n,
  tiers: { BASIC: 300n },
  plans: [{ id: 'partner', members: ['0xA1', '0xA2'], limit: 500n }],
})

interface Transaction {
  readonly id: string
  readonly estimate: bigint
}

/** The paid thing: what it really cost is known only afterwards. */
const submit = async (tx: Transaction) => ({ fee: tx.estimate - 20n })

// Holds the estimate, submits, and settles at the fee. The same id again is not submitted twice.
const pay = async (from: string, tx: Transaction) => {
  const ask = { from, estimate: tx.estimate, operationId: tx.id }
  const paid = await money.sponsor(ask, async () => (await submit(tx)).fee)
  if (!paid.allowed) return `${tx.id} refused: ${paid.reason}`
  return `${tx.id} cost ${paid.fee}, ${paid.plan?.remaining} left of plan ${paid.plan?.id}`
}
console.log(await pay('0xB1', { id: 'tx-1', estimate: 300n }))
console.log(await pay('0xB1', { id: 'tx-2', estimate: 300n }))
console.log(await pay('0xa1', { id: 'tx-3', estimate: 400n }))
console.log(await pay('0xA2', { id: 'tx-4', estimate: 400n }))
console.log(`the books agree: ${(await money.verify()).findings.length === 0}`)
await store.close()
rmSync(folder, { recursive: true })
