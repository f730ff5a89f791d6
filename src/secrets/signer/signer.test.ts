/** What a signer survives, what it keeps and what it reports. */

import { describe, expect, test } from 'vitest'
import { everything } from '../../../test/support/everything.ts'
import { blindedMessage, requestFor } from '../../../test/support/odis-requests.ts'
import { samples } from '../../../test/support/odis-samples.ts'
import { signerBench } from '../../../test/support/odis-signer.ts'
import { HeadgateError, StoreError } from '../../core/errors.ts'
import { EvaluatorError } from '../poprf/pool/evaluator.ts'
import { readAudit } from './audit.ts'

describe('faults of the signer and its store', () => {
  const sample = samples('trouble')['peppered']
  const failing = (error: Error) => ({ evaluate: () => Promise.reject(error) })

  test('a busy evaluator is 503 with Retry-After, and costs nothing', async () => {
    const busy = new EvaluatorError({ code: 'EVALUATOR_QUEUE_FULL', thing: 'evaluator', rule: 'x' })
    const bench = signerBench({ evaluator: failing(busy) })
    const reply = await bench.ask('sign', requestFor(sample))
    expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    expect(await everything(bench.store)).toEqual([])
  })

  test.each(['EVALUATOR_LOST', 'EVALUATOR_TIMEOUT'] as const)(
    'a thread that broke (%s) is 503 with Retry-After too, does not look like load, and costs nothing',
    async (code) => {
      const lost = new EvaluatorError({ code, thing: 'evaluator', rule: 'must answer' })
      const bench = signerBench({ evaluator: failing(lost) })
      const reply = await bench.ask('sign', requestFor(sample))
      expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
      expect(reply.body.error).toBe('EVALUATOR_DOWN the evaluation failed')
      expect(bench.events).toMatchObject([{ outcome: 'EVALUATOR_DOWN', fault: { code } }])
      expect(await everything(bench.store)).toEqual([])
    },
  )

  test('an evaluator that breaks is 500, reveals nothing of why, and costs nothing', async () => {
    const bench = signerBench({ evaluator: failing(new Error('secret detail')) })
    const reply = await bench.ask('sign', requestFor(sample))
    expect(reply.status).toBe(500)
    expect(JSON.stringify(reply)).not.toContain('secret detail')
    expect(bench.events.at(-1)).toMatchObject({ outcome: 'SIGNER_FAULT', status: 500 })
    expect(await everything(bench.store)).toEqual([])
  })

  test('a key that a reload takes away while a request waits evaluates nothing: 400, and it costs nothing', async () => {
    const found = [{ kind: 'single', secret: new Uint8Array(32) } as const]
    const bench = signerBench({ keys: { current: 1, find: () => found.shift() } })
    const reply = await bench.ask('sign', requestFor(sample))
    expect([reply.status, reply.body.error]).toEqual([
      400,
      expect.stringMatching(/^KEY_VERSION_INVALID /),
    ])
    expect(bench.evaluations()).toBe(0)
    expect(await everything(bench.store)).toEqual([])
  })

  test('a message that only the curve can prove wrong is 400, and costs nothing', async () => {
    const wrong = { code: 'POPRF_PROOF_INVALID', thing: 'blinded message', rule: 'must hold' }
    const bench = signerBench({ evaluator: failing(new HeadgateError(wrong)) })
    expect((await bench.ask('sign', requestFor(sample))).status).toBe(400)
    expect(await everything(bench.store)).toEqual([])
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

describe('what is kept and reported', () => {
  test('the audit stream names domains by hash, and holds no message, signature or session', async () => {
    const sample = samples('audit')['peppered']
    const bench = signerBench()
    const body = requestFor(sample, { session: 'my session' })
    const { signature } = (await bench.ask('sign', body)).body
    await bench.ask('sign', body)
    await bench.ask('disable', requestFor(sample, { endpoint: 'disable' }))
    const { entries } = await readAudit(bench.store, '', 10)
    expect(entries.map(({ event }) => event)).toEqual(['signed', 'disabled'])
    const text = JSON.stringify(entries)
    for (const secret of ['my session', blindedMessage, `${signature}`]) {
      expect(text).not.toContain(secret)
    }
  })

  test('observers get each answer, and whether it was charged', async () => {
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
})
