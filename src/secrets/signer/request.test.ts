/** What a signer refuses as malformed, before it authenticates anyone. */
import { describe, expect, test } from 'vitest'
import { blindedMessage, requestFor } from '../../../test/support/odis-requests.ts'
import { samples } from '../../../test/support/odis-samples.ts'
import { signerBench } from '../../../test/support/odis-signer.ts'

describe('what is refused as malformed', () => {
  const sample = samples('malformed')['sequential delay']
  const raw = Buffer.from(blindedMessage, 'base64')
  const messages: Readonly<Record<string, string>> = {
    'a message that is too long': Buffer.concat([raw, Buffer.of(0)]).toString('base64'),
    'a message that is too short': raw.subarray(1).toString('base64'),
    'base64 without padding': Buffer.concat([raw, Buffer.of(0)])
      .toString('base64')
      .replace(/=+$/, ''),
    'base64 of another alphabet': Buffer.alloc(288, 0xff).toString('base64url'),
    'base64 with a line break': `${blindedMessage.slice(0, 76)}\n${blindedMessage.slice(76)}`,
    'numbers that are not canonical': Buffer.alloc(288, 0xff).toString('base64'),
    'no message at all': '',
  }
  for (const [what, message] of Object.entries(messages)) {
    test(what, async () => {
      const bench = signerBench()
      const body = { ...requestFor(sample, { nonce: 0 }), blindedMessage: message }
      expect((await bench.ask('sign', body)).status).toBe(400)
      expect(bench.evaluations()).toBe(0)
    })
  }

  const stages: Readonly<Record<string, object>> = {
    'a stage of no attempts': { batchSize: { defined: true, value: 0 } },
    'a stage of more than a thousand million attempts': {
      repetitions: { defined: true, value: 1e9 },
    },
    'a delay of 2^40 seconds': { delay: 2 ** 40 },
    'a negative delay': { delay: -1 },
    'a delay of half a second': { delay: 0.5 },
    'a value that is not defined': { resetTimer: { defined: false, value: true } },
  }
  for (const [what, fields] of Object.entries(stages)) {
    test(what, async () => {
      const [first] = Array.isArray(sample.domain['stages']) ? sample.domain['stages'] : []
      const domain = { ...sample.domain, stages: [{ ...first, ...fields }] }
      const reply = await signerBench().ask('sign', { ...requestFor(sample), domain })
      expect(reply.status).toBe(400)
    })
  }

  test('more than 64 stages', async () => {
    const [first] = Array.isArray(sample.domain['stages']) ? sample.domain['stages'] : []
    const domain = { ...sample.domain, stages: Array.from({ length: 65 }, () => first) }
    const reply = await signerBench().ask('sign', { ...requestFor(sample), domain })
    expect(reply).toMatchObject({ status: 400 })
  })

  test('a type that is another, while the right one may be sent for every domain', async () => {
    const peppered = samples('type')['peppered']
    const body = requestFor(peppered)
    const right = { ...body, type: 'DomainRestrictedSignatureRequest' }
    expect((await signerBench().ask('sign', right)).status).toBe(200)
    const wrong = { ...body, type: 'DisableDomainRequest' }
    expect((await signerBench().ask('sign', wrong)).status).toBe(400)
  })
})
