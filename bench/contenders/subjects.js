/** A server's start with many rates in its SQLite file: how fast it knows what they come to, in how much memory. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { systemClock, uptime } from '../../dist/lib/clock.js'
import { openDatabaseFile } from '../../dist/stores/sqlite/driver.js'
import { sqlite } from '../../dist/stores/sqlite/index.js'
import { createSubjectGate } from '../../dist/subjects/gate.js'
import { boardIndex } from '../../dist/subjects/rates/rate-records.js'
import { addRate } from '../../dist/subjects/rates/rate-steps.js'

const PROVIDER = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'

/** As an agent would leave them: with its DID, its proof and its invocation. */
const BY = { issuer: PROVIDER, chain: ['M_rCkl2nyRDNSN2dENnRP-v2bnbp02Lkg-OkZXYeKM0'] }

/** Rates in one transaction: each writes five keys. */
const AT_ONCE = 500

/** Half of them end in a month. */
export const fill = async (path, rates) => {
  const store = sqlite({ path })
  for (let from = 0; from < rates; from += AT_ONCE) {
    await store.transact((view) => {
      const added = Array.from({ length: AT_ONCE }, (_, at) => addedAt(view, from + at))
      return {
        writes: added.flatMap(({ writes }) => writes),
        appends: added.flatMap(({ appends }) => appends),
        result: undefined,
      }
    })
  }
  await store.close()
}

const addedAt = (view, n) => {
  const newId = `${n}`.padEnd(43, 'x')
  const subject = `user${n}@mail${n % 1_000}.example.com`
  const ends = n % 2 === 0 ? {} : { expiresAt: view.now + 2_592_000_000_000 + n }
  const draft = { subject, rate: 0, reason: 'ticket 1234', ...ends }
  return addRate(view, { provider: PROVIDER, newId, by: BY, cause: newId }, draft, false)
}

export const headgate = ({ path, rates }) => {
  const store = sqlite({ path })
  const start = async () => {
    const gate = createSubjectGate({ store, provider: PROVIDER, clock: systemClock, uptime })
    await gate.catchUp()
    const { state } = gate.judge([`user${rates - 1}@mail${(rates - 1) % 1_000}.example.com`])
    if (state !== 'blocked') throw new Error(`expected a block, found ${state}`)
    return { kept: gate, drop: gate.close }
  }
  return contender(rates, start, () => store.close())
}

/** What no reader of the file can be faster than: the same rows, in one statement, kept as they are. */
export const rows = ({ path, rates }) => {
  const db = openDatabaseFile(path)
  const all = db.prepare('SELECT key, value FROM items WHERE listed_in = ? ORDER BY key')
  const start = async () => {
    const kept = new Map(all.all(boardIndex(PROVIDER)).map(({ key, value }) => [key, value]))
    return { kept, drop: () => kept.clear() }
  }
  return contender(rates, start, () => db.close())
}

/** By processor time, not by the clock: what else the machine does must not count. */
const contender = (rates, start, close) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  let note = ''
  return {
    measure: async () => {
      collect()
      const before = process.memoryUsage()
      const [began, used] = [performance.now(), process.cpuUsage()]
      const { kept, drop } = await start()
      const { user, system } = process.cpuUsage(used)
      const seconds = (performance.now() - began) / 1_000
      collect()
      const after = process.memoryUsage()
      const bytes = (name) => Math.round((after[name] - before[name]) / rates)
      note = `${seconds.toFixed(1)} s by the clock; ${bytes('heapUsed')} bytes of heap a rate, ${bytes('rss')} resident`
      drop(kept)
      return rates / ((user + system) / 1_000_000)
    },
    note: () => note,
    close,
  }
}
