import { describe, expect, test } from 'vitest'
import { requestFor } from '../../../test/support/odis-requests.ts'
import { addressOfKey, samples, strangerKey, varied } from '../../../test/support/odis-samples.ts'
import { signerBench } from '../../../test/support/odis-signer.ts'

describe('the phone number domain', () => {
  const sample = samples('phone')['phone number']

  test('counts each account by itself, and gives the owner of a number more', async () => {
    const bench = signerBench()
    const verified = { defined: true, value: '0xabc' }
    const owning = varied(sample, { options: { hashedPhoneNumber: verified } })
    for (const [session, asked, status] of [
      ['1', sample, 200],
      ['2', sample, 200],
      ['3', sample, 429],
      ['4', owning, 200],
      ['5', owning, 429],
    ] as const) {
      expect((await bench.ask('sign', requestFor(asked, { session }))).status).toBe(status)
    }
    const account = addressOfKey(strangerKey)
    const other = varied(sample, { options: { account }, key: strangerKey })
    expect((await bench.ask('sign', requestFor(other))).status).toBe(200)
  })
})

test('those whom the source names may sign for an account, and no others', async () => {
  const sample = samples('phone')['phone number']
  const signersOf = async () => [addressOfKey(strangerKey)]
  const phoneQuota = { totalOf: async () => 1, signersOf }
  const bench = signerBench({ kinds: { phoneQuota } })
  expect((await bench.ask('sign', requestFor(sample, { key: strangerKey }))).status).toBe(200)
  const third = new Uint8Array(32).fill(3)
  expect((await bench.ask('sign', requestFor(sample, { key: third }))).status).toBe(401)
})
