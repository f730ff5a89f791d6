import { Delegation } from '@ucanto/core'
import type { Delegation as DelegationView } from '@ucanto/interface'
import { RSA } from '@ucanto/principal'
import { describe, expect, test } from 'vitest'
import {
  fingerprintOf,
  invocationOf,
  newKey,
  POST,
  type Stage,
  send,
  sendBlocks,
  stage,
} from '../../../test/support/ucan.ts'
import { StoreError } from '../../core/errors.ts'
import { instant } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock, restlessStore } from '../../testing/index.ts'
import { createRates } from '../rates/rates.ts'
import { readArchive, toBlock, writeArchive } from './archive.ts'
import { generateIdentity, parseIdentity } from './identity.ts'
import { readReceipt, writeMessage } from './message.ts'
import { createWorkMeter } from './work.ts'

const SECOND = () => Math.floor(Date.now() / 1_000)

describe('the protocol', () => {
  test('add answers an id, list shows rate and limit, remove answers nothing', async () => {
    const { ask, owner: by } = await stage()
    const added = await ask({ can: 'rate-limit/add', nb: { subject: 'a.test', rate: 0 }, by })
    const id = added.ok?.['id']
    expect(added).toEqual({ ok: { id: expect.any(String) } })
    const listed = await ask({ can: 'rate-limit/list', nb: { subject: 'a.test' }, by })
    expect(listed).toEqual({ ok: { limits: [{ id, rate: 0, limit: 0 }] } })
    expect(await ask({ can: 'rate-limit/remove', nb: { id }, by })).toEqual({ ok: {} })
    const empty = await ask({ can: 'rate-limit/list', nb: { subject: 'a.test' }, by })
    expect(empty).toEqual({ ok: { limits: [] } })
  })

  test('remove takes a list too, all or nothing; an unknown id is RateLimitsNotFound', async () => {
    const { ask, owner: by } = await stage()
    const add = async () =>
      (await ask({ can: 'rate-limit/add', nb: { subject: 'a.test', rate: 0 }, by })).ok?.['id']
    const ids = [await add(), await add()]
    const wrong = await ask({ can: 'rate-limit/remove', nb: { id: [...ids, 'x'] }, by })
    expect(wrong.error?.name).toBe('RateLimitsNotFound')
    const both = await ask({ can: 'rate-limit/remove', nb: { id: ids }, by })
    expect(both).toEqual({ ok: {} })
  })

  test('what is set is kept with its issuer, its chain and its cause', async () => {
    const { ask, grant, agent } = await stage()
    const proof = await grant()
    const nb = {
      subject: 'a.test',
      rate: 0,
      reason: 'spam',
      label: 'fraud',
      expires: 4_000_000_000,
    }
    const { ok } = await ask({ can: 'rate-limit/add', nb, proofs: [proof] })
    const got = await ask({ can: 'rate-limit/get', nb: { id: ok?.['id'] }, proofs: [proof] })
    expect(got.ok).toMatchObject({
      ...nb,
      by: { issuer: agent.did(), chain: [fingerprintOf(proof)] },
      // The id is the time of the rate, what caused it, and where it is kept.
      cause: String(ok?.['id']).slice(12, -23),
    })
  })

  test('a reason among the facts is the reason, as published clients can send no other', async () => {
    const { ask, owner: by } = await stage()
    const facts = [{ reason: 'spam' }]
    const nb = { subject: 'a.test', rate: 0 }
    const { ok } = await ask({ can: 'rate-limit/add', nb, by, facts })
    const got = await ask({ can: 'rate-limit/get', nb: { id: ok?.['id'] }, by })
    expect(got.ok?.['reason']).toBe('spam')
  })

  test('set replaces by label, query and history show it', async () => {
    const { ask, owner: by } = await stage()
    const nb = { subject: 'a.test', rate: 0, label: 'fraud' }
    await ask({ can: 'rate-limit/set', nb, by })
    const loosened = await ask({ can: 'rate-limit/set', nb: { ...nb, rate: 1 }, by })
    expect(loosened.error?.name).toBe('RateLimitLoosened')
    const forced = await ask({ can: 'rate-limit/set', nb: { ...nb, rate: 1, force: true }, by })
    expect(forced.ok?.['replaced']).toHaveLength(1)
    const found = await ask({ can: 'rate-limit/query', nb: { label: 'fraud' }, by })
    expect(found.ok?.['rates']).toMatchObject([{ subject: 'a.test', rate: 1 }])
    const past = await ask({ can: 'rate-limit/history', nb: { subject: 'a.test' }, by })
    expect(past.ok?.['entries']).toMatchObject([{ kind: 'set' }, { kind: 'set' }])
  })

  test.each([
    ['a rate in text', 'rate-limit/add', { subject: 'a.test', rate: '0' }],
    ['no rate', 'rate-limit/add', { subject: 'a.test' }],
    ['an empty subject', 'rate-limit/add', { subject: '', rate: 0 }],
    ['an unknown field', 'rate-limit/add', { subject: 'a.test', rate: 0, max: 1 }],
    ['an empty list of ids', 'rate-limit/remove', { id: [] }],
    ['no label to replace by', 'rate-limit/set', { subject: 'a.test', rate: 0 }],
  ] as const)('%s is a MalformedCapability, and changes nothing', async (_, can, nb) => {
    const { ask, owner: by } = await stage()
    expect((await ask({ can, nb, by })).error?.name).toBe('MalformedCapability')
    expect((await ask({ can: 'rate-limit/query', by })).ok?.['rates']).toEqual([])
  })
})

describe('rights', () => {
  const add = { can: 'rate-limit/add', nb: { subject: 'a.test', rate: 0 } } as const

  test('rate-limit/* lets an agent do everything below it, and cannot itself be invoked', async () => {
    const { ask, grant } = await stage()
    const proofs = [await grant({ can: 'rate-limit/*' })]
    expect((await ask({ ...add, proofs })).error).toBeUndefined()
    expect((await ask({ can: 'rate-limit/query', proofs })).error).toBeUndefined()
    expect((await ask({ can: 'rate-limit/*', proofs })).error?.name).toBe('HandlerNotFound')
  })

  test('a right for one subject is none for another', async () => {
    const { ask, grant } = await stage()
    const proofs = [await grant({ can: 'rate-limit/add', nb: { subject: 'a.test' } })]
    expect((await ask({ ...add, proofs })).error).toBeUndefined()
    const other = await ask({ ...add, nb: { subject: 'b.test', rate: 0 }, proofs })
    expect(other.error?.name).toBe('Unauthorized')
    expect(other.error?.message).toContain('b.test violates imposed subject constraint a.test')
  })

  test('a right goes on from hand to hand, and no wider than it came', async () => {
    const { ask, grant, agent } = await stage()
    const [middle, outsider] = [await newKey(), await newKey()]
    const first = await grant({ to: middle, can: 'rate-limit/*', nb: { rate: 0 } })
    const second = await grant({ from: middle, to: agent, can: 'rate-limit/add', proofs: [first] })
    expect((await ask({ ...add, proofs: [second] })).error).toBeUndefined()
    const wider = await ask({ ...add, nb: { subject: 'a.test', rate: 1 }, proofs: [second] })
    expect(wider.error?.name).toBe('Unauthorized')
    const stolen = await ask({ ...add, by: outsider, proofs: [second] })
    expect(stolen.error?.name).toBe('Unauthorized')
  })

  test('a subject in rate-limit/* keeps a holder from removing by id, which names no subject', async () => {
    const { ask, grant } = await stage()
    const proofs = [await grant({ can: 'rate-limit/*', nb: { subject: 'a.test' } })]
    const { ok } = await ask({ ...add, proofs })
    const gone = await ask({ can: 'rate-limit/remove', nb: { id: ok?.['id'] }, proofs })
    expect(gone.error?.name).toBe('Unauthorized')
  })

  test('an unknown caveat is not ignored', async () => {
    const { ask, grant } = await stage()
    const proofs = [await grant({ can: 'rate-limit/add', nb: { maxRate: 3 } })]
    expect((await ask({ ...add, proofs })).error?.name).toBe('Unauthorized')
  })

  test.each([
    ['an expired delegation', { expiration: SECOND() - 1 }, 'expired'],
    ['a delegation that is not valid yet', { notBefore: SECOND() + 3_600 }, 'not valid before'],
  ])('%s is Unauthorized', async (_, terms, words) => {
    const { ask, grant } = await stage()
    const refused = await ask({ ...add, proofs: [await grant(terms)] })
    expect(refused.error?.name).toBe('Unauthorized')
    expect(refused.error?.message).toContain(words)
  })

  test('the time of the store decides about expiry, whatever this machine believes', async () => {
    // Ten days on by the store's clock; the validator's own clock is this machine's.
    const clock = fakeClock(instant((SECOND() + 864_000) * 1_000_000))
    const { ask, grant, owner: by } = await stage({ store: memory({ clock }) })
    const proofs = [await grant({ expiration: SECOND() + 3_600 })]
    const late = await ask({ ...add, proofs, expiration: SECOND() + 900_000 })
    expect(late.error?.message).toContain('expired')
    expect((await ask({ ...add, by, expiration: SECOND() + 900_000 })).error).toBeUndefined()
  })

  test('another audience is InvalidAudience', async () => {
    const { ask, owner: by } = await stage()
    const to = await newKey()
    expect((await ask({ ...add, by, to })).error?.name).toBe('InvalidAudience')
  })

  test('a service under did:web takes what its own key signs in that name', async () => {
    const identity = parseIdentity(generateIdentity().secret, 'did:web:example.com')
    const { ask, grant, owner } = await stage({ identity })
    expect((await ask({ ...add, by: owner })).error).toBeUndefined()
    expect((await ask({ ...add, proofs: [await grant()] })).error).toBeUndefined()
  })
})

describe('revocation', () => {
  const add = { can: 'rate-limit/add', nb: { subject: 'a.test', rate: 0 } } as const

  const chain = async () => {
    const scene = await stage()
    const middle = await newKey()
    const first = await scene.grant({ to: middle })
    const second = await scene.grant({ from: middle, to: scene.agent, proofs: [first] })
    const revoke = async (by: typeof middle, target = second) =>
      scene.ask({
        can: 'ucan/revoke',
        with: by.did(),
        nb: { ucan: target.cid },
        by,
        enclosed: [...target.iterateIPLDBlocks()],
      })
    return { ...scene, middle, first, second, revoke }
  }

  test('issuer, audience, and the issuers further up can revoke; then it is refused', async () => {
    for (const who of ['owner', 'middle', 'agent'] as const) {
      const scene = await chain()
      expect((await scene.ask({ ...add, proofs: [scene.second] })).error).toBeUndefined()
      expect((await scene.revoke(scene[who])).ok).toEqual({ time: expect.any(Number) })
      const refused = await scene.ask({ ...add, proofs: [scene.second] })
      expect(refused.error?.name).toBe('Unauthorized')
      expect(refused.error?.message).toContain('revoked')
    }
  })

  test('what is further up the chain falls with it', async () => {
    const { ask, revoke, owner, first, second } = await chain()
    await revoke(owner, first)
    expect((await ask({ ...add, proofs: [second] })).error?.name).toBe('Unauthorized')
  })

  test('the holder of a right cannot revoke the right it came from', async () => {
    const { ask, revoke, agent, first, second } = await chain()
    expect((await revoke(agent, first)).error?.name).toBe('UnauthorizedRevocation')
    expect((await ask({ ...add, proofs: [second] })).error).toBeUndefined()
  })

  test('another path serves where one was revoked', async () => {
    const { ask, grant, revoke, owner, second } = await chain()
    const direct = await grant()
    await revoke(owner, second)
    expect((await ask({ ...add, proofs: [second, direct] })).error).toBeUndefined()
  })

  test('the right to revoke can be handed on, also for one delegation only', async () => {
    const { ask, grant, owner, agent, second, first } = await chain()
    const helper = await newKey()
    const proof = await grant({ to: helper, can: 'ucan/revoke', nb: { ucan: second.cid } })
    const revoke = (target: typeof first) =>
      ask({
        can: 'ucan/revoke',
        with: owner.did(),
        nb: { ucan: target.cid },
        by: helper,
        proofs: [proof],
        enclosed: [...target.iterateIPLDBlocks()],
      })
    expect((await revoke(first)).error?.name).toBe('Unauthorized')
    expect((await revoke(second)).error).toBeUndefined()
    expect((await ask({ ...add, by: agent, proofs: [second] })).error?.name).toBe('Unauthorized')
  })

  test('a delegation that never came from this service cannot be revoked here', async () => {
    const { ask, grant } = await chain()
    const [stranger, friend] = [await newKey(), await newKey()]
    const own = await grant({ from: stranger, to: friend })
    const answer = await ask({
      can: 'ucan/revoke',
      with: stranger.did(),
      nb: { ucan: own.cid },
      by: stranger,
      enclosed: [...own.iterateIPLDBlocks()],
    })
    expect(answer.error?.name).toBe('UCANNotFound')
  })
})

describe('when the store is down', () => {
  test('every invocation is refused, and the failure is reported', async () => {
    const error = new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'store', rule: 'is up' })
    const failures: unknown[] = []
    const store = { ...memory(), transact: () => Promise.reject(error) }
    const { ask, owner: by } = await stage({
      store,
      observe: (event) => event.kind === 'store-failure' && failures.push(event.error),
    })
    const refused = await ask({ can: 'rate-limit/list', nb: { subject: 'a.test' }, by })
    expect(refused.error?.name).toBe('HandlerExecutionError')
    expect(failures).toEqual([error])
  })
})

test('steps are pure: a restless store changes no answer', async () => {
  const store = restlessStore(memory(), Math.random)
  const identity = generateIdentity()
  const { ask, owner: by } = await stage({ store, identity })
  for (let n = 0; n < 5; n++) {
    await ask({ can: 'rate-limit/add', nb: { subject: 'a.test', rate: n }, by })
  }
  const rates = createRates({ store, provider: identity.did })
  expect((await rates.list('a.test')).map(({ rate }) => rate)).toEqual([0, 1, 2, 3, 4])
})

describe('a message', () => {
  const question = { can: 'rate-limit/list', nb: { subject: 'a.test' } } as const

  const post = async (scene: Stage, invocations: readonly DelegationView[]) => {
    const blocks = invocations.flatMap((invocation) => [...invocation.iterateIPLDBlocks()])
    const body = writeMessage(
      invocations.map(({ cid }) => cid),
      blocks,
    )
    return scene.service.handle({ ...POST, body })
  }

  test('of several invocations gets a receipt for each; one that comes twice gets one', async () => {
    const scene = await stage()
    const make = () => invocationOf({ ...question, by: scene.owner }, scene.owner, scene.did)
    const [one, two] = [await make(), await make()]
    const { body } = await post(scene, [one, two, one])
    const archive = readArchive(Uint8Array.from(body), createWorkMeter())
    if ('broken' in archive) throw new Error(archive.broken)
    expect(archive.blocks.size).toBe(3)
    for (const { cid } of [one, two]) {
      expect(readReceipt(archive, cid)?.out).toEqual({ ok: { limits: [] } })
    }
  })

  test('of 33 invocations is refused whole', async () => {
    const scene = await stage()
    const make = () => invocationOf({ ...question, by: scene.owner }, scene.owner, scene.did)
    const many = await Promise.all(Array.from({ length: 33 }, make))
    expect((await post(scene, many)).status).toBe(400)
  })

  test('that is none is refused', async () => {
    const { service } = await stage()
    for (const value of [{}, { 'ucanto/message@7.0.0': { execute: ['x'] } }, 'text']) {
      const root = toBlock(value)
      const { status } = await service.handle({ ...POST, body: writeArchive(root, [root]) })
      expect(status).toBe(400)
    }
  })

  test('whose invocation is not enclosed gets a refusal', async () => {
    const scene = await stage()
    const { cid } = await invocationOf({ ...question, by: scene.owner }, scene.owner, scene.did)
    expect((await sendBlocks(scene.service, cid, [])).error?.name).toBe('Unauthorized')
  })
})

test('an invocation of two capabilities is an InvocationCapabilityError', async () => {
  const { service, owner, did } = await stage()
  const capability = { can: 'rate-limit/list', with: did, nb: { subject: 'a.test' } } as const
  const both = await Delegation.delegate({
    issuer: owner,
    audience: owner,
    capabilities: [capability, capability],
  })
  expect((await send(service, both)).error?.name).toBe('InvocationCapabilityError')
})

test('a key of another kind than Ed25519 verifies nothing', async () => {
  const { ask } = await stage()
  const by = await RSA.generate()
  const answer = await ask({ can: 'rate-limit/list', nb: { subject: 'a.test' }, by })
  expect(answer.error?.name).toBe('Unauthorized')
})

describe('HTTP', () => {
  test.each([
    ['another method', 405, { method: 'GET' }],
    ['another type', 415, { headers: { 'content-type': 'application/json' } }],
    ['a type with an inherited name', 415, { headers: { 'content-type': 'constructor' } }],
    ['another answer wanted', 406, { headers: { ...POST.headers, accept: 'text/html' } }],
    ['too large a body', 413, { body: new Uint8Array(131_073) }],
    ['no CAR', 400, { body: Uint8Array.of(1, 2, 3) }],
    ['nothing', 400, { body: new Uint8Array(0) }],
  ])('%s: %d', async (_, status, request) => {
    const { service } = await stage()
    const { status: found } = await service.handle({ ...POST, body: new Uint8Array(0), ...request })
    expect(found).toBe(status)
  })
})
