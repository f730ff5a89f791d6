// How much a file grows for each hold and its settlement, under operation ids: 5,000 pairs by 1,000
// members in a SQLite file, which is closed before it is measured.
//
//   node scripts/ledger-growth.js [FOLDER]
//
// FOLDER is another checkout with a build of its own, to compare with: by default this one.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const PAIRS = 5_000
const MEMBERS = 1_000

const root = resolve(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)))
const load = (path) => import(pathToFileURL(join(root, 'dist', path)).href)

const day = 86_400_000_000
const settings = {
  payer: '0.0.2',
  unit: { name: 'HBAR', decimals: 8 },
  window: { length: day, align: 'epoch' },
  total: 10n ** 15n,
  tiers: { BASIC: 10n ** 12n, EXTENDED: 10n ** 13n, PRIVILEGED: 'unlimited' },
  linkIp: false,
  categories: new Map(),
  holdFor: 180_000_000,
  operator: { minBalance: 0n, maxAge: 600_000_000, stale: 'ignore' },
}

const addressOf = (member) =>
  `0x${(0xabcdef_0000n + BigInt(member)).toString(16).padStart(40, '7')}`

const folder = mkdtempSync(join(tmpdir(), 'headgate-growth-'))
try {
  const path = join(folder, 'books.db')
  const bytes = await grow(path)
  console.log(
    JSON.stringify({ pairs: PAIRS, members: MEMBERS, bytes, perPair: Math.round(bytes / PAIRS) }),
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function grow(path) {
  const { createSpending, NO_PLANS } = await load('spending/index.js')
  const stores = await load('stores/sqlite/index.js')
  const open = stores.sqlite ?? stores.sqliteStore
  // A second for each pair: they are told apart by their time, as in life.
  let now = 1_767_225_600_000_000
  const store = open({ path, clock: () => now })
  const spending = createSpending({ store, settings: () => settings, plans: () => NO_PLANS })
  for (let pair = 0; pair < PAIRS; pair += 1) {
    now += 1_000_000
    const estimate = BigInt(1_000_000 + (pair % 97))
    const { holdId } = await spending.hold({
      from: addressOf((pair * 7) % MEMBERS),
      operation: 'EthereumTransaction',
      estimate,
      operationId: `0.0.2@1767225600.${String(pair).padStart(9, '0')}`,
    })
    now += 400_000
    await spending.settle({ holdId, amount: estimate - 17n })
  }
  await store.close()
  return statSync(path).size
}
