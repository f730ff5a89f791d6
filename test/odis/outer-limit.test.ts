/** Limits by address, from the request limiter, in front of a signer and in their own step. */
import { expect, test } from 'vitest'
import { createLimiter, parseCatalog } from '../../src/requests/index.ts'
import type { SignerRequest } from '../../src/secrets/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { requestFor, samples, strangerKey } from '../support/odis-requests.ts'
import { signerBench } from '../support/odis-signer.ts'

const catalog = parseCatalog({
  limits: `
DomainRequestsPerIPAddress: { id: ipAddress, burst: 3, count: 1, period: 1m }
DomainRequests: { id: opaque, burst: 100, count: 100, period: 1s }
`,
})

const scene = () => {
  const limiter = createLimiter({
    store: memoryStore({ clock: fakeClock() }),
    catalog: () => catalog,
  })
  const outerLimit = async ({ client = '192.0.2.1' }: SignerRequest) => {
    const charges = [
      { limit: 'DomainRequestsPerIPAddress', id: client },
      { limit: 'DomainRequests', id: 'all' },
    ]
    const { allowed, retryIn } = await limiter.spend({ charges })
    if (allowed) return { allowed }
    return retryIn === 'never' ? { allowed } : { allowed, retryIn }
  }
  const sample = samples('outer')['sequential delay']
  if (sample === undefined) throw new Error('the sample is there')
  return { bench: signerBench({ outerLimit }), sample }
}

test('what the domain refuses has still cost the address; what the address drops costs the domain nothing', async () => {
  const { bench, sample } = scene()
  const stranger = requestFor(sample, { nonce: 0, key: strangerKey })
  expect((await bench.ask('sign', stranger)).status).toBe(401)
  expect((await bench.ask('sign', stranger)).status).toBe(401)
  const first = requestFor(sample, { nonce: 0, session: 'first' })
  expect((await bench.ask('sign', first)).status).toBe(200)
  const before = await bench.store.scan('', 10)
  const dropped = await bench.ask('sign', requestFor(sample, { nonce: 1, session: 'second' }))
  expect(dropped).toMatchObject({ status: 429, headers: { 'retry-after': '60' } })
  expect(dropped.body.error).toContain('OUTER_LIMIT')
  expect(await bench.store.scan('', 10)).toEqual(before)
})

test('an exact retry is free for the domain, and not for the address', async () => {
  const { bench, sample } = scene()
  const first = requestFor(sample, { nonce: 0 })
  for (const status of [200, 200, 200, 429]) {
    expect((await bench.ask('sign', first)).status).toBe(status)
  }
})
