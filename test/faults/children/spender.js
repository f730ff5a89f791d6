// Spends N times at once on buckets of a shared store, each batch all or nothing, and prints how many of each
// were admitted.
import { createLimiter } from '../../../dist/requests/limiter/verbs.js'
import { parseCatalog } from '../../../dist/requests/yaml.js'
import { openNamed } from './named-store.js'

const [, , url, attempts, batches = 'Orders=one', place] = process.argv
const limits = `
Orders: { id: opaque, burst: 20, count: 1, period: 24h }
Items: { id: opaque, burst: 30, count: 1, period: 24h }
Hosts: { id: opaque, burst: 25, count: 1, period: 24h }
`
const catalog = parseCatalog({ limits })
/** `Orders=one,Items=two` and more such batches, with a semicolon between them. */
const chargesOf = (batch) =>
  batch.split(',').map((bucket) => {
    const [limit, id] = bucket.split('=')
    return { limit, id }
  })
const store = await openNamed(url, place)
const limiter = createLimiter({ store, catalog: () => catalog })
console.log('ready')
const admitted = batches.split(';').map(async (batch) => {
  const charges = chargesOf(batch)
  const answers = await Promise.all(
    Array.from({ length: Number(attempts) }, () => limiter.spend({ charges })),
  )
  return answers.filter((answer) => answer.allowed).length
})
console.log((await Promise.all(admitted)).join())
await store.close()
