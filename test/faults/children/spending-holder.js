// Holds 300 as many times at once as it is told, on a shared store, each for another caller
// or all for one, and prints how many were granted.
import { createSpending, NO_PLANS } from '../../../dist/spending/index.js'
import { openNamed } from './named-store.js'

const [, , url, clients, total, callers, place] = process.argv
const settings = {
  payer: '0.0.2',
  unit: { name: 'HBAR', decimals: 8 },
  window: { length: 86_400_000_000 * 365, align: 'epoch' },
  total: BigInt(total),
  tiers: { BASIC: 300n, EXTENDED: 300n, PRIVILEGED: 300n },
  linkIp: false,
  categories: new Map(),
  holdFor: 3_600_000_000,
  operator: { minBalance: 0n, maxAge: 600_000_000, stale: 'ignore' },
}
const store = await openNamed(url, place)
const spending = createSpending({ store, settings: () => settings, plans: () => NO_PLANS })
console.log('ready')
const answers = await Promise.all(
  Array.from({ length: Number(clients) }, (_, n) =>
    spending.hold({ from: callers === 'one' ? '0xa1' : `0x${process.pid}${n}`, estimate: 300n }),
  ),
)
console.log(answers.filter((answer) => answer.allowed).length)
await store.close()
