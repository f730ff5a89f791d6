// Spends N times at once on one bucket of a shared SQLite file, and prints how many were admitted.
import { createLimiter, parseCatalog } from '../../../dist/requests/index.js'
import { sqliteStore } from '../../../dist/stores/sqlite/index.js'

const [, , path, attempts] = process.argv
const catalog = parseCatalog({ limits: 'Orders: { id: opaque, burst: 20, count: 1, period: 24h }' })
const store = sqliteStore({ path })
const limiter = createLimiter({ store, catalog: () => catalog })
console.log('ready')
const answers = await Promise.all(
  Array.from({ length: Number(attempts) }, () => limiter.spend({ limit: 'Orders', id: 'one' })),
)
console.log(answers.filter((answer) => answer.allowed).length)
await store.close()
