/** What those who have, or had, a right can do with it to others, to the store and to the history. */

import { CBOR, Delegation } from '@ucanto/core'
import type { Delegation as DelegationView, Signer } from '@ucanto/interface'
import { ed25519 } from '@ucanto/principal'
import { describe, expect, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { everything } from '../../../test/support/everything.ts'
import {
  fingerprintOf,
  invocationOf,
  newKey,
  type Stage,
  send,
  sendBlocks,
  stage,
} from '../../../test/support/ucan.ts'
import type { Store } from '../../core/store.ts'
import { days, instant } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock } from '../../testing/index.ts'
import { createRates } from '../rates/rates.ts'
import { fetchFrom } from '../typed-subjects.ts'
import { toBlock, writeArchive } from './archive.ts'
import { createRatesClient } from './client.ts'
import { generateIdentity, type Identity } from './identity.ts'
import { MAX_REVOCATIONS_PER_GRANT } from './revocations.ts'

const add = { can: 'rate-limit/add', nb: { subject: 'a.test', rate: 1 } } as const
const second = () => Math.floor(Date.now() / 1_000)

/** Everything in a store, the history included, as text. */
const contents = async (store: Store, { did }: Pick<Stage, 'did'>): Promise<readonly string[]> => {
  const entries = await store.read(`subjects/{${did}}/changes`, 0, 1_000)
  return [...(await everything(store)), ...entries].map((item) => JSON.stringify(item))
}

describe('a delegate who fills the list of a subject', () => {
  const fill = async (scene: Stage, proof: DelegationView, by: Signer = scene.agent) => {
    for (let count = 0; ; count++) {
      const { error } = await scene.ask({ ...add, by, proofs: [proof] })
      if (error !== undefined) return { count, error }
    }
  }

  test('stops at 20 rates, also under other keys; other grants and the service go on', async () => {
    const scene = await stage()
    const proof = await scene.grant()
    const { count, error } = await fill(scene, proof)
    expect([count, error.name]).toEqual([20, 'RateLimitsFull'])
    const puppet = await newKey()
    const handedOn = await scene.grant({ from: scene.agent, to: puppet, proofs: [proof] })
    expect((await fill(scene, handedOn, puppet)).count).toBe(0)
    const colleague = await newKey()
    const block = { ...add, nb: { subject: 'a.test', rate: 0 } } as const
    const proofs = [await scene.grant({ to: colleague })]
    expect((await scene.ask({ ...block, by: colleague, proofs })).error).toBeUndefined()
    expect((await scene.ask({ ...block, by: scene.owner })).error).toBeUndefined()
  })

  test('leaves 20 to the service and to this machine, however many grants there are', async () => {
    const store = memory()
    const identity = generateIdentity()
    const scene = await stage({ store, identity })
    let delegated = 0
    for (let n = 0; n < 5; n++) {
      delegated += (await fill(scene, await scene.grant({ expiration: second() + 600 + n }))).count
    }
    expect(delegated).toBe(80)
    const block = { ...add, nb: { subject: 'a.test', rate: 0 }, by: scene.owner } as const
    expect((await scene.ask(block)).error).toBeUndefined()
    const rates = createRates({ store, provider: identity.did })
    const local = { issuer: 'local', chain: [] }
    expect((await rates.add({ subject: 'a.test', rate: 0 }, local)).error).toBeUndefined()
  })
})

describe('a delegation in whose file forged proofs were put', () => {
  /** A delegation whose issuer names, before its right, proofs that were never signed. */
  const poisoned = async (scene: Stage) => {
    const [middle, holder] = [generateIdentity(), generateIdentity()]
    const real = await scene.grant({ to: signer(middle) })
    const model = Object(CBOR.decode(real.bytes))
    const forged = Array.from({ length: 14 }, (_, n) => toBlock({ ...model, nnc: `${n}` }))
    const junk = toBlock({ no: 'token' })
    const target = await Delegation.delegate({
      issuer: signer(middle),
      audience: signer(holder),
      capabilities: [{ can: 'rate-limit/*', with: scene.did }],
      proofs: [...[...forged, junk].map(({ cid }) => Object(cid)), real],
      expiration: Number.POSITIVE_INFINITY,
    })
    const root = toBlock({ 'ucan@0.9.1': target.cid })
    const chain = [...target.iterateIPLDBlocks(), ...real.iterateIPLDBlocks()]
    const all = [...chain, ...forged, junk]
    return { middle, holder, target, chain, all, file: writeArchive(root, [...all, root]) }
  }

  const signer = ({ secret }: Identity) => ed25519.parse(secret)

  /** In use, only what is good is enclosed. */
  const use = async (
    scene: Stage,
    { target, holder, chain }: Awaited<ReturnType<typeof poisoned>>,
  ) => {
    const by = signer(holder)
    const invocation = await invocationOf({ ...add, by, proofs: [target] }, by, scene.did)
    const blocks = [...invocation.iterateIPLDBlocks(), ...chain]
    return sendBlocks(scene.service, invocation.cid, blocks)
  }

  test.each(['service', 'middle', 'holder'] as const)(
    'is revoked by the client all the same: by its %s',
    async (who) => {
      const identity = generateIdentity()
      const scene = await stage({ identity })
      const file = await poisoned(scene)
      expect((await use(scene, file)).error).toBeUndefined()
      const client = createRatesClient({
        url: 'http://localhost/ucan',
        key: who === 'service' ? identity : file[who],
        provider: identity.did,
        serviceKey: identity.keyDid,
        fetch: fetchFrom(scene.service),
      })
      expect((await client.revoke(file.file)).error).toBeUndefined()
      expect((await use(scene, file)).error?.message).toContain('revoked')
    },
  )

  test('is revoked by a client that encloses the whole file', async () => {
    const scene = await stage()
    const file = await poisoned(scene)
    const by = signer(file.middle)
    const nb = { ucan: file.target.cid }
    const revocation = { can: 'ucan/revoke', with: by.did(), nb, by } as const
    expect((await scene.ask({ ...revocation, enclosed: file.all })).error).toBeUndefined()
    expect((await use(scene, file)).error?.message).toContain('revoked')
  })

  test('makes no participants of those whom the forged proofs name', async () => {
    const scene = await stage()
    const [holder, stranger] = [await newKey(), await newKey()]
    const real = await scene.grant()
    const forged = await scene.grant({ from: stranger, to: scene.agent })
    const target = await scene.grant({ from: scene.agent, to: holder, proofs: [forged, real] })
    const nb = { ucan: target.cid }
    const enclosed = [...target.iterateIPLDBlocks()]
    const revocation = { can: 'ucan/revoke', with: stranger.did(), nb, by: stranger } as const
    const { error } = await scene.ask({ ...revocation, enclosed })
    expect(error?.name).toBe('UnauthorizedRevocation')
  })
})

describe('revocations', () => {
  const revoke = (scene: Stage, target: DelegationView, by: Signer, day = 0) =>
    scene.ask({
      can: 'ucan/revoke',
      with: by.did(),
      nb: { ucan: target.cid },
      by,
      enclosed: [...target.iterateIPLDBlocks()],
      expiration: second() + day * 86_400 + 600,
    })

  test('by an agent whose right has expired write nothing', async () => {
    const clock = fakeClock(instant((second() + 3 * 86_400) * 1_000_000))
    const store = memory({ clock })
    const scene = await stage({ store })
    const proof = await scene.grant({ expiration: second() + 3_600 })
    const before = await contents(store, scene)
    for (let n = 0; n < 5; n++) {
      const to = await newKey()
      const own = await scene.grant({ from: scene.agent, to, proofs: [proof] })
      expect((await revoke(scene, own, scene.agent, 3)).ok).toEqual({ time: expect.any(Number) })
    }
    expect(await contents(store, scene)).toEqual(before)
  })

  describe('of a delegation whose first proof has expired, and whose second has not', () => {
    const renewed = async () => {
      const identity = generateIdentity()
      const scene = await stage({ identity })
      const [above, holder] = [generateIdentity(), await newKey()]
      const from = ed25519.parse(above.secret)
      const grant = await scene.grant({ to: from })
      const ended = await scene.grant({ from, proofs: [grant], expiration: second() - 60 })
      const lasting = await scene.grant({ from, proofs: [grant] })
      const proofs = [ended, lasting]
      const target = await scene.grant({ from: scene.agent, to: holder, proofs })
      const use = () => scene.ask({ ...add, by: holder, proofs: [target] })
      expect((await use()).error).toBeUndefined()
      return { scene, identity, above, ended, lasting, target, use }
    }

    test.each(['its issuer', 'who is further up'] as const)('by %s take effect', async (who) => {
      const { scene, above, target, use } = await renewed()
      const by = who === 'its issuer' ? scene.agent : ed25519.parse(above.secret)
      expect((await revoke(scene, target, by)).error).toBeUndefined()
      expect((await use()).error?.message).toContain('revoked')
    })

    test('by a client, which encloses one chain only, take effect', async () => {
      const { scene, above: key, target, use } = await renewed()
      const { ok } = await target.archive()
      const fetch = fetchFrom(scene.service)
      const url = 'http://localhost/ucan'
      const client = createRatesClient({ url, key, provider: scene.did, fetch })
      expect((await client.revoke(ok ?? new Uint8Array())).error).toBeUndefined()
      expect((await use()).error?.message).toContain('revoked')
    })

    test('are refused, and not said to be done, if only the first is enclosed', async () => {
      const { scene, target, lasting, use } = await renewed()
      const shown = [...target.iterateIPLDBlocks()]
      const enclosed = shown.filter(({ cid }) => `${cid}` !== `${lasting.cid}`)
      const by = scene.agent
      const nb = { ucan: target.cid }
      const answer = await scene.ask({ can: 'ucan/revoke', with: by.did(), nb, by, enclosed })
      expect(answer.error?.name).toBe('UCANNotFound')
      expect((await use()).error).toBeUndefined()
    })
  })

  test('are forgotten when the right that they took could not be used any more', async () => {
    const clock = fakeClock(instant(second() * 1_000_000))
    const store = memory({ clock, uptime: clock.uptime })
    const scene = await stage({ store })
    const proof = await scene.grant({ expiration: second() + 3_600 })
    const own = await scene.grant({ from: scene.agent, to: await newKey(), proofs: [proof] })
    await revoke(scene, own, scene.agent)
    const isKept = async () =>
      (await contents(store, scene)).some((text) => text.includes('/revoked/'))
    expect(await isKept()).toBe(true)
    clock.advance(days(1))
    await bustle(store)
    expect(await isKept()).toBe(false)
  })

  test('through one grant are bounded, and the service is not', async () => {
    const store = memory()
    const scene = await stage({ store })
    const proof = await scene.grant()
    const most = times(3, MAX_REVOCATIONS_PER_GRANT)
    const own = async (nb: string) =>
      scene.grant({ from: scene.agent, to: scene.agent, nb: { nb }, proofs: [proof] })
    for (let n = 0; n < most; n++) {
      expect((await revoke(scene, await own(`${n}`), scene.agent)).error).toBeUndefined()
    }
    // As if all but the last had been done already, where the count is not full.
    const key = `subjects/{${scene.did}}/revocations/${fingerprintOf(proof)}`
    await store.transact((view) => {
      expect(view.read(key)).toEqual([`${most}`])
      const writes = [{ key, value: `${MAX_REVOCATIONS_PER_GRANT}` }]
      return { writes, appends: [], result: undefined }
    })
    const last = await own('last')
    expect((await revoke(scene, last, scene.agent)).error?.name).toBe('RevocationsFull')
    expect((await revoke(scene, last, scene.owner)).error).toBeUndefined()
  })

  test('by 64 others leave room for the one by the service', async () => {
    const store = memory()
    const scene = await stage({ store })
    const proof = await scene.grant()
    const key = `subjects/{${scene.did}}/revoked/${fingerprintOf(proof)}`
    const others = Array.from({ length: 64 }, (_, n) => `did:key:${n}`)
    const writes = [{ key, value: JSON.stringify(others) }]
    await store.transact(() => ({ writes, appends: [], result: undefined }))
    expect((await revoke(scene, proof, scene.agent)).error?.name).toBe('RevocationsFull')
    expect((await scene.ask({ ...add, proofs: [proof] })).error).toBeUndefined()
    expect((await revoke(scene, proof, scene.owner)).error).toBeUndefined()
    expect((await scene.ask({ ...add, proofs: [proof] })).error?.message).toContain('revoked')
  })

  test('a second time leave neither a receipt nor an entry', async () => {
    const store = memory()
    const scene = await stage({ store })
    const proof = await scene.grant()
    const by = scene.owner
    const ask = { can: 'ucan/revoke', with: by.did(), nb: { ucan: proof.cid }, by } as const
    const enclosed = [...proof.iterateIPLDBlocks()]
    await scene.ask({ ...ask, enclosed })
    const once = await contents(store, scene)
    await scene.ask({ ...ask, enclosed })
    expect(await contents(store, scene)).toEqual(once)
  })

  test('are in the history: what, whose, by whom and by what right', async () => {
    const scene = await stage()
    const proof = await scene.grant()
    const helper = await newKey()
    const right = await scene.grant({ to: helper, can: 'ucan/revoke' })
    const by = scene.owner
    await scene.ask({
      can: 'ucan/revoke',
      with: scene.did,
      nb: { ucan: proof.cid },
      by: helper,
      proofs: [right],
      enclosed: [...proof.iterateIPLDBlocks()],
    })
    const { ok } = await scene.ask({ can: 'rate-limit/history', by })
    expect(ok?.['entries']).toMatchObject([
      {
        kind: 'revoke',
        by: { issuer: helper.did(), chain: [fingerprintOf(right)] },
        added: [],
        removed: [],
        revoked: {
          fingerprint: fingerprintOf(proof),
          issuer: scene.did,
          audience: scene.agent.did(),
          revoker: scene.did,
        },
      },
    ])
    const { ok: of } = await scene.ask({ can: 'rate-limit/history', nb: { subject: 'a.test' }, by })
    expect(of?.['entries']).toEqual([])
  })
})

describe('receipts', () => {
  test.each([Number.POSITIVE_INFINITY, second() + 8 * 86_400])(
    'are not kept for ever: a change that lasts until %d is refused, and changes nothing',
    async (expiration) => {
      const store = memory()
      const scene = await stage({ store })
      const { ask, owner: by } = scene
      const before = await contents(store, scene)
      expect((await ask({ ...add, by, expiration })).error?.name).toBe('LifetimeExceeded')
      expect(await contents(store, scene)).toEqual(before)
      const list = { can: 'rate-limit/list', nb: { subject: 'a.test' } } as const
      expect((await ask({ ...list, by, expiration })).error).toBeUndefined()
    },
  )

  test('last as long as the invocation: until it expires a replay is answered, then refused', async () => {
    const clock = fakeClock(instant(second() * 1_000_000))
    const store = memory({ clock, uptime: clock.uptime })
    const scene = await stage({ store })
    const { service, owner: by, did, ask } = scene
    const expiration = second() + 6 * 86_400
    const invocation = await invocationOf({ ...add, by, expiration }, by, did)
    const first = await send(service, invocation)
    await ask({ can: 'rate-limit/remove', nb: { id: first.ok?.['id'] }, by })
    for (let day = 0; day < 8; day++) {
      const again = await send(service, invocation)
      if (day < 6) expect(again).toEqual(first)
      else expect(again.error?.message).toContain('expired')
      clock.advance(days(1))
    }
    const now = { by, expiration: second() + 20 * 86_400 }
    const { ok } = await ask({ can: 'rate-limit/list', nb: { subject: 'a.test' }, ...now })
    expect(ok?.['limits']).toEqual([])
    await bustle(store)
    expect((await contents(store, scene)).filter((text) => text.includes('/receipt/'))).toEqual([])
  })
})

test('the history names a proof by what was signed, whatever CID its holder gave it', async () => {
  const scene = await stage()
  const proof = await scene.grant()
  const names = new Set<unknown>()
  for (const padding of [1, 2, 3]) {
    const spelled = toBlock({ ...Object(CBOR.decode(proof.bytes)), padding })
    const invocation = await Delegation.delegate({
      issuer: scene.agent,
      audience: scene.owner,
      capabilities: [{ ...add, with: scene.did }],
      proofs: [Object(spelled.cid)],
    })
    const enclosed = [...invocation.iterateIPLDBlocks(), spelled]
    const { ok } = await sendBlocks(scene.service, invocation.cid, enclosed)
    const { ok: rate } = await scene.ask({
      can: 'rate-limit/get',
      nb: { id: ok?.['id'] },
      by: scene.owner,
    })
    names.add(Object(rate)['by']['chain'][0])
    expect(Object(rate)['cause']).toBe(fingerprintOf(invocation))
  }
  expect([...names]).toEqual([fingerprintOf(proof)])
})

/** Stores forget what has expired as other keys are written. */
const bustle = (store: Store): Promise<void> =>
  store.transact(() => ({
    writes: Array.from({ length: 100 }, (_, i) => ({ key: `{other}:${i}`, value: '' })),
    appends: [],
    result: undefined,
  }))
