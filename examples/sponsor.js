// A sponsor: pays fees for its users, and never more than it decided. Check, hold, pay, settle.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPlanCatalog, completeSettings, createSpending, parsePlans } from 'headgate/spending'
import { sqliteStore } from 'headgate/sqlite'

const folder = mkdtempSync(join(tmpdir(), 'headgate-'))
const store = sqliteStore({ path: join(folder, 'headgate.db') })
const tiers = { BASIC: 300n, EXTENDED: 500n, PRIVILEGED: 'unlimited' }
const { settings } = completeSettings({ total: 1_000n, tiers })
const partner = { id: 'partner', ethAddresses: ['0xA1', '0xA2'], subscriptionType: 'EXTENDED' }
const plans = buildPlanCatalog(parsePlans(JSON.stringify([partner]), 'plans.json'))
const spending = createSpending({ store, settings: () => settings, plans: () => plans })

/** The paid thing: what it really cost is known only afterwards. */
const submit = async (transaction) => ({ fee: transaction.estimate - 20n })

const sponsor = async (from, transaction) => {
  const { estimate, id } = transaction
  const { allowed, reason } = await spending.check({ from, estimate })
  if (!allowed) return `${id} refused: ${reason}`
  const held = await spending.hold({ from, estimate, operationId: id })
  if (held.holdId === undefined) return `${id} refused: ${held.reason}`
  try {
    const { fee } = await submit(transaction)
    const { charged, plan } = await spending.settle({ holdId: held.holdId, amount: fee })
    return `${id} cost ${charged}, ${plan.remaining} left of plan ${plan.id}`
  } catch {
    await spending.release({ holdId: held.holdId })
    return `${id} failed and cost nothing`
  }
}
console.log(await sponsor('0xB1', { id: 'tx-1', estimate: 300n }))
console.log(await sponsor('0xB1', { id: 'tx-2', estimate: 300n }))
console.log(await sponsor('0xa1', { id: 'tx-3', estimate: 400n }))
console.log(await sponsor('0xA2', { id: 'tx-4', estimate: 400n }))
console.log(`the books agree: ${(await spending.verify()).drifts.length === 0}`)
await store.close()
rmSync(folder, { recursive: true })
