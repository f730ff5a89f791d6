import { describe, expect, test } from 'vitest'
import { POST } from '../../../test/support/ucan.ts'
import { instant } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { createRatesClient, type RatesClientOptions } from './client.ts'
import { delegate } from './delegate.ts'
import { generateIdentity, type Identity, parseIdentity } from './identity.ts'
import { inspectProof } from './proof-file.ts'
import { createUcanService } from './service.ts'

const open = (identity: Identity = generateIdentity()) => {
  const service = createUcanService({ store: memory(), identity })
  const fetch: typeof globalThis.fetch = async (_, init) => {
    const body = init?.body instanceof Uint8Array ? init.body : new Uint8Array()
    const { status, body: reply, headers } = await service.handle({ ...POST, body })
    return new Response(Uint8Array.from(reply), { status, headers })
  }
  const client = (options: Pick<RatesClientOptions, 'key'> & Partial<RatesClientOptions>) =>
    createRatesClient({ url: 'https://example.com/ucan', fetch, ...options })
  return { identity, client, fetch }
}

test('the owner’s key alone does everything', async () => {
  const { identity, client } = open()
  const rates = client({ key: identity })
  const added = await rates.add({ subject: 'a.test', rate: 0, label: 'fraud' })
  expect((await rates.get(String(added.ok?.['id']))).ok?.['label']).toBe('fraud')
  expect((await rates.list('a.test')).ok?.['limits']).toHaveLength(1)
  await rates.set({ subject: 'a.test', rate: 0, label: 'fraud' })
  expect((await rates.query({ prefix: 'a' })).ok?.['rates']).toHaveLength(1)
  expect((await rates.history()).ok?.['entries']).toHaveLength(2)
  expect((await rates.remove('nothing')).error?.name).toBe('RateLimitsNotFound')
})

describe('with a proof', () => {
  test('an agent does what the proof allows, until it is revoked', async () => {
    const { identity, client } = open()
    const agent = generateIdentity()
    const proof = await delegate({
      from: identity,
      to: agent.did,
      can: 'rate-limit/add',
      caveats: { subject: 'a.test' },
      expiresAt: 'never',
    })
    const rates = client({ key: agent, proofs: [proof.bytes] })
    expect(rates.provider).toBe(identity.did)
    expect((await rates.add({ subject: 'a.test', rate: 0 })).error).toBeUndefined()
    expect((await rates.add({ subject: 'b.test', rate: 0 })).error?.name).toBe('Unauthorized')
    expect((await client({ key: identity }).revoke(proof.bytes)).error).toBeUndefined()
    expect((await rates.add({ subject: 'a.test', rate: 0 })).error?.message).toContain('revoked')
  })

  test('an agent hands its right on, offline', async () => {
    const { identity, client } = open()
    const [lead, helper] = [generateIdentity(), generateIdentity()]
    const expiresAt = 'never'
    const first = await delegate({ from: identity, to: lead.did, can: 'rate-limit/*', expiresAt })
    const second = await delegate({
      from: lead,
      to: helper.did,
      can: 'rate-limit/list',
      provider: identity.did,
      expiresAt,
      proofs: [first.bytes],
    })
    const rates = client({ key: helper, proofs: [second.bytes] })
    expect((await rates.list('a.test')).ok).toEqual({ limits: [] })
    expect((await rates.add({ subject: 'a.test', rate: 0 })).error?.name).toBe('Unauthorized')

    const owner = client({ key: identity })
    expect((await owner.revoke(second.bytes, first.cid)).error).toBeUndefined()
    expect((await rates.list('a.test')).error?.message).toContain(`${first.cid} has been revoked`)
    await expect(owner.revoke(second.bytes, 'bafynothing')).rejects.toMatchObject({
      code: 'PROOF_INVALID',
    })
  })

  test('a proof shows what it allows', async () => {
    const { identity } = open()
    const expiresAt = instant(4_000_000_000_999_999)
    const to = generateIdentity().did
    const proof = await delegate({ from: identity, to, can: 'rate-limit/*', expiresAt })
    expect(inspectProof(proof.bytes)).toMatchObject({
      cid: proof.cid,
      issuer: identity.did,
      audience: to,
      capabilities: [{ can: 'rate-limit/*', with: identity.did }],
      expires: 4_000_000_000,
    })
  })
})

describe('mistakes', () => {
  test.each([
    ['a receiver that is no DID', { to: 'alice' }],
    ['an ability that the service has not', { can: 'rate-limit/destroy' }],
    ['a proof that is no CAR', { proofs: [Uint8Array.of(1)] }],
  ])('%s', async (_, wrong) => {
    const from = generateIdentity()
    const options = {
      from,
      to: from.did,
      can: 'rate-limit/add',
      expiresAt: 'never',
      ...wrong,
    } as const
    await expect(delegate(options)).rejects.toMatchObject({ code: 'PROOF_INVALID' })
  })

  test('an address where nothing answers', async () => {
    const fetch = () => Promise.reject(new TypeError('no route'))
    const rates = createRatesClient({ url: 'https://x.test', key: generateIdentity(), fetch })
    await expect(rates.list('a.test')).rejects.toMatchObject({ code: 'SERVICE_UNREACHABLE' })
  })

  test('an answer that another service signed', async () => {
    const { identity } = open()
    const named = parseIdentity(identity.secret, 'did:web:example.com')
    const web = open(named)
    const options = { url: 'https://x.test', key: named, serviceKey: generateIdentity().did }
    const rates = createRatesClient({ ...options, fetch: web.fetch })
    await expect(rates.list('a.test')).rejects.toMatchObject({ code: 'RECEIPT_INVALID' })
  })
})
