/** Many processes on one server: never one too many, and nobody comes away with nothing. */
import { describe, expect, test } from 'vitest'
import type { ServiceKind } from '../../scripts/services.js'
import { answer } from '../../src/core/store.ts'
import { days } from '../../src/core/time.ts'
import { limiter } from '../../src/requests/limiter/typed-limiter.ts'
import type { Limiter } from '../../src/requests/limiter/verbs.ts'
import { startChild } from '../support/child.ts'
import { type RunningServer, serveHeadgate } from '../support/cli.ts'
import { configFolder } from '../support/config-folder.ts'
import { times } from '../support/counts.ts'
import { type RemotePlace, remotePlace } from '../support/remote-stores.ts'
import { ownService, sharedUrl } from '../support/services.ts'

const KINDS: readonly ServiceKind[] = ['redis', 'cluster', 'postgres', 'pgbouncer']

/** What each of some processes prints once all of them are ready. `query` goes with the URL. */
async function amongProcesses(
  place: RemotePlace,
  query: string,
  processes: number,
  script: string,
  args: readonly string[],
): Promise<readonly string[]> {
  await place.clear()
  const children = Array.from({ length: processes }, () =>
    startChild(`test/faults/children/${script}.js`, [`${place.url}${query}`, ...args, place.name]),
  )
  for (const child of children) expect(await child.line()).toBe('ready')
  const told = await Promise.all(children.map((child) => child.line()))
  for (const child of children) expect(await child.ended).toBe(0)
  return told
}

const sum = (told: readonly string[]) => told.reduce((all, line) => all + Number(line), 0)

/** How a store is asked: PostgreSQL has one way, Redis also one without the script of plain spends. */
const WAYS: readonly (readonly [kind: ServiceKind, query: string])[] = [
  ['redis', ''],
  ['redis', '?script=off'],
  ['cluster', ''],
  ['cluster', '?script=off'],
  ['postgres', ''],
  ['pgbouncer', ''],
]

for (const [kind, query] of WAYS) {
  const place = await remotePlace(kind)
  describe.skipIf(place === undefined)(`${kind}${query}: 400 spends from four processes`, () => {
    if (place === undefined) return

    test('never admit one too many: of one bucket, of three in a batch, of three in three partitions', async () => {
      for (let round = 0; round < times(1, 12); round++) {
        const told = await amongProcesses(place, query, 4, 'spender', ['100', BATCHES])
        const admitted = [0, 1, 2].map((i) => sum(told.map((line) => line.split(',')[i] ?? '')))
        const [one, three, apart = 0] = admitted
        expect(one).toBe(20)
        expect(three).toBe(20)
        // What is refused in one partition was charged for a moment in another: fewer may come through.
        expect(apart).toBeLessThanOrEqual(20)
        expect(await chargedIn(place)).toEqual([20, 20, 20, 20, apart, apart, apart])
        // None of that is lost: one who asks alone has the rest, but for what time has forgiven meanwhile.
        const all = apart + (await admittedAlone(place))
        expect([19, 20]).toContain(all)
      }
    })
  })
}

const RULE = { count: 1, period: '24h' } as const
const LIMITS = {
  Orders: { burst: 20, ...RULE },
  Items: { burst: 30, ...RULE },
  Hosts: { burst: 25, ...RULE },
}

/** One bucket; three of one tag; three of which each has another. */
const BATCHES = 'Orders=a;Orders=b,Items=b,Hosts=b;Orders=c,Items=d,Hosts=e'

/**
 * How often each of their buckets is charged, to the nearest: what is given back is less what time has
 * forgiven meanwhile, a moment of the day that a token takes.
 */
async function chargedIn(place: RemotePlace): Promise<readonly number[]> {
  const store = place.open()
  const gate: Limiter = limiter({ store, limits: LIMITS })
  const charged = BATCHES.split(/[;,]/).map(async (bucket) => {
    const [limit = '', id = ''] = bucket.split('=')
    const { resetIn } = await gate.check(limit, id, { cost: 0 })
    return Math.round(Number(resetIn) / days(1))
  })
  const found = await Promise.all(charged)
  await store.close()
  return found
}

/** How often the batch of three partitions is admitted to one who asks until he is refused. */
async function admittedAlone(place: RemotePlace): Promise<number> {
  const store = place.open()
  const gate: Limiter = limiter({ store, limits: LIMITS })
  const charges = [
    { limit: 'Orders', id: 'c' },
    { limit: 'Items', id: 'd' },
    { limit: 'Hosts', id: 'e' },
  ]
  let admitted = 0
  while ((await gate.spend({ charges })).allowed) admitted++
  await store.close()
  return admitted
}

for (const kind of KINDS) {
  const place = await remotePlace(kind)
  describe.skipIf(place === undefined)(kind, () => {
    if (place === undefined) return
    // Behind PgBouncer the server is the same: what it takes apart shows in a few rounds.
    const [rounds, manyTurns] = kind === 'pgbouncer' ? [5, 100] : [25, 500]

    const among = (processes: number, script: string, args: readonly string[]) =>
      amongProcesses(place, '', processes, script, args)

    test('64 clients in four processes, each holding 300 of a plan of 300: one is granted', async () => {
      for (let round = 0; round < times(1, rounds); round++) {
        expect(sum(await among(4, 'spending-holder', ['16', '1000000', 'one']))).toBe(1)
      }
    })

    test('eight processes on one count: the sum is exact, and each gets all of its turns', async () => {
      const [turns, lanes] = [times(20, manyTurns), 4]
      // A call that starved would have run out of patience, and failed its process.
      for (const line of await among(8, 'counter', [String(turns), String(lanes)])) {
        const { calls, conflicts } = JSON.parse(line)
        expect(calls - conflicts).toBe(turns * lanes)
      }
      const store = place.open()
      const key = 'test/{hot}/count'
      const count = await store.transact((view) => answer(view.read(key)), [key], 'look')
      expect(count).toEqual([String(8 * turns * lanes)])
      await store.close()
    })
  })
}

describe.skipIf((await sharedUrl('redis')) === undefined)('two servers on one Redis', () => {
  test.each(['', '?script=off'])(
    '%j: 400 spends over HTTP on a bucket of burst 20: exactly 20 are admitted',
    async (query) => {
      const { url } = await ownService('redis')
      const config = `
store: ${url}${query}
limits: { Orders: { id: opaque, burst: 20, count: 1, period: 24h } }
overload: { turn: 1h }
`
      const { path } = configFolder({ 'headgate.yml': config })
      const start = () => serveHeadgate(['--log-level', 'warn'], { cwd: path })
      const servers = await Promise.all([start(), start()])
      for (let round = 0; round < times(1, 25); round++) {
        const spend = async (server: RunningServer) => {
          const body = JSON.stringify({ limit: 'Orders', id: `round${round}` })
          const headers = { 'content-type': 'application/json' }
          const reply = await fetch(`${server.url}/v1/spend`, { method: 'POST', headers, body })
          expect([200, 429]).toContain(reply.status)
          return JSON.parse(await reply.text()).allowed === true
        }
        const told = await Promise.all(Array.from({ length: 200 }, () => servers.map(spend)).flat())
        expect(told.filter(Boolean)).toHaveLength(20)
      }
    },
  )
})
