/** The order of answers, row by row, over HTTP, for every domain and both conducts. CIP-40, "HTTP Transport". */
import { describe, expect, test } from 'vitest'
import {
  none,
  registry,
  requestFor,
  type Sample,
  samples,
  strangerKey,
} from '../../test/support/odis-requests.ts'
import { signerBench } from '../../test/support/odis-signer.ts'
import { seconds } from '../core/index.ts'
import type { Conduct } from './claim.ts'
import { domainRegistry } from './index.ts'

const CONDUCTS: readonly Conduct[] = ['cip40', 'celo']
const row = (conduct: Conduct, cip40: number, celo: number) => (conduct === 'celo' ? celo : cip40)

for (const conduct of CONDUCTS) {
  describe(`as ${conduct}`, () => {
    for (const [name, sample] of Object.entries(samples('rows'))) {
      const served = !(conduct === 'celo' && name.includes('without address'))
      describe(name, () => (served ? rows(sample, conduct) : unserved(sample)))
    }
  })
}

function unserved(sample: Sample): void {
  test('is always 401: the deployed service serves no domain without address', async () => {
    const bench = signerBench({ conduct: 'celo' })
    for (const endpoint of ['sign', 'quotaStatus', 'disable'] as const) {
      const reply = await bench.ask(endpoint, requestFor(sample, { endpoint }))
      expect(reply).toMatchObject({ status: 401, body: { success: false } })
    }
    expect(bench.evaluations()).toBe(0)
  })
}

function rows(sample: Sample, conduct: Conduct): void {
  const counted = Number.isFinite(sample.quota)

  test('429 by the outer limit, which is asked before the body is read and costs the domain nothing', async () => {
    let asked = 0
    const outerLimit = async () => {
      asked += 1
      return { allowed: false as const, retryIn: seconds(7) }
    }
    const bench = signerBench({ conduct, outerLimit })
    const reply = await bench.raw('/domain/sign', new Uint8Array([0xff]))
    expect(reply).toMatchObject({ status: 429, headers: { 'retry-after': '7' } })
    await bench.ask('sign', requestFor(sample, { nonce: 0 }))
    expect(asked).toBe(2)
    expect(await bench.store.scan('', 10)).toEqual([])
  })

  test('unknown version, then an endpoint it does not have, then malformed', async () => {
    const bench = signerBench({ conduct })
    const unknown = { ...requestFor(sample), domain: { ...sample.domain, version: '9' }, wrong: 1 }
    expect((await bench.ask('sign', unknown)).status).toBe(row(conduct, 404, 400))
    if (!sample.disable && !sample.domain['stages']) {
      const reply = await bench.ask('disable', {})
      expect(reply.status).toBe(400)
      const named = await bench.ask('disable', { domain: sample.domain })
      expect(named.status).toBe(row(conduct, 404, 400))
    }
    const extra = { ...requestFor(sample), extra: true }
    expect((await bench.ask('sign', extra)).status).toBe(400)
  })

  test('deprecated: gone, before anything else in the request is looked at', async () => {
    const { name, version } = sample.domain
    const gone = { name: String(name), version: String(version) }
    const old = domainRegistry({
      deprecated: [gone],
      phoneQuota: { totalOf: async () => 1 },
    })
    const bench = signerBench({ conduct, registry: old })
    const reply = await bench.ask('sign', { domain: sample.domain })
    expect(reply.status).toBe(row(conduct, 410, 400))
  })

  test('400 for an unknown or malformed key version, before the signature', async () => {
    const bench = signerBench({ conduct })
    const body = requestFor(sample, { key: strangerKey })
    for (const version of ['2', 'one', '-1', '01', '1.0', '99999999999']) {
      const reply = await bench.ask('sign', body, { 'odis-key-version': version })
      expect(reply.status, version).toBe(400)
    }
  })

  test('an absent key version is the current one, and the answer names it', async () => {
    const bench = signerBench({ conduct })
    for (const [i, version] of ['', 'undefined', ' 1 ']
      .slice(0, Math.min(sample.quota, 3))
      .entries()) {
      const body = requestFor(sample, { nonce: i, session: `v${i}` })
      const reply = await bench.ask('sign', body, { 'odis-key-version': version })
      expect(reply).toMatchObject({ status: 200, headers: { 'odis-key-version': '1' } })
    }
  })

  if (sample.signature !== undefined) {
    test('401 for a stranger, and for no signature', async () => {
      const bench = signerBench({ conduct })
      const endpoints = ['sign', 'quotaStatus', 'disable'] as const
      for (const endpoint of endpoints.filter((each) => each !== 'disable' || sample.disable)) {
        const body = requestFor(sample, { endpoint, nonce: 0, key: strangerKey })
        expect(await bench.ask(endpoint, body)).toMatchObject({
          status: 401,
          body: { success: false },
        })
      }
      const asked = requestFor(sample, { nonce: 0 })
      const options = { ...Object(asked['options']), ...blank(sample) }
      expect((await bench.ask('sign', { ...asked, options })).status).toBe(401)
      expect(bench.evaluations()).toBe(0)
    })
  }

  if (sample.disable) {
    test('disabled for good: 403 (or 429), also for an exact retry', async () => {
      const bench = signerBench({ conduct })
      const first = requestFor(sample, { nonce: 0, session: 'first' })
      expect((await bench.ask('sign', first)).status).toBe(200)
      const disabled = await bench.ask('disable', requestFor(sample, { endpoint: 'disable' }))
      expect(disabled).toMatchObject({ status: 200, body: { status: { disabled: true } } })
      const again = await bench.ask('disable', requestFor(sample, { endpoint: 'disable' }))
      expect(again).toMatchObject({ status: 200, body: { status: { disabled: true } } })
      const status = await bench.ask('quotaStatus', requestFor(sample, { endpoint: 'quotaStatus' }))
      expect(status).toMatchObject({ status: 200, body: { status: { disabled: true } } })
      const next = await bench.ask('sign', requestFor(sample, { nonce: 5, session: 'next' }))
      expect(next.status).toBe(row(conduct, 403, 429))
      expect(next.headers).not.toHaveProperty('retry-after')
      const retry = await bench.ask('sign', first)
      expect(retry.status).toBe(sample.nonce ? row(conduct, 403, 401) : row(conduct, 403, 429))
      expect(bench.evaluations()).toBe(1)
      expect(await bench.store.scan('', 10)).toHaveLength(1)
    })
  }

  if (counted) {
    test('an exact retry is answered alike and charged nothing', async () => {
      const bench = signerBench({ conduct })
      const first = requestFor(sample, { nonce: 0, session: 'first' })
      const answer = await bench.ask('sign', first)
      const before = await bench.store.scan('', 10)
      const retry = await bench.ask('sign', first)
      if (sample.nonce && conduct === 'celo') {
        expect(retry.status).toBe(401)
      } else {
        expect(retry).toMatchObject({ status: 200, body: { signature: answer.body.signature } })
      }
      expect(await bench.store.scan('', 10)).toEqual(before)
    })
  }

  if (sample.nonce) {
    test('401 for a nonce that was used up, or is missing, with the status', async () => {
      const bench = signerBench({ conduct })
      await bench.ask('sign', requestFor(sample, { nonce: 0, session: 'first' }))
      for (const nonce of [0, undefined]) {
        const asked = nonce === undefined ? { session: 'x' } : { nonce, session: 'x' }
        const reply = await bench.ask('sign', requestFor(sample, asked))
        expect(reply).toMatchObject({ status: 401, body: { status: { counter: 1 } } })
      }
      expect(bench.evaluations()).toBe(1)
    })
  }

  if (counted) {
    test('429 when the quota is used up, with Retry-After where waiting helps', async () => {
      const bench = signerBench({ conduct })
      for (let i = 0; i < sample.quota; i++) {
        const reply = await bench.ask('sign', requestFor(sample, { nonce: i, session: `s${i}` }))
        expect(reply).toMatchObject({ status: 200, body: { success: true } })
      }
      const over = requestFor(sample, { nonce: sample.quota, session: 'over' })
      const refused = await bench.ask('sign', over)
      expect(refused).toMatchObject({ status: 429, body: { success: false } })
      expect(refused.headers['retry-after']).toBe(
        sample.wait === undefined ? undefined : `${sample.wait}`,
      )
      expect(bench.evaluations()).toBe(sample.quota)
      if (sample.wait === undefined) return
      bench.wait(sample.wait - 1)
      expect((await bench.ask('sign', over)).status).toBe(429)
      bench.wait(1)
      expect((await bench.ask('sign', over)).status).toBe(200)
    })
  }

  test('200: options and session never change the output, any change of the domain does', async () => {
    const bench = signerBench({ conduct })
    const one = await bench.ask('sign', requestFor(sample, { nonce: 0, session: 'one' }))
    const two = await bench.ask('sign', requestFor(sample, { nonce: 1, session: 'two' }))
    expect(two.body.signature).toBe(one.body.signature)
    const other = Object.values(samples('another salt')).find(
      ({ domain }) =>
        domain['name'] === sample.domain['name'] && domain['version'] === sample.domain['version'],
    )
    const varied = JSON.stringify(other?.domain) !== JSON.stringify(sample.domain)
    if (other === undefined || !varied) return
    const three = await bench.ask('sign', requestFor(other, { nonce: 0 }))
    expect(three).toMatchObject({ status: 200 })
    expect(three.body.signature).not.toBe(one.body.signature)
  })

  test('the quota can be asked for, and asking changes nothing', async () => {
    const bench = signerBench({ conduct })
    const body = requestFor(sample, { endpoint: 'quotaStatus' })
    const reply = await bench.ask('quotaStatus', body)
    expect(reply).toMatchObject({
      status: 200,
      body: { success: true, status: { disabled: false } },
    })
    expect(reply.body).not.toHaveProperty('signature')
    expect(await bench.store.scan('', 10)).toEqual([])
  })
}

function blank(sample: Sample): Record<string, unknown> {
  if (sample.signature === 'optional') return { signature: none('') }
  return sample.signature === 'text' ? { signature: '' } : { authorization: '' }
}

test('the sample domains are all that the registry knows, but for contracts on chains', () => {
  for (const { domain } of Object.values(samples('all'))) {
    expect(registry.find(String(domain['name']), String(domain['version']))).toBeDefined()
  }
})
