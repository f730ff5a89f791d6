/** Durable decisions in one SQLite file. */
import { join } from 'node:path'
import { decideAll, hours, instant } from '../../dist/core/index.js'
import { createLimiter } from '../../dist/requests/limiter/verbs.js'
import { parseCatalog } from '../../dist/requests/yaml.js'
import { openDatabaseFile } from '../../dist/stores/sqlite/driver.js'
import { sqlite } from '../../dist/stores/sqlite/index.js'
import { keyAt } from '../keys.js'
import { paceOfMany } from '../pace.js'
import { scratchFolder } from '../scratch-folder.js'

const MEASURE_MS = 1_000

const KEYS = 10_000

/** Never reached in a run, so that every decision is charged and must be synced. */
const BURST = 1_000_000

/** Headgate, with so many callers at once. */
export const headgate = ({ callers }) => {
  const folder = scratchFolder()
  const commits = { groups: 0, calls: 0 }
  const store = sqlite({
    path: join(folder.path, 'bench.db'),
    onCommit: ({ calls }) => {
      commits.groups += 1
      commits.calls += calls
    },
  })
  const limits = `{ bench: { id: opaque, burst: ${BURST}, count: 1, period: 1h } }`
  const catalog = parseCatalog({ limits })
  const limiter = createLimiter({ store, catalog: () => catalog })
  const spend = async (n) => {
    const { allowed } = await limiter.spend({ limit: 'bench', id: keyAt(n, KEYS) })
    if (!allowed) throw new Error('expected to be allowed')
  }
  return {
    measure: () => paceOfMany(MEASURE_MS, callers, spend),
    note: () => `${(commits.calls / commits.groups).toFixed(1)} decisions a commit`,
    close: async () => {
      await store.close()
      folder.remove()
    },
  }
}

/** The usual way: each decision reads, decides, writes and commits for itself. */
export const ownCommit = ({ callers }) => {
  const folder = scratchFolder()
  const db = openDatabaseFile(join(folder.path, 'bench.db'))
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  db.exec('CREATE TABLE buckets (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID')
  const begin = db.prepare('BEGIN IMMEDIATE')
  const get = db.prepare('SELECT value FROM buckets WHERE key = ?')
  const put = db.prepare('REPLACE INTO buckets (key, value) VALUES (?, ?)')
  const commit = db.prepare('COMMIT')
  const limit = { kind: 'gcra', burst: BURST, count: 1, period: hours(1) }
  const spend = async (n) => {
    begin.run()
    const view = {
      now: instant(Date.now() * 1_000),
      read: (...keys) => keys.map((key) => get.get(key)?.value),
    }
    const charge = { key: keyAt(n, KEYS), limit, cost: 1, mode: 'spend' }
    const { kept } = decideAll([charge], view)
    for (const write of kept) if (write !== undefined) put.run(write.key, write.value)
    commit.run()
  }
  return {
    measure: () => paceOfMany(MEASURE_MS, callers, spend),
    note: () => '1 decision a commit',
    close: () => {
      db.close()
      folder.remove()
    },
  }
}
