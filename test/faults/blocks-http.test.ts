/** Two `headgate serve` on one store: what is changed through one holds on the other. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { CAR_TYPE, createRatesClient, parseIdentity } from '../../src/subjects/index.ts'
import { type RunningServer, serveHeadgate, until } from '../support/cli.ts'
import { configFolder } from '../support/config-folder.ts'
import { times } from '../support/counts.ts'
import { sharedUrl } from '../support/services.ts'

const CONFIG = `
limits: { Foos: { id: opaque, burst: 1000000, count: 1000000, period: 1s } }
subjects: {}
overload: { turn: 1h }
`

/** Started at the same moment: they must make one key between them. */
const startTwo = async (store?: string) => {
  const { path } = configFolder({ 'headgate.yml': CONFIG })
  const words = store === undefined ? [] : ['--store', store]
  const start = () => serveHeadgate(['--log-level', 'warn', ...words], { cwd: path })
  const [one, two] = await Promise.all([start(), start()])
  expect(one.announced['subjects']).toBe(two.announced['subjects'])
  const file = store === undefined ? 'headgate.db.key' : 'headgate.key'
  const key = parseIdentity(readFileSync(join(path, file), 'utf8'))
  return { one, two, key, rates: createRatesClient({ url: `${one.url}/ucan`, key }) }
}

interface Judged {
  readonly allowed: boolean
  readonly reason?: string
}

const spend = async (server: RunningServer, subject: string): Promise<Judged> => {
  const response = await fetch(`${server.url}/v1/spend`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ limit: 'Foos', id: 'ann', subjects: [subject] }),
  })
  const { allowed, reason } = JSON.parse(await response.text())
  return { allowed, reason }
}

const untilJudged = (server: RunningServer, subject: string, expected: Judged): Promise<void> =>
  until(async () =>
    isDeepStrictEqual(await spend(server, subject), { reason: undefined, ...expected }),
  )

/** Undefined where there was no answer. */
const idsIn = (listed: Readonly<Record<string, unknown>> | undefined): string[] | undefined =>
  Array.isArray(listed?.['limits']) ? listed['limits'].map(({ id }) => String(id)) : undefined

const STORES = {
  SQLite: undefined,
  Redis: await sharedUrl('redis'),
  PostgreSQL: await sharedUrl('postgres'),
  PgBouncer: await sharedUrl('pgbouncer'),
}

test.for(Object.entries(STORES).filter(([kind, url]) => kind === 'SQLite' || url !== undefined))(
  '%s: a block that is added through one refuses requests on the other, and its end admits them',
  async ([, store]) => {
    const { two, rates } = await startTwo(store)
    for (let round = 0; round < times(2, 50); round++) {
      const [subject, ann] = [`A${round}.test`, `ann@mail.a${round}.test`]
      await untilJudged(two, ann, { allowed: true })
      // On a busy machine a store may be slow to answer: then it is asked again.
      await until(async () => (await rates.add({ subject, rate: 0 })).error === undefined)
      await untilJudged(two, ann, { allowed: false, reason: 'BLOCKED' })
      await untilJudged(two, 'ann@b.test', { allowed: true })
      await until(async () => {
        const ids = idsIn((await rates.list(subject)).ok)
        if (ids !== undefined && ids.length > 0) await rates.remove(ids)
        return ids?.length === 0
      })
      await untilJudged(two, ann, { allowed: true })
    }
  },
)

test('the same invocation sent 100 times at once, to both, adds one rate', async () => {
  const { one, two, key, rates } = await startTwo()
  let sent: Uint8Array<ArrayBuffer> = new Uint8Array()
  const recorder = createRatesClient({
    url: `${one.url}/ucan`,
    key,
    fetch: async (_, init) => {
      if (init?.body instanceof Uint8Array) sent = Uint8Array.from(init.body)
      return new Response(null, { status: 503 })
    },
  })
  await expect(recorder.add({ subject: 'a.test', rate: 0 })).rejects.toThrow('503')
  const replies = await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const { url } = index % 2 === 0 ? one : two
      const headers = { 'content-type': CAR_TYPE }
      const reply = await fetch(`${url}/ucan`, { method: 'POST', headers, body: sent })
      return Buffer.from(await reply.arrayBuffer()).toString('hex')
    }),
  )
  expect(new Set(replies).size).toBe(1)
  expect((await rates.list('a.test')).ok?.['limits']).toHaveLength(1)
})
