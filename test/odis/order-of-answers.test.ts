/** Every row of the order of answers, for every domain that needs no chain, in both conducts. */
import { describe, expect, test } from 'vitest'
import type { Conduct } from '../../src/secrets/index.ts'
import { requestFor } from '../support/odis-requests.ts'
import { orderOfAnswers } from '../support/odis-rows.ts'
import { samples, varied } from '../support/odis-samples.ts'
import { signerBench } from '../support/odis-signer.ts'

const { 'smart contract': onChain, ...offChain } = samples('rows')

describe.each<Conduct>(['cip40', 'celo'])('as %s', (conduct) => {
  for (const [name, sample] of Object.entries(offChain)) {
    describe(name, () => orderOfAnswers(sample, conduct))
  }
})

test('no two domains have an output in common, whatever their names, versions and fields', async () => {
  const bench = signerBench()
  const domains = [...Object.values(offChain), onChain].flatMap((sample) => [
    sample,
    ...sample.changes.map((change) => varied(sample, change)),
  ])
  const outputs = new Set<string | undefined>()
  for (const domain of domains) {
    const reply = await bench.ask('sign', requestFor(domain, { nonce: 0 }))
    expect(reply.status).toBe(200)
    outputs.add(reply.body.signature)
  }
  expect(outputs.size).toBe(domains.length)
})
