// Holds, settles and records without end on a SQLite file, and prints each operation id once it
// was answered. To be killed.
import { createSpending, NO_PLANS } from '../../../dist/spending/index.js'
import { sqlite } from '../../../dist/stores/sqlite/index.js'

const [, , path, run] = process.argv
const settings = {
  payer: '0.0.2',
  unit: { name: 'HBAR', decimals: 8 },
  window: { length: 86_400_000_000 * 365, align: 'epoch' },
  total: 'unlimited',
  tiers: { BASIC: 'unlimited', EXTENDED: 0n, PRIVILEGED: 0n },
  linkIp: false,
  categories: new Map(),
  holdFor: 60_000_000,
  operator: { minBalance: 0n, maxAge: 600_000_000, stale: 'ignore' },
}
const store = sqlite({ path })
const spending = createSpending({ store, settings: () => settings, plans: () => NO_PLANS })
let next = 0

const spend = async () => {
  for (;;) {
    const operationId = `${run}-${next++}`
    const from = `0xa${next % 7}`
    const { holdId } = await spending.hold({ from, estimate: 3n })
    await spending.capture({ holdId, amount: 1n, operationId })
    console.log(operationId)
    await spending.settle({ holdId, amount: 2n })
    await spending.record({ from, amount: 1n })
  }
}

await Promise.all(Array.from({ length: 8 }, spend))
