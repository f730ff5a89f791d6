// Asks what a file says, lane by lane, each call when the one before it was answered; and writes down what it
// asked, at which time of the store it was decided, and what it was told. May kill itself on the way, with calls
// under way.
import { openSync, readFileSync, writeSync } from 'node:fs'
import { createLimiter } from '../../../dist/requests/limiter/verbs.js'
import { parseCatalog } from '../../../dist/requests/yaml.js'
import { createSpending, NO_PLANS } from '../../../dist/spending/index.js'
import { openNamed } from './named-store.js'

const [, , url, place, asks, notes] = process.argv
const { lanes, limit, settings, options, isStale, killedIn } = JSON.parse(
  readFileSync(asks, 'utf8'),
  revive,
)
const inForce = { ...settings, categories: new Map() }
const file = openSync(notes, 'a')
// At once: whatever happens to this process, what it may have done is written down.
const note = (line) => writeSync(file, `${JSON.stringify(line)}\n`)
const at = () => Number(process.hrtime.bigint())

function revive(_, value) {
  return typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value
}

/** The planted fault: looks are answered by what a key held when it was first looked at. */
const stale = (store) => {
  const first = new Map()
  const old = (step) => (view) =>
    step({
      now: view.now,
      read: (...keys) => {
        const values = view.read(...keys)
        return keys.map((key, i) => {
          if (!first.has(key)) first.set(key, values[i])
          return first.get(key)
        })
      },
    })
  const transact = (step, guess, intent) =>
    store.transact(intent === 'look' ? old(step) : step, guess, intent)
  return { ...store, transact }
}

/** Tells each time at which a step is decided; the last one counts. */
const watched = (store, tell) => {
  const watch = (step, intent) => (view) => {
    tell(view.now, intent)
    return step(view)
  }
  const transact = (step, guess, intent) => store.transact(watch(step, intent), guess, intent)
  const { transactSpends } = store
  return transactSpends === undefined
    ? { ...store, transact }
    : {
        ...store,
        transact,
        transactSpends: (step, ...more) => transactSpends(watch(step), ...more),
      }
}

const opened = await openNamed(url, place, options)
const store = isStale ? stale(opened) : opened
const catalog = parseCatalog({ limits: `Hits: ${JSON.stringify({ id: 'opaque', ...limit })}` })

const BUCKET_VERBS = {
  spend: (gate, ask) => gate.spend(ask),
  try: (gate, ask) => gate.spend({ ...ask, mode: 'try' }),
  check: (gate, { operationId: _, ...ask }) => gate.check(ask),
  refund: (gate, { operationId }) => gate.refund({ operationId }),
  reset: (gate, { limit: name, id }) => gate.reset({ limit: name, id }),
}

const onBucket = async (gate, { verb, id, cost, operationId }) => {
  const ask = { limit: 'Hits', id, cost, ...(operationId && { operationId }) }
  try {
    const { allowed, remaining, resetIn, retryIn, replayed } = await BUCKET_VERBS[verb](gate, ask)
    return { allowed, remaining, resetIn, retryIn, replayed }
  } catch (error) {
    if (error.code !== 'OPERATION_UNKNOWN') throw error
    return { code: error.code }
  }
}

const onBudget = async (spending, holds, { verb, name, amount }) => {
  const holdId = holds.get(name)
  const answer =
    verb === 'hold'
      ? await spending.hold({ from: '0xa1', estimate: BigInt(amount) })
      : verb === 'settle'
        ? await spending.settle({ holdId, amount: BigInt(amount) })
        : await spending.release({ holdId })
  if (answer.holdId !== undefined) holds.set(name, answer.holdId)
  const { spent, held } = answer.plan
  return { allowed: answer.allowed ?? true, spent: String(spent), held: String(held) }
}

let answered = 0
/** Ends of holds that were refused are left out. */
const third = Math.ceil(lanes.flat().length / 3)
const holds = new Map()

/** Once something was decided: with this turn it leaves, and some milliseconds later it is perhaps done. */
const killOnTheWay = () => {
  if (killedIn === undefined || answered < third) return
  const kill = () => process.kill(process.pid, 'SIGKILL')
  if (killedIn === 0) process.nextTick(kill)
  else setTimeout(kill, killedIn)
}

const walk = async (asked, lane) => {
  let number
  const seen = watched(store, (now, intent) => {
    note({ number, now })
    // A look was answered before it is decided.
    if (intent !== 'look') killOnTheWay()
  })
  const gate = createLimiter({ store: seen, catalog: () => catalog })
  const spending = createSpending({ store: seen, settings: () => inForce, plans: () => NO_PLANS })
  for (const [i, ask] of asked.entries()) {
    // A hold that was refused has no end.
    if ((ask.verb === 'settle' || ask.verb === 'release') && !holds.has(ask.name)) continue
    number = `${lane}-${i}`
    note({ number, begin: at(), ask })
    const answer = 'name' in ask ? await onBudget(spending, holds, ask) : await onBucket(gate, ask)
    note({ number, end: at(), answer })
    answered += 1
  }
}

await Promise.all(lanes.map(walk))
await opened.close()
