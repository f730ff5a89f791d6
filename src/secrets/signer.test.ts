/** What a signer refuses as malformed, what it survives, and what it keeps and tells. */
import { describe, expect, test } from 'vitest'
import { blindedMessage, requestFor } from '../../test/support/odis-requests.ts'
import { addressOfKey, samples, strangerKey, varied } from '../../test/support/odis-samples.ts'
import { signerBench } from '../../test/support/odis-signer.ts'
import { HeadgateError, StoreError } from '../core/index.ts'
import { AUDIT_STREAM } from './index.ts'
import { EvaluatorError } from './poprf/pool/evaluator-error.ts'

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

describe('trouble of our own', () => {
  const sample = samples('trouble')['peppered']
  const failing = (error: Error) => ({ evaluate: () => Promise.reject(error) })

  test('a busy evaluator is 503 with Retry-After, and costs nothing', async () => {
    const busy = new EvaluatorError({ code: 'EVALUATOR_QUEUE_FULL', thing: 'evaluator', rule: 'x' })
    const bench = signerBench({ evaluator: failing(busy) })
    const reply = await bench.ask('sign', requestFor(sample))
    expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    expect(await bench.store.scan('', 10)).toEqual([])
  })

  test('an evaluator that breaks is 500, tells nothing of why, and costs nothing', async () => {
    const bench = signerBench({ evaluator: failing(new Error('secret detail')) })
    const reply = await bench.ask('sign', requestFor(sample))
    expect(reply.status).toBe(500)
    expect(JSON.stringify(reply)).not.toContain('secret detail')
    expect(bench.events.at(-1)).toMatchObject({ outcome: 'SIGNER_FAULT', status: 500 })
    expect(await bench.store.scan('', 10)).toEqual([])
  })

  test('a message that only the curve can tell to be wrong is 400, and costs nothing', async () => {
    const wrong = { code: 'POPRF_PROOF_INVALID', thing: 'blinded message', rule: 'must hold' }
    const bench = signerBench({ evaluator: failing(new HeadgateError(wrong)) })
    expect((await bench.ask('sign', requestFor(sample))).status).toBe(400)
    expect(await bench.store.scan('', 10)).toEqual([])
  })

  test('an attempt that another process took meanwhile is not answered here', async () => {
    const other = signerBench()
    const meanwhile = {
      evaluate: async () => {
        for (const session of ['a', 'b']) await other.ask('sign', requestFor(sample, { session }))
        return new Uint8Array(32)
      },
    }
    const bench = signerBench({ store: other.store, evaluator: meanwhile })
    const reply = await bench.ask('sign', requestFor(sample, { session: 'late' }))
    expect(reply).toMatchObject({ status: 429, body: { status: { counter: 2 } } })
    expect(reply.body).not.toHaveProperty('signature')
  })

  test('a request that another process answered meanwhile is charged once', async () => {
    const body = requestFor(sample, { session: 'twice' })
    const other = signerBench()
    const meanwhile = {
      evaluate: async () => {
        await other.ask('sign', body)
        return new Uint8Array(32)
      },
    }
    const bench = signerBench({ store: other.store, evaluator: meanwhile })
    const reply = await bench.ask('sign', body)
    expect(reply).toMatchObject({ status: 200, body: { status: { counter: 1 } } })
  })

  test('a store that is down keeps secrets closed: 503', async () => {
    const down = new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'store', rule: 'must answer' })
    const { store } = signerBench()
    const bench = signerBench({ store: { ...store, transact: () => Promise.reject(down) } })
    const reply = await bench.ask('sign', requestFor(sample))
    expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    expect(bench.evaluations()).toBe(0)
  })
})

describe('what is kept and told', () => {
  test('the audit stream names domains by hash, and holds no message, signature or session', async () => {
    const sample = samples('audit')['peppered']
    const bench = signerBench()
    const body = requestFor(sample, { session: 'my session' })
    const { signature } = (await bench.ask('sign', body)).body
    await bench.ask('sign', body)
    await bench.ask('disable', requestFor(sample, { endpoint: 'disable' }))
    const entries = await bench.store.read(AUDIT_STREAM, 0, 10)
    expect(entries.map(({ entry }) => JSON.parse(entry).event)).toEqual(['signed', 'disabled'])
    const text = JSON.stringify(entries)
    for (const secret of ['my session', blindedMessage, `${signature}`]) {
      expect(text).not.toContain(secret)
    }
  })

  test('observers hear of each answer, and whether it was charged', async () => {
    const sample = samples('events')['linear backoff']
    const bench = signerBench()
    const body = requestFor(sample, { session: 'a' })
    await bench.ask('sign', body)
    await bench.ask('sign', body)
    await bench.ask('disable', body)
    expect(bench.events.map(({ outcome }) => outcome)).toEqual([
      'signed',
      'retried',
      'ENDPOINT_UNSUPPORTED',
    ])
  })

  test('only the last 64 answers can be retried', async () => {
    const bench = signerBench()
    const uncapped = { domain: { cap: { defined: false, value: 0 } } }
    const sample = varied(samples('x')['peppered'], uncapped)
    const bodies = Array.from({ length: 65 }, (_, i) => requestFor(sample, { session: `s${i}` }))
    for (const body of bodies) await bench.ask('sign', body)
    await bench.ask('sign', bodies[1])
    expect(bench.events.at(-1)?.outcome).toBe('retried')
    await bench.ask('sign', bodies[0])
    expect(bench.events.at(-1)?.outcome).toBe('signed')
  })
})

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

test('whoever the source names may sign for an account, and nobody else', async () => {
  const sample = samples('phone')['phone number']
  const signersOf = async () => [addressOfKey(strangerKey)]
  const phoneQuota = { totalOf: async () => 1, signersOf }
  const bench = signerBench({ kinds: { phoneQuota } })
  expect((await bench.ask('sign', requestFor(sample, { key: strangerKey }))).status).toBe(200)
  const third = new Uint8Array(32).fill(3)
  expect((await bench.ask('sign', requestFor(sample, { key: third }))).status).toBe(401)
})
