/** The published clients of the w3 Rate Limit Protocol, unmodified, over HTTP. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateIdentity, parseIdentity } from '../../src/subjects/index.ts'
import type * as Clients from './clients.js'
import { HOSTS, type Host, openHost } from './hosts.ts'
import { install } from './install.ts'

const PACKAGES = ['@web3-storage/capabilities', '@storacha/capabilities']
const NAMES = [undefined, 'did:web:headgate.example']

let clients: typeof Clients

beforeAll(async () => {
  install('')
  clients = await import('./clients.js')
}, 300_000)

const CASES = PACKAGES.flatMap((name) =>
  NAMES.flatMap((did) => HOSTS.map((host) => [name, did, host] as const)),
)

describe.each(CASES)('%s asks a service under %s: %s', (name, did, host) => {
  const identity = parseIdentity(generateIdentity().secret, did)
  let http: Host
  let asked = 0

  beforeAll(async () => {
    http = await openHost(host, identity)
  })
  afterAll(() => http.close())

  const scene = async () => {
    const capabilities = clients.PUBLISHED[name]
    if (capabilities === undefined) throw new Error(`${name} is not installed`)
    const owner = clients.keyOf(identity.secret, identity.did)
    const agent = await clients.newKey()
    const connection = clients.connectTo(http.url, identity.did)
    const audience = { did: () => identity.did }
    const terms = { issuer: agent, audience, with: identity.did }

    const ask = async (
      what: 'add' | 'list' | 'remove',
      nb: object,
      more: Partial<Clients.Terms> = {},
    ): Promise<Clients.Outcome> => {
      asked += 1
      const invocation = capabilities[what].invoke({ ...terms, nb, nonce: `${asked}`, ...more })
      const receipt = await invocation.execute(connection)
      expect(await receipt.verifySignature(owner)).toEqual({ ok: {} })
      return receipt.out
    }

    const grant = (more: Partial<Clients.Terms> & { can?: string } = {}) => {
      const { can = 'rate-limit/*', nb, with: resource = identity.did, ...rest } = more
      const capability = { can, with: resource, ...(nb === undefined ? {} : { nb }) }
      const expiration = Math.floor(Date.now() / 1_000) + 600
      const parties = { issuer: owner, audience: agent, expiration }
      return clients.delegate({ ...parties, capabilities: [capability], ...rest })
    }
    return { ask, grant, owner, agent, connection, capabilities, audience }
  }

  test('add answers an id, list shows it, remove removes it', async () => {
    const { ask, grant } = await scene()
    const proofs = [await grant()]
    const subject = `${Math.random()}.test`
    const added = await ask('add', { subject, rate: 0 }, { proofs })
    const id = added.ok?.['id']
    expect(id).toEqual(expect.any(String))
    const listed = await ask('list', { subject }, { proofs })
    expect(listed.ok?.['limits']).toMatchObject([{ id, rate: 0, limit: 0 }])
    expect(await ask('remove', { id }, { proofs })).toEqual({ ok: {} })
    expect((await ask('list', { subject }, { proofs })).ok?.['limits']).toEqual([])
  })

  test('two limits on one subject live side by side', async () => {
    const { ask, owner: issuer } = await scene()
    const subject = 'did:mailto:example.com:travis'
    await ask('add', { subject, rate: 0 }, { issuer })
    await ask('add', { subject, rate: 2 }, { issuer })
    const { ok } = await ask('list', { subject }, { issuer })
    expect(ok?.['limits']).toMatchObject([{ rate: 0 }, { rate: 2 }])
  })

  test('an unknown id is RateLimitsNotFound', async () => {
    const { ask, owner: issuer } = await scene()
    const { error } = await ask('remove', { id: 'nothing' }, { issuer })
    expect(error?.name).toBe('RateLimitsNotFound')
  })

  test('rate-limit/* is delegated, but refused when it is invoked itself', async () => {
    const { grant, agent, audience, connection } = await scene()
    const proofs = [await grant()]
    const capability = { can: 'rate-limit/*', with: identity.did }
    const invocation = clients.invokeByName({ issuer: agent, audience, capability, proofs })
    const { out } = await invocation.execute(connection)
    expect(out.error?.name).toBe('HandlerNotFound')
  })

  test('a narrowed delegation serves for its subject and for no other', async () => {
    const { ask, agent, owner: issuer, capabilities } = await scene()
    const nb = { subject: 'example.com' }
    const narrowed = { issuer, audience: agent, with: identity.did, nb }
    const proofs = [await capabilities.add.delegate(narrowed)]
    expect((await ask('add', { ...nb, rate: 0 }, { proofs })).error).toBeUndefined()
    const other = await ask('add', { subject: 'different.example.com', rate: 0 }, { proofs })
    expect(other.error?.name).toBe('Unauthorized')
    expect(other.error?.message).toContain(
      'different.example.com violates imposed subject constraint example.com',
    )
  })

  test('expired, not yet valid, or without a delegation: Unauthorized', async () => {
    const { ask, grant } = await scene()
    const now = Math.floor(Date.now() / 1_000)
    const nb = { subject: 'example.com', rate: 0 }
    const expired = await ask('add', nb, { proofs: [await grant({ expiration: now - 1 })] })
    expect([expired.error?.name, expired.error?.message]).toEqual([
      'Unauthorized',
      expect.stringContaining('expired'),
    ])
    const early = await ask('add', nb, { proofs: [await grant({ notBefore: now + 300 })] })
    expect([early.error?.name, early.error?.message]).toEqual([
      'Unauthorized',
      expect.stringContaining('not valid before'),
    ])
    expect((await ask('add', nb)).error?.name).toBe('Unauthorized')
  })

  test('another audience: InvalidAudience', async () => {
    const { ask, owner: issuer } = await scene()
    const audience = await clients.newKey()
    const { error } = await ask('list', { subject: 'example.com' }, { issuer, audience })
    expect(error?.name).toBe('InvalidAudience')
  })

  test('another provider, even one’s own: Unauthorized', async () => {
    const { ask, agent } = await scene()
    const { error } = await ask('add', { subject: 'x', rate: 0 }, { with: agent.did() })
    expect(error?.name).toBe('Unauthorized')
  })

  test('a delegation that a foreign key issued: Unauthorized', async () => {
    const { ask, grant } = await scene()
    const proofs = [await grant({ issuer: await clients.newKey() })]
    expect((await ask('list', { subject: 'x' }, { proofs })).error?.name).toBe('Unauthorized')
  })

  test('a revoked delegation: Unauthorized', async () => {
    const { ask, grant, owner, audience, connection, capabilities } = await scene()
    const proof = await grant()
    const proofs = [proof]
    expect((await ask('list', { subject: 'x' }, { proofs })).error).toBeUndefined()
    const nb = { ucan: proof.cid }
    const revocation = capabilities.revoke.invoke({
      issuer: owner,
      audience,
      with: owner.did(),
      nb,
    })
    for (const block of proof.iterateIPLDBlocks()) revocation.attach(block)
    expect((await revocation.execute(connection)).out.error).toBeUndefined()
    const { error } = await ask('list', { subject: 'x' }, { proofs })
    expect([error?.name, error?.message]).toEqual([
      'Unauthorized',
      expect.stringContaining('revoked'),
    ])
  })
})
