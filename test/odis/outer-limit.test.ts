/** Limits by address, from the request limiter, in front of a signer and in their own step. */

import { expect, test } from 'vitest'
import { everything } from '../../test/support/everything.ts'
import { requestFor } from '../support/odis-requests.ts'
import { samples, strangerKey } from '../support/odis-samples.ts'
import { signerBench } from '../support/odis-signer.ts'

const sample = samples('outer')['sequential delay']

/** Three at once, and one a minute. */
const limits = { perAddress: { count: 3, period: '3m' } }

test('what the domain refuses has still cost the address; what the address drops costs the domain nothing', async () => {
  const bench = signerBench({ limits })
  const stranger = requestFor(sample, { nonce: 0, key: strangerKey })
  expect((await bench.ask('sign', stranger)).status).toBe(401)
  expect((await bench.ask('sign', stranger)).status).toBe(401)
  const first = requestFor(sample, { nonce: 0, session: 'first' })
  expect((await bench.ask('sign', first)).status).toBe(200)
  const before = await everything(bench.store)
  const dropped = await bench.ask('sign', requestFor(sample, { nonce: 1, session: 'second' }))
  expect(dropped).toMatchObject({ status: 429, headers: { 'retry-after': '60' } })
  expect(dropped.body.error).toContain('OUTER_LIMIT')
  expect(await everything(bench.store)).toEqual(before)
})

test('an exact retry is free for the domain, and not for the address', async () => {
  const bench = signerBench({ limits })
  const first = requestFor(sample, { nonce: 0 })
  for (const status of [200, 200, 200, 429]) {
    expect((await bench.ask('sign', first)).status).toBe(status)
  }
})
