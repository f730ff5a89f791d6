// What a failover of Redis costs: spends that were answered and are lost with the old master, and how long none
// is answered. Four callers spend on one bucket without a pause. Needs a build.
//
//   node scripts/failover-cost.js [ROUNDS]
import { Redis } from 'ioredis'
import { limiter } from '../dist/requests/limiter/typed-limiter.js'
import { redis } from '../dist/stores/redis/index.js'
import { openServices } from './services.js'

const HOUR = 3_600_000_000
const limits = { Spends: { burst: 1_000_000, count: 1, period: '1h' } }

/** By which a failover comes about. */
const CASES = {
  'Sentinel, primary killed': { kind: 'sentinel', fail: ({ kill }) => kill() },
  'Sentinel, asked to switch': { kind: 'sentinel', fail: (service) => askToSwitch(service) },
  'Sentinel, asked to switch, min-replicas-to-write 1': {
    kind: 'sentinel',
    settings: ['--min-replicas-to-write', '1'],
    fail: (service) => askToSwitch(service),
  },
  'Cluster, master killed': { kind: 'replicated', fail: ({ kill }) => kill() },
}

const askToSwitch = async ({ ports }) => {
  const sentinel = new Redis(ports[2])
  await sentinel.call('SENTINEL', 'FAILOVER', 'headgate')
  sentinel.disconnect()
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Hammers before it, meanwhile and until it is long over. */
const measure = async ({ kind, settings, fail }) => {
  const services = openServices()
  const service = await services.start(kind, settings)
  if (service.skipped !== undefined) throw new Error(service.skipped)
  const store = redis(service.url)
  await store.opened()
  const gate = limiter({ store, limits })
  const told = { admitted: 0, silentMs: 0 }
  let isOver = false
  let last = performance.now()
  const lane = async () => {
    while (!isOver) {
      try {
        await gate.spend('Spends', 'user1000')
        told.admitted += 1
        told.silentMs = Math.max(told.silentMs, performance.now() - last)
        last = performance.now()
      } catch {
        await pause(5)
      }
    }
  }
  const lanes = Array.from({ length: 4 }, lane)
  await pause(1_000)
  const before = told.admitted
  await fail(service)
  // An old primary that lives hears of it within ten seconds.
  await pause(15_000)
  isOver = true
  await Promise.all(lanes)
  const { resetIn } = await gate.check('Spends', 'user1000', { cost: 0 })
  await store.close()
  await services.stop()
  return {
    rate: before,
    lost: Math.max(0, told.admitted - Math.round(resetIn / HOUR)),
    silentMs: Math.round(told.silentMs),
  }
}

const rounds = Number(process.argv[2] ?? 5)
for (const [name, one] of Object.entries(CASES)) {
  const found = []
  for (let round = 0; round < rounds; round++) found.push(await measure(one))
  const range = (field) => {
    const sorted = found.map((row) => row[field]).toSorted((a, b) => a - b)
    return { least: sorted[0], middle: sorted[Math.floor(rounds / 2)], most: sorted.at(-1) }
  }
  const [spendsASecond, lost, silentMs] = ['rate', 'lost', 'silentMs'].map(range)
  console.log(JSON.stringify({ name, rounds, spendsASecond, lost, silentMs }))
}
