/** Holds and their settlements in one SQLite file. */
import { join } from 'node:path'
import { buildPlanCatalog, createSpending, parsePlans } from '../../dist/spending/index.js'
import { sqlite } from '../../dist/stores/sqlite/index.js'
import { paceOfMany } from '../pace.js'
import { scratchFolder } from '../scratch-folder.js'

const MEASURE_MS = 2_000

const DAY_US = 86_400_000_000

const SETTINGS = {
  payer: '0.0.2',
  unit: { name: 'HBAR', decimals: 8 },
  window: { length: DAY_US, align: 'epoch' },
  total: 10n ** 18n,
  tiers: { BASIC: 10n ** 15n, EXTENDED: 10n ** 15n, PRIVILEGED: 'unlimited' },
  linkIp: false,
  categories: new Map(),
  holdFor: 180_000_000,
  operator: { minBalance: 0n, maxAge: 600_000_000, stale: 'ignore' },
}

const addressOf = (n) => `0x${(n + 1).toString(16).padStart(40, '0')}`

/** So many plans of one address each; so many callers, each of whom holds, then settles, in turn for every plan. */
export const headgate = ({ plans, callers }) => {
  const folder = scratchFolder()
  const store = sqlite({ path: join(folder.path, 'bench.db') })
  const entries = Array.from({ length: plans }, (_, n) => ({
    id: `plan-${n}`,
    ethAddresses: [addressOf(n)],
    subscriptionType: 'EXTENDED',
  }))
  const catalog = buildPlanCatalog(parsePlans(JSON.stringify(entries), 'bench'))
  const spending = createSpending({ store, settings: () => SETTINGS, plans: () => catalog })
  const pay = async (n) => {
    const from = addressOf(n % plans)
    const { allowed, holdId } = await spending.hold({ from, estimate: 1_000n })
    if (!allowed) throw new Error('expected to be allowed')
    await spending.settle({ holdId, amount: 900n })
  }
  return {
    measure: () => paceOfMany(MEASURE_MS, callers, pay),
    close: async () => {
      await store.close()
      folder.remove()
    },
  }
}
