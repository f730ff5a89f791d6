/** One of several processes that all charge the same bucket, or the same budget, on a server of its own. */
import { Redis } from 'ioredis'
import { days } from '../../dist/core/index.js'
import { createLimiter } from '../../dist/requests/limiter/verbs.js'
import { parseCatalog } from '../../dist/requests/yaml.js'
import { buildPlanCatalog, createSpending, parsePlans } from '../../dist/spending/index.js'
import { postgres } from '../../dist/stores/postgres/index.js'
import { redis } from '../../dist/stores/redis/index.js'
import { paceOfMany } from '../pace.js'
import { percentile } from '../stats.js'

const MEASURE_MS = 2_000

/** Never reached in a run: what is measured is the charge. */
const PLENTY = 1_000_000_000

const storeAt = ({ url, script }) =>
  url.startsWith('redis') ? redis({ url, script }) : postgres({ url })

/** `charge` is one decision; its note has what `crowd` of the rows adds up. */
const member = (callers, charge, close) => {
  let charged = 0
  let waits = []
  const timed = async () => {
    const start = performance.now()
    await charge()
    waits.push(performance.now() - start)
    charged += 1
  }
  return {
    measure: () => {
      waits = []
      return paceOfMany(MEASURE_MS, callers, timed)
    },
    note: () => JSON.stringify({ charged, asked: waits.length, p99: percentile(waits, 0.99) }),
    close,
  }
}

/** What an application writes for itself: compare, add, one script call for each decision. */
const SCRIPT = `local spent = tonumber(redis.call('GET', KEYS[1]) or '0')
if spent + 1 > tonumber(ARGV[1]) then return 0 end
return redis.call('INCRBY', KEYS[1], 1)`

export const scriptCall = async ({ url, callers }) => {
  const client = new Redis(url)
  const sha = await client.script('LOAD', SCRIPT)
  const charge = () => client.evalsha(sha, 1, 'bench:spent', PLENTY)
  return member(callers, charge, () => client.quit())
}

export const bucket = ({ callers, ...where }) => {
  const store = storeAt(where)
  const limits = `{ bench: { id: opaque, burst: ${PLENTY}, period: 24h } }`
  const catalog = parseCatalog({ limits })
  const limiter = createLimiter({ store, catalog: () => catalog })
  const charge = async () => {
    const { allowed } = await limiter.spend({ limit: 'bench', id: 'all' })
    if (!allowed) throw new Error('expected to be allowed')
  }
  return member(callers, charge, () => store.close())
}

const SETTINGS = {
  payer: '0.0.2',
  unit: { name: 'HBAR', decimals: 8 },
  window: { length: days(1), align: 'epoch' },
  total: BigInt(PLENTY),
  tiers: { BASIC: 'unlimited', EXTENDED: 'unlimited', PRIVILEGED: 'unlimited' },
  linkIp: false,
  categories: new Map(),
  holdFor: 180_000_000,
  operator: { minBalance: 0n, maxAge: 600_000_000, stale: 'ignore' },
}

/** The whole of it: budgets of a payer, a tier and a plan, and a chained entry in the ledger for each charge. */
export const openBudget = (where) => {
  const store = storeAt(where)
  const catalog = buildPlanCatalog(parsePlans('[]', 'bench'))
  return {
    store,
    spending: createSpending({ store, settings: () => SETTINGS, plans: () => catalog }),
  }
}

export const budget = ({ callers, ...where }) => {
  const { store, spending } = openBudget(where)
  const charge = () => spending.record({ from: 'user:1', amount: 1n })
  return member(callers, charge, () => store.close())
}
