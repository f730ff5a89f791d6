/**
 * The order of answers, row by row, as a client sees it over HTTP. CIP-40, "HTTP Transport".
 *
 * Every row is run for every domain: where one has no quota, no nonce or no owner who may disable
 * it, the row checks what is answered instead.
 */

import { expect, test } from 'vitest'
import type { Conduct, RegistryOptions } from '../../src/secrets/index.ts'
import { everything } from './everything.ts'
import { type Answers, answersAs } from './odis-answers.ts'
import { malformed } from './odis-malformed.ts'
import { requestFor, withoutProof } from './odis-requests.ts'
import { defined, type Sample, strangerKey, varied } from './odis-samples.ts'
import { type Bench, type BenchOptions, signerBench } from './odis-signer.ts'

/** One domain under one conduct; each test opens a signer of its own. */
export interface Scene extends Answers {
  readonly sample: Sample
  readonly conduct: Conduct
  open(more?: BenchOptions): Bench
}

/** `kinds` is asked when a test runs: what it names may be started before all tests. */
export const orderOfAnswers = (
  sample: Sample,
  conduct: Conduct,
  kinds: () => RegistryOptions = () => ({}),
): void => {
  const open = (more: BenchOptions = {}) =>
    signerBench({ ...more, conduct, kinds: { ...kinds(), ...more.kinds } })
  const scene = { ...answersAs(conduct), sample, conduct, open }
  outerLimits(scene)
  unknown(scene)
  deprecated(scene)
  malformed(scene)
  keyVersions(scene)
  if (conduct === 'celo' && hasNoAddress(sample)) {
    unserved(scene)
    return
  }
  strangers(scene)
  disabled(scene)
  exactRetries(scene)
  nonces(scene)
  quota(scene)
  signatures(scene)
  quotaStatus(scene)
}

const ENDPOINTS = ['sign', 'quotaStatus', 'disable'] as const
const OPTIONAL_ENDPOINTS = ['quotaStatus', 'disable'] as const

const hasNoAddress = ({ domain }: Sample): boolean => Object(domain['address']).defined === false

const kept = ({ store }: Bench) => everything(store)

/** Makes all attempts that there are at first; their outputs. */
const useUp = async (bench: Bench, { sample, signed }: Scene): Promise<readonly string[]> => {
  const outputs: string[] = []
  for (let i = 0; i < sample.quota; i++) {
    const body = requestFor(sample, { nonce: i, session: `attempt ${i}` })
    outputs.push(signed(await bench.ask('sign', body)))
  }
  return outputs
}

function outerLimits({ sample, status, open, refused }: Scene): void {
  test(`${status('OUTER_LIMIT')} from the outer limits first: what they drop costs the domain nothing, what it refuses costs the address`, async () => {
    const bench = open({ limits: { perAddress: { count: 1, period: '1m' } } })
    refused(await bench.send('sign', Uint8Array.of(0xff)), 'MALFORMED_REQUEST')
    for (const endpoint of ENDPOINTS) {
      const body = requestFor(sample, { endpoint, nonce: 0 })
      refused(await bench.ask(endpoint, body), 'OUTER_LIMIT', { wait: 60 })
      refused(await bench.send(endpoint, Uint8Array.of(0xff)), 'OUTER_LIMIT', { wait: 60 })
    }
    expect(bench.evaluations()).toBe(0)
    expect(await kept(bench)).toEqual([])
    bench.wait(60)
    const later = await bench.ask('sign', requestFor(sample, { nonce: 0 }))
    expect(later.status).not.toBe(429)
  })
}

function unknown({ sample, status, open, refused }: Scene): void {
  test(`${status('DOMAIN_UNKNOWN')} for an unknown version and for an endpoint that the domain does not have, whatever else is wrong`, async () => {
    const bench = open()
    const domain = { ...sample.domain, version: '9' }
    for (const endpoint of ENDPOINTS) {
      refused(await bench.ask(endpoint, { domain, wrong: 1 }), 'DOMAIN_UNKNOWN')
    }
    const missing = OPTIONAL_ENDPOINTS.filter((endpoint) => !sample.endpoints.includes(endpoint))
    for (const endpoint of missing) {
      const body = requestFor(sample, { endpoint })
      refused(await bench.ask(endpoint, body), 'ENDPOINT_UNSUPPORTED')
      refused(await bench.ask(endpoint, { ...body, wrong: 1 }), 'ENDPOINT_UNSUPPORTED')
    }
  })
}

function deprecated({ sample, status, open, refused }: Scene): void {
  test(`${status('DOMAIN_DEPRECATED')} for a deprecated domain, whatever else is wrong; an endpoint that it never had is still unknown`, async () => {
    const { domain } = sample
    const gone = { name: `${domain['name']}`, version: `${domain['version']}` }
    const bench = open({ kinds: { deprecated: [gone] } })
    refused(await bench.ask('sign', requestFor(sample, { nonce: 0 })), 'DOMAIN_DEPRECATED')
    for (const endpoint of ENDPOINTS) {
      const had = sample.endpoints.includes(endpoint)
      const code = had ? 'DOMAIN_DEPRECATED' : 'ENDPOINT_UNSUPPORTED'
      refused(await bench.ask(endpoint, { domain: gone, wrong: 1 }), code)
    }
  })
}

function keyVersions({ sample, open, refused }: Scene): void {
  test('400 for a key version that is none or not here, before it is asked who sends it', async () => {
    const bench = open()
    const body = requestFor(sample, { nonce: 0, key: strangerKey })
    for (const version of ['2', 'one', '-1', '01', '1.0', '99999999999']) {
      const reply = await bench.ask('sign', body, { 'odis-key-version': version })
      refused(reply, 'KEY_VERSION_INVALID')
    }
    expect(bench.evaluations()).toBe(0)
  })
}

function unserved({ sample, open, refused }: Scene): void {
  test('401 always: the deployed service serves no domain without address', async () => {
    const bench = open()
    for (const endpoint of ENDPOINTS) {
      const reply = await bench.ask(endpoint, requestFor(sample, { endpoint, nonce: 0 }))
      refused(reply, 'UNAUTHENTICATED')
    }
    expect(bench.evaluations()).toBe(0)
    expect(await kept(bench)).toEqual([])
  })
}

function strangers({ sample, open, refused, signed }: Scene): void {
  if (sample.proof === undefined) {
    test('no 401: anyone may ask', async () => {
      signed(await open().ask('sign', withoutProof(sample, { nonce: 0 })))
    })
    return
  }
  test('401 for a stranger and without a signature, at every endpoint', async () => {
    const bench = open()
    for (const endpoint of sample.endpoints) {
      const asked = { endpoint, nonce: 0 }
      const byStranger = requestFor(sample, { ...asked, key: strangerKey })
      refused(await bench.ask(endpoint, byStranger), 'UNAUTHENTICATED')
      refused(await bench.ask(endpoint, withoutProof(sample, asked)), 'UNAUTHENTICATED')
    }
    expect(bench.evaluations()).toBe(0)
    expect(await kept(bench)).toEqual([])
  })
}

function disabled(scene: Scene): void {
  const { sample, status, open, refused, signed } = scene
  const has = sample.endpoints.includes('disable')
  if (has && sample.proof !== undefined) {
    disabling(scene)
    return
  }
  test(`no ${status('DOMAIN_DISABLED')} for a disabled domain: it has no owner to disable it`, async () => {
    const bench = open()
    const disable = requestFor(sample, { endpoint: 'disable' })
    refused(await bench.ask('disable', disable), has ? 'UNAUTHENTICATED' : 'ENDPOINT_UNSUPPORTED')
    signed(await bench.ask('sign', requestFor(sample, { nonce: 0 })))
  })
}

function disabling({ sample, conduct, status, open, refused, signed, reported }: Scene): void {
  test(`${status('DOMAIN_DISABLED')} once it is disabled, for good, also for an exact retry; a stranger still gets 401`, async () => {
    const bench = open()
    const first = requestFor(sample, { nonce: 0, session: 'first' })
    signed(await bench.ask('sign', first))
    const disable = requestFor(sample, { endpoint: 'disable' })
    reported(await bench.ask('disable', disable), { disabled: true })
    const tombstone = await kept(bench)
    reported(await bench.ask('disable', disable), { disabled: true })
    const asking = requestFor(sample, { endpoint: 'quotaStatus' })
    reported(await bench.ask('quotaStatus', asking), { disabled: true })
    const next = await bench.ask('sign', requestFor(sample, { nonce: 5, session: 'next' }))
    refused(next, 'DOMAIN_DISABLED', { status: { disabled: true } })
    // As deployed, the nonce is looked at before.
    const byNonce = conduct === 'celo' && sample.nonce === 'required'
    const retry = await bench.ask('sign', first)
    const because = byNonce ? 'NONCE_INVALID' : 'DOMAIN_DISABLED'
    refused(retry, because, { status: { disabled: true } })
    const stranger = requestFor(sample, { nonce: 5, key: strangerKey })
    refused(await bench.ask('sign', stranger), 'UNAUTHENTICATED')
    expect(bench.evaluations()).toBe(1)
    expect(await kept(bench)).toEqual(tombstone)
  })
}

function exactRetries(scene: Scene): void {
  const { sample, conduct, open, refused, signed } = scene
  const first = requestFor(sample, { nonce: 0, session: 'attempt 0' })
  if (sample.quota === Number.POSITIVE_INFINITY) {
    test('200 for an exact retry, like any other request: there is nothing to charge', async () => {
      const bench = open()
      const answer = signed(await bench.ask('sign', first))
      expect(signed(await bench.ask('sign', first))).toBe(answer)
      expect(await kept(bench)).toEqual([])
    })
    return
  }
  if (conduct === 'celo' && sample.nonce === 'required') {
    test('401 for an exact retry: as deployed, its nonce is used up', async () => {
      const bench = open()
      signed(await bench.ask('sign', first))
      const before = await kept(bench)
      refused(await bench.ask('sign', first), 'NONCE_INVALID', { status: { counter: 1 } })
      expect(await kept(bench)).toEqual(before)
    })
    return
  }
  test('200 for an exact retry, alike and charged nothing, whatever is left of nonce and quota', async () => {
    const bench = open()
    const [output] = await useUp(bench, scene)
    const before = await kept(bench)
    const evaluations = bench.evaluations()
    expect(signed(await bench.ask('sign', first))).toBe(output)
    expect(bench.evaluations()).toBe(evaluations + 1)
    expect(await kept(bench)).toEqual(before)
  })
}

function nonces(scene: Scene): void {
  const { sample, conduct, open, refused, signed } = scene
  if (sample.nonce === 'none') {
    test('no 401 for a nonce: the domain has none, and one that is sent is a field too many', async () => {
      const bench = open()
      const body = requestFor(sample)
      const options = { ...Object(body['options']), nonce: defined(0) }
      const reply = await bench.ask('sign', { ...body, options })
      if (conduct === 'celo') signed(reply)
      else refused(reply, 'MALFORMED_REQUEST')
    })
    return
  }
  test('401 for a nonce that was used up, or is missing where it is required, before the quota is looked at', async () => {
    const bench = open()
    await useUp(bench, scene)
    const status = { counter: sample.quota }
    const used = await bench.ask('sign', requestFor(sample, { nonce: 0, session: 'used' }))
    refused(used, 'NONCE_INVALID', { status })
    const missing = await bench.ask('sign', requestFor(sample, { session: 'missing' }))
    refused(missing, sample.nonce === 'required' ? 'NONCE_INVALID' : 'OVER_QUOTA', { status })
    expect(bench.evaluations()).toBe(sample.quota)
  })
}

function quota(scene: Scene): void {
  const { sample, open, signed } = scene
  if (sample.closed !== undefined) {
    const closed = varied(sample, { domain: sample.closed })
    test('429 before its time, with Retry-After', async () => {
      const bench = open()
      await overUntil(bench, scene, requestFor(closed, { session: 'over' }))
      expect(await kept(bench)).toEqual([])
    })
    return
  }
  if (sample.quota === Number.POSITIVE_INFINITY) {
    test('no 429: nothing is counted, and nothing is kept', async () => {
      const bench = open()
      for (let i = 0; i < 5; i++) {
        signed(await bench.ask('sign', requestFor(sample, { session: `attempt ${i}` })))
      }
      expect(await kept(bench)).toEqual([])
    })
    return
  }
  test('429 when the quota is used up, with Retry-After where waiting helps', async () => {
    const bench = open()
    await useUp(bench, scene)
    await overUntil(bench, scene, requestFor(sample, { nonce: sample.quota, session: 'over' }))
  })
}

/** Over the quota until the last second of the wait, if there is any; then signed. */
async function overUntil(
  bench: Bench,
  { sample: { wait }, refused, signed }: Scene,
  body: object,
): Promise<void> {
  const before = bench.evaluations()
  const status = { disabled: false }
  refused(await bench.ask('sign', body), 'OVER_QUOTA', {
    status,
    ...(wait === undefined ? {} : { wait }),
  })
  expect(bench.evaluations()).toBe(before)
  if (wait === undefined) return
  bench.wait(wait - 1)
  refused(await bench.ask('sign', body), 'OVER_QUOTA', { status, wait: 1 })
  bench.wait(1)
  signed(await bench.ask('sign', body))
}

function signatures({ sample, open, signed }: Scene): void {
  const ask = async (asked: Sample, nonce = 0, session = '', headers = {}): Promise<string> =>
    signed(await open().ask('sign', requestFor(asked, { nonce, session }), headers))

  test('200 else: options, session and key version by default or by name never change the output', async () => {
    const output = await ask(sample)
    expect(await ask(sample, 1, 'another')).toBe(output)
    for (const version of ['', 'undefined', ' 1 ', '1']) {
      expect(await ask(sample, 0, '', { 'odis-key-version': version })).toBe(output)
    }
    for (const options of sample.otherOptions) {
      expect(await ask(varied(sample, options))).toBe(output)
    }
  })

  test('200 else: each change of the domain changes the output', async () => {
    const outputs = [await ask(sample)]
    for (const change of sample.changes) outputs.push(await ask(varied(sample, change)))
    expect(new Set(outputs).size).toBe(1 + sample.changes.length)
    const changed = sample.changes.flatMap(({ domain = {} }) => Object.keys(domain))
    const { name: _name, version: _version, ...others } = sample.domain
    expect(new Set(changed)).toEqual(new Set(Object.keys(others)))
  })
}

function quotaStatus({ sample, open, refused, reported }: Scene): void {
  const has = sample.endpoints.includes('quotaStatus')
  test(
    has ? 'the quota can be asked for, and asking changes nothing' : 'there is no quota to ask for',
    async () => {
      const bench = open()
      const reply = await bench.ask('quotaStatus', requestFor(sample, { endpoint: 'quotaStatus' }))
      if (has) reported(reply, { disabled: false })
      else refused(reply, 'ENDPOINT_UNSUPPORTED')
      expect(await kept(bench)).toEqual([])
    },
  )
}
