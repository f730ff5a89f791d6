// Writes the fixture database of a release: something of every pillar, as this code keeps it, and what a
// reader must find in it. Newer code must open, migrate and read it: test/fixtures/fixtures.test.ts.
//
//   node scripts/fixture.js NAME     writes test/fixtures/NAME.db and NAME.json; run once for a release
import { rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { indexOf } from '../dist/core/index.js'
import { limiter } from '../dist/index.js'
import { createSigner, evaluateHere, generateKey } from '../dist/secrets/index.js'
import { blind } from '../dist/secrets/poprf/index.js'
import { spending } from '../dist/spending/index.js'
import { sqlite } from '../dist/stores/sqlite/index.js'
import { generateIdentity, subjects } from '../dist/subjects/index.js'

const [name = ''] = process.argv.slice(2)
if (!/^[\w.-]+$/.test(name)) throw new Error('node scripts/fixture.js NAME, such as 0.1.0')
const base = fileURLToPath(new URL(`../test/fixtures/${name}`, import.meta.url))
rmSync(`${base}.db`, { force: true })

const kept = sqlite(`${base}.db`)
const [streams, lists] = [new Set(), new Set()]
/** Notes which streams and lists there are: a store does not say. */
const store = {
  ...kept,
  transact: (step, ...rest) =>
    kept.transact(
      (view) => {
        const commit = step(view)
        for (const { stream } of commit.appends) streams.add(stream)
        for (const { key, index = indexOf(key) } of commit.writes) if (index) lists.add(index)
        return commit
      },
      ...rest,
    ),
}

const requests = limiter({
  store,
  limits: { Orders: { burst: 5, period: '1h' }, Uploads: { atOnce: 2, heldFor: '30s' } },
})
await requests.spend('Orders', 'ann', { operationId: 'order-1' })
await requests.acquire('Uploads', 'ann')

const money = spending({ store, total: 1_000n, tiers: { BASIC: 300n } })
await money.sponsor({ from: '0xB1', estimate: 300n, operationId: 'tx-1' }, async () => 280n)

const owner = generateIdentity()
const people = subjects({ store, identity: owner })
await people.as(owner).block('example.com', { reason: 'ticket 1234', expires: '7d' })
people.close()

const key = generateKey()
const signer = createSigner({
  store,
  evaluator: await evaluateHere(),
  keys: { current: 1, find: (version) => (version === 1 ? key : undefined) },
  version: name,
})
const request = {
  domain: {
    name: 'ODIS Linear Backoff Domain',
    version: '1',
    refresh: { defined: true, value: 86_400_000 },
    cap: 2,
    salt: { defined: true, value: 'fixture' },
  },
  options: {},
  blindedMessage: Buffer.from(blind(new TextEncoder().encode('123456')).blindedMessage).toString(
    'base64',
  ),
  sessionID: { defined: false, value: '' },
}
await signer.answer('sign', { body: new TextEncoder().encode(JSON.stringify(request)) })

const pagesOf = async (names, read) =>
  Object.fromEntries(
    await Promise.all([...names].sort().map(async (one) => [one, await read(one)])),
  )
const found = {
  items: (await kept.scan('', 10_000)).items,
  streams: await pagesOf(streams, (stream) => kept.read(stream, 0, 10_000)),
  lists: await pagesOf(lists, (index) => kept.range(index, '', 10_000)),
}
await kept.close()
// Everything is in the file now, though the driver keeps these until the process ends.
for (const part of ['db-shm', 'db-wal']) rmSync(`${base}.${part}`, { force: true })
writeFileSync(`${base}.json`, `${JSON.stringify(found, null, 2)}\n`)
process.exit()
