/** Hostile messages without a key: each costs at most what is stated, leaves nothing behind, and gets an answer. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ed25519 } from '@ucanto/principal'
import { expect, test } from 'vitest'
import { memory } from '../../src/stores/memory/index.ts'
import {
  createUcanService,
  generateIdentity,
  MAX_UCAN_WORK,
  type UcanWork,
} from '../../src/subjects/index.ts'
import { everything } from '../../test/support/everything.ts'
import { times } from '../support/counts.ts'
import { testServer } from '../support/headgate.ts'
import { hostileCars } from '../support/hostile-cars.ts'
import { seeded } from '../support/random.ts'
import { testSubjects } from '../support/subjects.ts'
import { POST } from '../support/ucan.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const heapAfterCollecting = (): number => {
  collect()
  return process.memoryUsage().heapUsed
}

/** What a heap may differ by for reasons of its own: compiled code, and what the runner keeps. */
const MAX_GROWTH_BYTES = 16 * 1024 * 1024

/** Thirty-two receipts, each with a message of a thousand characters, and their names. */
const MAX_REPLY_BYTES = 65_536

const KINDS = ['hashed', 'nodes', 'compared', 'verified', 'pages'] as const

test('hostile CARs cost no more than a message may, and leave nothing in store or memory', async () => {
  const store = memory()
  const identity = generateIdentity()
  const most = { hashed: 0, nodes: 0, compared: 0, verified: 0, pages: 0 }
  const note = (work: UcanWork): void => {
    for (const kind of KINDS) most[kind] = Math.max(most[kind], work[kind])
  }
  const service = createUcanService({
    store,
    identity,
    observe: (event) => event.kind === 'message' && note(event.work),
  })
  const next = await hostileCars(ed25519.parse(identity.secret))
  const random = seeded(20_261)
  const statuses = new Map<number, number>()
  const count = times(600, 100_000)
  let heap = 0
  for (let n = 0; n < count; n++) {
    const { status, body } = await service.handle({ ...POST, body: next(random) })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (body.length > MAX_REPLY_BYTES) expect(body.length).toBeLessThanOrEqual(MAX_REPLY_BYTES)
    if (n === Math.floor(count / 5)) heap = heapAfterCollecting()
  }
  expect(heapAfterCollecting() - heap).toBeLessThan(MAX_GROWTH_BYTES)
  expect([...statuses.keys()].sort()).toEqual([200, 400, 413])
  for (const kind of KINDS) expect(most[kind]).toBeLessThanOrEqual(MAX_UCAN_WORK[kind])
  // The messages reached as far as strangers can: to the last signature check that there is.
  expect(most.verified).toBe(MAX_UCAN_WORK.verified)
  expect(most.pages).toBe(0)
  expect(await everything(store)).toEqual([])
  expect(await store.read(`subjects/{${identity.did}}/changes`, 0, 10)).toEqual([])
})

test('the server answers none of them with a fault of its own', async () => {
  const identity = generateIdentity()
  const { app } = testServer({ subjects: testSubjects(identity) })
  const next = await hostileCars(ed25519.parse(identity.secret))
  const random = seeded(20_262)
  const headers = { ...POST.headers, host: 'localhost' }
  for (let n = 0; n < times(30, 5_000); n++) {
    const payload = Buffer.from(next(random))
    const { statusCode } = await app.inject({ method: 'POST', url: '/ucan', headers, payload })
    expect([200, 400, 413]).toContain(statusCode)
  }
})
