/** Requests bent in every place, over HTTP: no crash, no fault of ours, and no quota spent without an answer. */
import { expect, test } from 'vitest'
import type { Store } from '../../src/core/index.ts'
import { VERSION } from '../../src/server/version.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { times } from '../support/counts.ts'
import { requestFor } from '../support/odis-requests.ts'
import { samples } from '../support/odis-samples.ts'
import { signerBench } from '../support/odis-signer.ts'
import { type Random, seeded } from '../support/random.ts'

const JUNK: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  '',
  '0',
  '0x',
  '\ud800',
  '\u0000',
  'x'.repeat(5_000),
  [],
  {},
  [[[[]]]],
  { defined: true, value: 1 },
  { defined: false, value: 'x' },
  { __proto__: null, constructor: 1 },
]

/** One place of a tree, whichever, replaced, removed, doubled or renamed. */
const bend = (value: unknown, random: Random): unknown => {
  if (typeof value !== 'object' || value === null || random.below(6) === 0) return random.pick(JUNK)
  if (Array.isArray(value)) {
    const at = random.below(Math.max(1, value.length))
    const manner = random.below(3)
    if (manner === 0) return value.filter((_, i) => i !== at)
    if (manner === 1) return [...value, ...value]
    return value.map((item, i) => (i === at ? bend(item, random) : item))
  }
  const entries = Object.entries(value)
  if (entries.length === 0) return random.pick(JUNK)
  const [chosen] = random.pick(entries)
  const manner = random.below(8)
  return Object.fromEntries(
    entries.flatMap(([name, held]) => {
      if (name !== chosen) return [[name, held]]
      if (manner === 0) return []
      if (manner === 1) return [[`${name}x`, held]]
      if (manner === 2)
        return [
          [name, held],
          [`${name}2`, held],
        ]
      return [[name, bend(held, random)]]
    }),
  )
}

/** The text itself, cut or with characters changed. */
const garble = (text: string, random: Random): Uint8Array<ArrayBuffer> => {
  const bytes = new TextEncoder().encode(text)
  if (random.below(2) === 0) return bytes.slice(0, random.below(bytes.length))
  for (let i = 0; i < 1 + random.below(3); i++)
    bytes[random.below(bytes.length)] = random.below(256)
  return bytes
}

/** Counts the transactions that changed anything. */
const watched = (store: Store, changed: () => void): Store => ({
  ...store,
  transact: (step, guess) => {
    let writes = 0
    const seen = store.transact((view) => {
      const plan = step(view)
      writes = plan.writes.length
      return plan
    }, guess)
    return seen.finally(() => {
      if (writes > 0) changed()
    })
  },
})

const KEY_VERSIONS = ['', '0', '1', '2', '01', 'undefined', '1, 1', '\u00ff', '9'.repeat(500)]

test('fuzzed requests get an answer below 500, and only a 200 changes anything', async () => {
  const random = seeded(40)
  let changes = 0
  const store = watched(memoryStore(), () => {
    changes += 1
  })
  const bench = signerBench({ store })
  const endpoints = ['sign', 'quotaStatus', 'disable'] as const
  const originals = Object.values(samples('fuzz')).flatMap((sample) =>
    endpoints.map((endpoint) => ({ endpoint, body: requestFor(sample, { endpoint, nonce: 0 }) })),
  )
  const seen = new Map<number, number>()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < times(2_000, 100_000); i++) {
    const { endpoint, body } = random.pick(originals)
    const bent = random.below(10) === 0 ? body : bend(body, random)
    const text = JSON.stringify(bent) ?? ''
    const sent = random.below(4) === 0 ? garble(text, random) : text
    const version = random.below(10) === 0 ? { 'odis-key-version': random.pick(KEY_VERSIONS) } : {}
    const changesBefore = changes
    const reply = await bench.send(endpoint, sent, version)
    seen.set(reply.status, (seen.get(reply.status) ?? 0) + 1)
    expect(reply.status, text).toBeLessThan(500)
    expect(reply.body).toMatchObject({ success: reply.status === 200, version: VERSION })
    if (reply.status !== 200) expect(changes, text).toBe(changesBefore)
    bench.events.length = 0
  }
  expect([...seen.keys()].sort()).toEqual(expect.arrayContaining([200, 400, 401, 404]))
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(300_000_000)
}, 600_000)

test('under garbage nothing is evaluated: all that can be checked is checked before', async () => {
  const random = seeded(41)
  const bench = signerBench()
  const body = requestFor(samples('garbage')['sequential delay'], { nonce: 0 })
  for (let i = 0; i < times(300, 5_000); i++) {
    const bent = { ...body, sessionID: { defined: true, value: `${i}` }, x: bend(body, random) }
    await bench.ask('sign', random.below(2) === 0 ? bent : { ...bent, x: undefined })
  }
  expect(bench.evaluations()).toBe(0)
})
