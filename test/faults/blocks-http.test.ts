/** Two `headgate serve` on one SQLite file: what is changed through one holds on the other. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CAR_TYPE, createRatesClient, parseIdentity } from '../../src/subjects/index.ts'
import { type RunningServer, serveHeadgate, until } from '../support/cli.ts'
import { configFolder } from '../support/config-folder.ts'
import { times } from '../support/counts.ts'

const CONFIG = `
limits: { Foos: { id: opaque, burst: 1000000, count: 1000000, period: 1s } }
subjects: {}
overload: { turn: 1h }
`

/** Started at the same moment: they must make one key between them. */
const startTwo = async () => {
  const { path } = configFolder({ 'headgate.yml': CONFIG })
  const start = () => serveHeadgate(['--log-level', 'warn'], { cwd: path })
  const [one, two] = await Promise.all([start(), start()])
  expect(one.announced['subjects']).toBe(two.announced['subjects'])
  const key = parseIdentity(readFileSync(join(path, 'headgate.db.key'), 'utf8'))
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

test('a block that is added through one refuses requests on the other, and its end admits them', async () => {
  const { two, rates } = await startTwo()
  for (let round = 0; round < times(2, 50); round++) {
    const ann = `ann@mail.a${round}.test`
    expect(await spend(two, ann)).toEqual({ allowed: true })
    const { ok } = await rates.add({ subject: `A${round}.test`, rate: 0 })
    await until(async () => (await spend(two, ann)).allowed === false)
    expect(await spend(two, ann)).toEqual({ allowed: false, reason: 'BLOCKED' })
    expect(await spend(two, 'ann@b.test')).toEqual({ allowed: true })
    await rates.remove(String(ok?.['id']))
    await until(async () => (await spend(two, ann)).allowed === true)
  }
})

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
