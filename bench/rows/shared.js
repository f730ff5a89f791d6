/** One bucket and one budget that eight processes charge at once: is it exact, does one starve, what does it cost. */
import { openServices } from '../../scripts/services.js'
import { openBudget } from '../contenders/shared.js'
import { inChild } from '../in-child.js'
import { LeftOut } from '../left-out.js'
import { programVersion } from '../provide.js'

const url = new URL('../contenders/shared.js', import.meta.url)

const PROCESSES = 8
const CALLERS = 32

let services

export const prepare = () => {
  services = openServices()
}

export const peers = () =>
  `Redis ${programVersion('redis-server', '--version')} (\`appendfsync always\`) and PostgreSQL`

const started = new Map()

/** One server of a kind for all variants, as the processes of a variant are idle while others are measured. */
const serverOf = async (kind) => {
  const settings = kind === 'redis' ? ['--appendonly', 'yes', '--appendfsync', 'always'] : []
  if (!started.has(kind)) started.set(kind, services.start(kind, settings))
  const { url: server, skipped } = await started.get(kind)
  if (skipped !== undefined) throw new LeftOut(skipped)
  return server
}

/** So many processes as one variant. `sum` answers what the store says was charged in all. */
const crowd = (name, kind, contender, options = {}, sum) => {
  let members = []
  let note = ''
  let server
  return {
    name,
    prepare: async () => {
      server = await serverOf(kind)
      members = Array.from({ length: PROCESSES }, (_, n) =>
        inChild(`${name} ${n}`, {
          url,
          contender,
          options: { url: server, callers: CALLERS, ...options },
        }),
      )
      await Promise.all(members.map(({ prepare: start }) => start()))
    },
    run: async () => {
      const rates = await Promise.all(members.map(({ run }) => run()))
      const told = members.map((member) => JSON.parse(member.note()))
      const asked = told.map((each) => each.asked)
      const p99 = Math.max(...told.map((each) => each.p99))
      note = `p99 ${p99.toFixed(0)} ms; the slowest process had ${share(asked)} of its share`
      if (sum) note += await sumsUp(told, () => sum(server))
      return rates.reduce((all, rate) => all + rate, 0)
    },
    note: () => note,
    dispose: async () => {
      await Promise.all(members.map(({ dispose }) => dispose()))
    },
  }
}

const share = (asked) => {
  const all = asked.reduce((sum, each) => sum + each, 0)
  return ((Math.min(...asked) * asked.length) / all).toFixed(2)
}

async function sumsUp(told, sum) {
  const charged = told.reduce((all, each) => all + each.charged, 0)
  const kept = await sum()
  if (kept !== BigInt(charged)) throw new Error(`${charged} were charged, the store says ${kept}`)
  return `; all ${charged.toLocaleString('en')} add up`
}

const spentAt = async (server) => {
  const { store, spending } = openBudget({ url: server })
  const { spent } = await spending.plan('basic:user:1')
  await store.close()
  return spent
}

const BASE = 'Redis: one script call each'

export const tables = [
  {
    title: `One bucket, one budget, ${PROCESSES} processes`,
    conditions: `${PROCESSES} processes with ${CALLERS} callers each, who ask again when they are answered, 2 s a round, all on one key.
The base is a script that compares and adds, called once for each decision: the least that is exact. A bucket is a limit;
a budget is spending's \`record\`: the balances of payer, tier and plan, and a chained entry in the ledger.
The p99 is that of the slowest process in the last round.`,
    command: 'npm run bench -- shared',
    base: BASE,
    variants: [
      crowd(BASE, 'redis', 'scriptCall'),
      crowd('Redis: a bucket, by the grouped script', 'redis', 'bucket', { script: true }),
      crowd('Redis: a bucket, by the contract', 'redis', 'bucket', { script: false }),
      crowd('Redis: a budget', 'redis', 'budget', {}, spentAt),
      crowd('PostgreSQL: a bucket', 'postgres', 'bucket'),
      crowd('PostgreSQL: a budget', 'postgres', 'budget', {}, spentAt),
    ],
  },
]

export const end = () => services.stop()
