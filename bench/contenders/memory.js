/** Limiters in this process's memory. */
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { decideGcra, hours, instant } from '../../dist/core/index.js'
import { createLimiter } from '../../dist/requests/limiter/verbs.js'
import { parseCatalog } from '../../dist/requests/yaml.js'
import { memory } from '../../dist/stores/memory/index.js'
import { keyAt } from '../keys.js'
import { paceAtOnce, paceOfOne } from '../pace.js'

const MEASURE_MS = 1_000

/** `burst` decides whether all are allowed or, once every key was asked, all are refused. */
export const headgate = async ({ keys, burst, allowed }) => {
  const limits = `{ bench: { id: opaque, burst: ${burst}, count: 1, period: 1h } }`
  const catalog = parseCatalog({ limits })
  const limiter = createLimiter({ store: memory(), catalog: () => catalog })
  const spend = (n) => limiter.spend({ limit: 'bench', id: keyAt(n, keys) })
  for (let n = 0; n < keys; n++) await spend(n)
  return {
    measure: () =>
      paceOfOne(MEASURE_MS, async (n) => {
        const answer = await spend(n)
        expectAnswer(answer.allowed, allowed)
      }),
    close: () => {},
  }
}

/** Its refusals reject. */
export const rateLimiterFlexible = async ({ keys, burst, allowed }) => {
  const limiter = new RateLimiterMemory({ points: burst, duration: 3_600 })
  const consume = (n) =>
    limiter.consume(keyAt(n, keys)).then(
      () => true,
      () => false,
    )
  for (let n = 0; n < keys; n++) await consume(n)
  return {
    measure: () =>
      paceOfOne(MEASURE_MS, async (n) => {
        expectAnswer(await consume(n), allowed)
      }),
    close: () => {},
  }
}

/** The engine alone over a Map: no catalog, no store, no promise. What the rest costs is the difference. */
export const engine = ({ keys, burst, allowed }) => {
  const limit = { kind: 'gcra', burst, count: 1, period: hours(1) }
  const states = new Map()
  const spend = (n) => {
    const key = keyAt(n, keys)
    const question = { now: instant(Date.now() * 1_000), cost: 1, mode: 'spend' }
    const { decision, next } = decideGcra(limit, states.get(key), question)
    if (next !== undefined) states.set(key, next)
    return decision.allowed
  }
  for (let n = 0; n < keys; n++) spend(n)
  return {
    measure: () => paceAtOnce(MEASURE_MS, (n) => expectAnswer(spend(n), allowed)),
    close: () => {},
  }
}

/** A limiter that answers something else is not doing the work that is measured. */
const expectAnswer = (found, expected) => {
  if (found !== expected) throw new Error(`expected allowed ${expected}, found ${found}`)
}
