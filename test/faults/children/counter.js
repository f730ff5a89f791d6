// Adds one to a count that others add to as well, N times, in a few lanes, and prints how that went.
import { openNamed } from './named-store.js'

const [, , url, times, lanes, place] = process.argv
const KEY = 'test/{hot}/count'
const trips = { calls: 0, conflicts: 0 }
const store = await openNamed(url, place, {
  onGroup: ({ calls, conflicts }) => {
    trips.calls += calls
    trips.conflicts += conflicts
  },
})
const add = () =>
  store.transact(
    (view) => {
      const [value = '0'] = view.read(KEY)
      const next = String(Number(value) + 1)
      return { writes: [{ key: KEY, value: next }], appends: [], result: next }
    },
    [KEY],
  )
console.log('ready')
await Promise.all(
  Array.from({ length: Number(lanes) }, async () => {
    for (let i = 0; i < Number(times); i++) await add()
  }),
)
console.log(JSON.stringify(trips))
await store.close()
