// Acquires N places at once on a shared SQLite file; with "leave", gives each back after a moment.
// Prints how many it got, and the most that were inside at one time.
import { limiter } from '../../../dist/requests/limiter/typed-limiter.js'
import { sqlite } from '../../../dist/stores/sqlite/index.js'

const [, , path, attempts, heldFor, how] = process.argv
const store = sqlite(path)
const gate = limiter({ store, limits: { Jobs: { atOnce: 20, heldFor } } })
console.log('ready')

/** How many are inside, by a count in the file that only holders change. */
const count = (by) =>
  store.transact((view) => {
    const [inside = '0'] = view.read('inside')
    const next = Number(inside) + by
    return { writes: [{ key: 'inside', value: String(next) }], appends: [], result: next }
  })

const attempt = async () => {
  const { place } = await gate.acquire('Jobs', 'x')
  if (place === undefined) return 0
  const inside = await count(1)
  if (how === 'stay') return inside
  await count(-1)
  await gate.release(place.id)
  return inside
}

const most = await Promise.all(Array.from({ length: Number(attempts) }, attempt))
console.log(JSON.stringify({ entered: most.filter((n) => n > 0).length, most: Math.max(...most) }))
if (how === 'stay') setInterval(() => {}, 60_000)
else await store.close()
