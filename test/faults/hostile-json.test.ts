/** Hostile JSON at every route of the API, over HTTP: no fault of ours, no lost answer, no growing memory. */
import { Agent, request } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { hours } from '../../src/core/time.ts'
import { MAX_REQUEST_BYTES } from '../../src/server/app/bounds.ts'
import { ENDPOINTS } from '../../src/server/app/endpoints.ts'
import { PROBLEMS } from '../../src/server/app/problems.ts'
import { REQUEST_SCHEMAS } from '../../src/server/requests/schema.ts'
import { PLAN_SCHEMAS } from '../../src/server/spending/plan-schema.ts'
import { SPENDING_SCHEMAS } from '../../src/server/spending/schema.ts'
import { bend, garble } from '../support/bent.ts'
import { times } from '../support/counts.ts'
import { type Random, seeded } from '../support/random.ts'
import { spendingServer } from '../support/spending-server.ts'

const SCHEMAS: Readonly<Record<string, object>> = {
  ...REQUEST_SCHEMAS,
  ...SPENDING_SCHEMAS,
  ...PLAN_SCHEMAS,
}

/** What a field of this name may hold, so that some of what is bent gets far. */
const VALUES: Readonly<Record<string, unknown>> = {
  limit: 'PerKey',
  id: 'k',
  cost: 1,
  amount: '1',
  estimate: '1',
  from: '0xA1',
  ip: '192.0.2.1',
  address: '0xA2',
  tier: 'EXTENDED',
  priority: 1,
  expiresAt: '2030-01-01T00:00:00Z',
  operationId: 'again',
  document: '[]',
}

/** A value that a schema describes, more or less. */
const sampleOf = (schema: unknown, name = ''): unknown => {
  if (Object.hasOwn(VALUES, name)) return VALUES[name]
  const { properties, items, type, enum: words } = Object(schema)
  if (Array.isArray(words)) return words[0]
  if (properties !== undefined) {
    const entries = Object.entries(Object(properties))
    return Object.fromEntries(entries.map(([key, part]) => [key, sampleOf(part, key)]))
  }
  if (items !== undefined) return [sampleOf(items)]
  return type === 'integer' || type === 'number' ? 1 : type === 'boolean' ? true : 'x'
}

const ROUTES = Object.entries(ENDPOINTS).map(([name, { method, path }]) => ({
  method,
  path: path.replace(':id', 'partner').replace(':name', 'PerKey').replace(':subject', 'a.example'),
  sample: sampleOf(Reflect.get(SCHEMAS[name] ?? {}, 'body')),
}))

/** Deep enough for any reader that calls itself; the body limit would let in thirteen times as deep. */
const DEEP = 20_000

type Manner = (sample: unknown, random: Random) => string | Uint8Array

const doubled = (sample: unknown): string => {
  const text = JSON.stringify(sample) ?? ''
  return text.startsWith('{') ? `{${text.slice(1, -1)},${text.slice(1)}` : text
}

const DEEP_MANNERS: readonly Manner[] = [
  (_sample, random) => random.pick(['[', '{"a":', '[{"charges":']).repeat(1 + random.below(DEEP)),
  (_sample, random) => {
    const depth = 1 + random.below(DEEP)
    return `${'['.repeat(depth)}${']'.repeat(depth)}`
  },
]

const MANNERS: readonly Manner[] = [
  (sample, random) => JSON.stringify(bend(sample, random)) ?? '',
  (sample, random) => garble(JSON.stringify(bend(sample, random)) ?? '{}', random),
  (sample) => JSON.stringify(sample) ?? '',
  (sample) => doubled(sample),
  (sample, random) => {
    const number = random.pick(['1e999', '-1e999', '-0', '1E400', '9'.repeat(5_000), '0.1e-999'])
    return (JSON.stringify(sample) ?? '').replace(/"[^"]*"(?=[,}])/, number)
  },
  (sample, random) => {
    const name = random.pick(['__proto__', 'constructor', 'prototype', 'toString', ''])
    return JSON.stringify(sample)?.replace('{', `{"${name}":{"allowed":true},`) ?? ''
  },
  // Bytes that are no UTF-8, within a text.
  (sample) =>
    Buffer.from((JSON.stringify(sample) ?? '').replace(/"x?k?"/, '"\xff\xfe\xc0\x80"'), 'latin1'),
]

const TYPES = [
  ...Array.from({ length: 12 }, () => 'application/json'),
  'application/json; charset=utf-16',
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/vnd.api+json',
  '\u00ff',
  '',
]

const QUERIES = [
  '',
  '',
  '?after=%00',
  '?x=1',
  '?after=a&after=b',
  '?__proto__=1',
  '?limit=%ff',
  '?[]',
]

/** Large bodies are few: they cost more to send than to refuse. */
const bodyFor: Manner = (sample, random) => {
  if (random.below(300) === 0) return ' '.repeat(MAX_REQUEST_BYTES + 1)
  return random.pick(random.below(30) === 0 ? DEEP_MANNERS : MANNERS)(sample, random)
}

interface Answered {
  readonly status: number
  readonly text: string
}

const agent = new Agent({ keepAlive: true, maxSockets: 8 })

const send = (
  url: string,
  method: string,
  type: string,
  body: string | Uint8Array,
): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const headers = {
      'content-length': Buffer.byteLength(body),
      ...(type === '' ? {} : { 'content-type': type }),
    }
    const asked = request(url, { method, agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      )
      response.on('error', reject)
    })
    asked.on('error', reject)
    asked.end(body)
  })

/** Every code in an answer, those of the questions of a batch included. */
const codesIn = ({ status, text }: Answered): readonly string[] => {
  if (status >= 400) return [JSON.parse(text).code]
  const [, answers = ''] = /^\{"answers":(.*)\}$/s.exec(text) ?? []
  return answers === ''
    ? []
    : JSON.parse(answers).flatMap((each: object) => Reflect.get(each, 'error')?.code ?? [])
}

const collectGarbage = (): (() => void) => {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
}

/** What the ledger, the buckets and the ids of so many admitted requests may come to. */
const MAX_GROWTH_BYTES = 24 * 1024 * 1024

test('hostile bodies get an answer below 500 with a known code, and memory stays flat', async () => {
  const { app, clock } = await spendingServer()
  onTestFinished(async () => {
    agent.destroy()
    await app.close()
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const gc = collectGarbage()
  const random = seeded(36)
  const count = times(1_000, 100_000)
  const seen = new Map<number, number>()
  const heaps: number[] = []

  const attack = async (): Promise<void> => {
    const { method, path, sample } = random.pick(ROUTES)
    const body = bodyFor(sample, random)
    const query = random.pick(QUERIES)
    const answered = await send(`${url}${path}${query}`, method, random.pick(TYPES), body)
    const { status } = answered
    seen.set(status, (seen.get(status) ?? 0) + 1)
    const what = () => `${method} ${path}${query} ${String(body).slice(0, 500)}: ${answered.text}`
    if (status >= 500) throw new Error(`${status} for ${what()}`)
    for (const code of codesIn(answered))
      if (!Object.hasOwn(PROBLEMS, code)) throw new Error(what())
  }

  // Of a thousand, chance may pick no body that is too large.
  const large = await send(
    `${url}/v1/spend`,
    'POST',
    'application/json',
    ' '.repeat(MAX_REQUEST_BYTES + 1),
  )
  seen.set(large.status, 1)
  for (let done = 0; done < count; done += 8) {
    await Promise.all(Array.from({ length: 8 }, attack))
    if (done % 1_000 === 0) clock.advance(hours(1))
    if (done % Math.ceil(count / 12) < 8) {
      gc()
      heaps.push(process.memoryUsage().heapUsed)
    }
  }
  expect([...seen.keys()].sort()).toEqual(expect.arrayContaining([200, 400, 404, 413, 415]))
  expect((await send(`${url}/v1/limits`, 'GET', '', '')).status).toBe(200)
  const settled = heaps[Math.floor(heaps.length / 4)] ?? 0
  expect((heaps.at(-1) ?? 0) - settled).toBeLessThan(MAX_GROWTH_BYTES)
})
