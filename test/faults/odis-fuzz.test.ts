/** Requests bent in every place, over HTTP: no crash, no fault of ours, and no quota spent without an answer. */
import { expect, test } from 'vitest'
import type { Store } from '../../src/core/store.ts'
import { VERSION } from '../../src/server/app/version.ts'
import { memory } from '../../src/stores/memory/index.ts'
import { bend, garble } from '../support/bent.ts'
import { times } from '../support/counts.ts'
import { requestFor } from '../support/odis-requests.ts'
import { samples } from '../support/odis-samples.ts'
import { signerBench } from '../support/odis-signer.ts'
import { seeded } from '../support/random.ts'

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
  const store = watched(memory(), () => {
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
})

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
