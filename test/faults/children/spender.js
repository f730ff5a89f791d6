// Spends N times at once on one bucket of a shared store, and prints how many were admitted.
import { createLimiter } from '../../../dist/requests/limiter/verbs.js'
import { parseCatalog } from '../../../dist/requests/yaml.js'
import { openNamed } from './named-store.js'

const [, , url, attempts, place] = process.argv
const catalog = parseCatalog({ limits: 'Orders: { id: opaque, burst: 20, count: 1, period: 24h }' })
const store = await openNamed(url, place)
const limiter = createLimiter({ store, catalog: () => catalog })
console.log('ready')
const answers = await Promise.all(
  Array.from({ length: Number(attempts) }, () => limiter.spend({ limit: 'Orders', id: 'one' })),
)
console.log(answers.filter((answer) => answer.allowed).length)
await store.close()
