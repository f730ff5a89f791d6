import type { FastifyInstance } from 'fastify'
import { describe, expect, test } from 'vitest'
import { testServer } from '../../../test/support/headgate.ts'
import { testSubjects } from '../../../test/support/subjects.ts'
import type { Clock } from '../../core/time.ts'
import {
  createRatesClient,
  generateIdentity,
  type Identity,
  MAX_UCAN_MESSAGE_BYTES,
  parseIdentity,
} from '../../subjects/index.ts'
import { MAX_UCAN_BYTES } from '../app/bounds.ts'

const CAR = { 'content-type': 'application/vnd.ipld.car', host: 'localhost' }

const open = (identity: Identity = generateIdentity()) => {
  const { app, headgate, clock } = testServer({ subjects: testSubjects(identity) })
  return { app, headgate, rates: ratesOver(app, identity, clock) }
}

/** The client of the service, over the routes of a server that does not listen. */
const ratesOver = (app: FastifyInstance, key: Identity, clock: Clock) => {
  const fetch: typeof globalThis.fetch = async (_, init) => {
    const payload = init?.body instanceof Uint8Array ? Buffer.from(init.body) : Buffer.alloc(0)
    const { statusCode, rawPayload } = await app.inject({
      method: 'POST',
      url: '/ucan',
      headers: { ...CAR, accept: CAR['content-type'] },
      payload,
    })
    return new Response(Uint8Array.from(rawPayload), { status: statusCode })
  }
  const serviceKey = key.keyDid
  return createRatesClient({
    url: 'http://localhost/ucan',
    key,
    provider: key.did,
    serviceKey,
    fetch,
    clock,
  })
}

const post = (app: FastifyInstance, payload: Buffer, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url: '/ucan', headers: { ...CAR, ...headers }, payload })

describe('POST /ucan', () => {
  test('does what a proven invocation asks, without a token where tokens are configured', async () => {
    const { headgate, rates } = open()
    const sha256 = 'a'.repeat(64)
    headgate.tokenList = [{ name: 'frontend', sha256, scopes: ['decide'] }]
    const { ok } = await rates.add({ subject: 'a.test', rate: 0 })
    expect(ok?.['id']).toEqual(expect.any(String))
  })

  test('a block refuses here when its receipt has left, and its end admits again', async () => {
    const { app, headgate, rates } = open()
    await headgate.subjects?.gate.catchUp()
    const reason = async () => {
      const payload = { limit: 'PerKey', id: 'ann', subjects: ['ann@a.test'], mode: 'check' }
      return (await app.inject({ method: 'POST', url: '/v1/spend', payload })).json().reason
    }
    for (let round = 0; round < 20; round++) {
      const { ok } = await rates.add({ subject: 'a.test', rate: 0 })
      expect(await reason()).toBe('BLOCKED')
      await rates.remove(String(ok?.['id']))
      expect(await reason()).toBeUndefined()
    }
  })

  test('asks for the name of this machine in Host as long as there are no tokens', async () => {
    const { app } = open()
    const reply = await post(app, Buffer.alloc(0), { host: 'evil.example' })
    expect(reply.statusCode).toBe(403)
    expect(reply.headers['content-type']).toBe('text/plain; charset=utf-8')
  })

  test('takes CARs only, of a bounded size, and says so in plain text', async () => {
    const { app } = open()
    const json = await post(app, Buffer.from('{}'), { 'content-type': 'application/json' })
    expect([json.statusCode, json.body]).toEqual([
      415,
      'the content-type must be application/vnd.ipld.car\n',
    ])
    const large = await post(app, Buffer.alloc(MAX_UCAN_BYTES + 1))
    expect([large.statusCode, large.body]).toEqual([413, 'the body holds at most 131072 bytes\n'])
    const broken = await post(app, Buffer.from('not a CAR'))
    expect(broken.statusCode).toBe(400)
    expect(broken.headers['content-type']).toBe('text/plain; charset=utf-8')
  })

  test('has the bound of the service itself', () => {
    expect(MAX_UCAN_BYTES).toBe(MAX_UCAN_MESSAGE_BYTES)
  })

  test('answers other methods 405', async () => {
    const { app } = open()
    const reply = await app.inject('/ucan')
    expect([reply.statusCode, reply.headers['allow']]).toEqual([405, 'POST'])
  })
})

describe('GET /.well-known/did.json', () => {
  test('shows the DID of the service and its public key, and nothing secret', async () => {
    const identity = parseIdentity(generateIdentity().secret, 'did:web:headgate.example')
    const reply = await open(identity).app.inject('/.well-known/did.json')
    expect(reply.json()).toMatchObject({
      id: 'did:web:headgate.example',
      verificationMethod: [{ publicKeyMultibase: identity.keyDid.slice('did:key:'.length) }],
    })
    expect(reply.body).not.toContain(identity.secret)
  })
})

describe('where subjects are off', () => {
  test('every route of theirs is 404 with the code SUBJECTS_OFF', async () => {
    const { app } = testServer()
    for (const url of ['/.well-known/did.json', '/v1/subjects/a.test']) {
      const reply = await app.inject(url)
      expect([reply.statusCode, reply.json().code]).toEqual([404, 'SUBJECTS_OFF'])
    }
    const reply = await post(app, Buffer.alloc(0))
    expect([reply.statusCode, reply.body]).toEqual([404, expect.stringContaining('subjects: are')])
  })

  test('a charge that names subjects is refused as a mistake', async () => {
    const { app } = testServer()
    const payload = { limit: 'PerKey', id: 'ann', subjects: ['a.test'] }
    const reply = await app.inject({ method: 'POST', url: '/v1/spend', payload })
    expect([reply.statusCode, reply.json().code]).toEqual([400, 'SUBJECTS_UNSUPPORTED'])
  })
})
