/** What a hold and its settlement cost, whatever the number of plans, and what sharing an fsync is worth to them. */
import { inChild } from '../in-child.js'
import { driverVersion } from '../provide.js'
import { scratchFilesystem } from '../scratch-folder.js'

const url = new URL('../contenders/spending.js', import.meta.url)

const FEW = '10 plans, 256 callers'

export const peers = () => `${driverVersion()} and scratch files on ${scratchFilesystem()}`

const variant = (name, options) => inChild(name, { url, contender: 'headgate', options })

export const tables = [
  {
    title: 'Spending: a hold, then its settlement',
    conditions: `One process each, SQLite with \`synchronous=FULL\`, both durable before they are answered, ledger
entries included, 2 s a round; one decision here is a hold and its settlement together. A caller goes on
when it is answered. No peer holds money: what is compared is the number of plans, and of callers.`,
    command: 'npm run bench -- spending',
    base: FEW,
    variants: [
      variant(FEW, { plans: 10, callers: 256 }),
      variant('1,000 plans, 256 callers', { plans: 1_000, callers: 256 }),
      variant('100,000 plans, 256 callers', { plans: 100_000, callers: 256 }),
      variant('10 plans, 1 caller: two fsyncs a payment', { plans: 10, callers: 1 }),
    ],
  },
]
