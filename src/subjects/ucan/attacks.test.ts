/** Ways in that other servers of this protocol left open. */
import * as UCAN from '@ipld/dag-ucan'
import { CBOR, Delegation, parseLink } from '@ucanto/core'
import type { Block, Delegation as DelegationView, Link, Signer } from '@ucanto/interface'
import { CID } from 'multiformats/cid'
import { identity as identityHash } from 'multiformats/hashes/identity'
import { sha256 } from 'multiformats/hashes/sha2'
import { describe, expect, test } from 'vitest'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import {
  invocationOf,
  newKey,
  POST,
  type Stage,
  send,
  sendBlocks,
  stage,
} from '../../../test/support/ucan.ts'
import { memory } from '../../stores/memory/index.ts'
import { sqlite } from '../../stores/sqlite/index.ts'
import { createRates } from '../rates/rates.ts'
import { blockOf, toBlock, writeArchive } from './archive.ts'
import { generateIdentity } from './identity.ts'
import { writeMessage } from './message.ts'

const add = { can: 'rate-limit/add', nb: { subject: 'a.test', rate: 0 } } as const

test('a right over one’s own DID is no right over the service', async () => {
  const { ask, agent, owner: by } = await stage()
  for (const can of ['rate-limit/add', 'rate-limit/list', 'rate-limit/query'] as const) {
    const nb =
      can === 'rate-limit/query' ? {} : can === 'rate-limit/list' ? { subject: 'a.test' } : add.nb
    const answer = await ask({ can, nb, with: agent.did() })
    expect(answer.error?.name).toBe('Unauthorized')
    expect(answer.error?.message).toContain('with must be this service')
  }
  expect((await ask({ can: 'rate-limit/query', by })).ok?.['rates']).toEqual([])
})

describe('a revoked delegation', () => {
  const revoked = async () => {
    const scene = await stage()
    const proof = await scene.grant({ nb: { rate: 0 } })
    const by = scene.owner
    await scene.ask({
      can: 'ucan/revoke',
      with: by.did(),
      nb: { ucan: proof.cid },
      by,
      enclosed: [...proof.iterateIPLDBlocks()],
    })
    expect((await scene.ask({ ...add, proofs: [proof] })).error?.message).toContain('revoked')
    return { ...scene, proof }
  }

  /** Uses a block as the proof of an invocation, under whatever name it is given. */
  const useAs = async ({ service, agent, did }: Stage, cid: Link, blocks: readonly Block[]) => {
    const invocation = await invocationOf({ ...add, proofs: [] }, agent, did)
    const signed = await UCAN.issue({
      issuer: agent,
      audience: { did: () => did },
      capabilities: invocation.capabilities,
      proofs: [parseLink(`${cid}`)],
    })
    const root = await UCAN.write(signed)
    return sendBlocks(service, root.cid, [...blocks, root])
  }

  test('under an invented CID is refused with the whole request', async () => {
    const scene = await revoked()
    const { cid } = toBlock({ another: 'thing' })
    const forged = { cid, bytes: scene.proof.bytes }
    await expect(useAs(scene, cid, [forged])).rejects.toThrow('status 400')
  })

  test('under another codec, or inside its own CID, is refused with the whole request', async () => {
    const scene = await revoked()
    const { proof } = scene
    const raw = CID.createV1(0x55, CID.parse(`${proof.cid}`).multihash)
    await expect(useAs(scene, raw, [{ cid: raw, bytes: proof.bytes }])).rejects.toThrow(
      'status 400',
    )
    const inline = CID.createV1(CBOR.code, identityHash.digest(proof.bytes))
    const answer = await useAs(scene, inline, [])
    expect(answer.error?.message).toContain('must be a UCAN in DAG-CBOR')
  })

  test('with an unsigned field more, honestly named, is known by what was signed', async () => {
    const scene = await revoked()
    const padded = toBlock({ ...Object(CBOR.decode(scene.proof.bytes)), padding: 1 })
    const answer = await useAs(scene, padded.cid, [padded])
    expect(answer.error?.message).toContain('revoked')
  })

  test('with an empty nonce, which no signature covers, is known by what was signed', async () => {
    const scene = await revoked()
    const again = toBlock({ ...Object(CBOR.decode(scene.proof.bytes)), nnc: '' })
    const answer = await useAs(scene, again.cid, [again])
    expect(answer.error?.message).toContain('revoked')
  })

  test('would have served in these spellings, had it not been revoked', async () => {
    const scene = await stage()
    const model = Object(CBOR.decode((await scene.grant({ nb: { rate: 0 } })).bytes))
    for (const extra of [{ padding: 1 }, { nnc: '' }]) {
      const spelled = toBlock({ ...model, ...extra })
      expect((await useAs(scene, spelled.cid, [spelled])).error).toBeUndefined()
    }
  })

  test('written as a JWT is refused with the whole request', async () => {
    const scene = await revoked()
    const bytes = new TextEncoder().encode(UCAN.format(scene.proof.data))
    const cid = CID.createV1(CBOR.code, await sha256.digest(bytes))
    await expect(useAs(scene, cid, [{ cid, bytes }])).rejects.toThrow('status 400')
  })

  test('stays revoked when an outsider revokes it too', async () => {
    const { ask, proof } = await revoked()
    const outsider = await newKey()
    const answer = await ask({
      can: 'ucan/revoke',
      with: outsider.did(),
      nb: { ucan: proof.cid },
      by: outsider,
      enclosed: [...proof.iterateIPLDBlocks()],
    })
    expect(answer.error?.name).toBe('UnauthorizedRevocation')
    expect((await ask({ ...add, proofs: [proof] })).error?.message).toContain('revoked')
  })
})

test('an outsider cannot revoke at all', async () => {
  const { ask, grant } = await stage()
  const [proof, outsider] = [await grant(), await newKey()]
  const enclosed = [...proof.iterateIPLDBlocks()]
  const by = outsider
  const revocation = { can: 'ucan/revoke', nb: { ucan: proof.cid }, by, enclosed } as const
  const own = await ask({ ...revocation, with: outsider.did() })
  expect(own.error?.name).toBe('UnauthorizedRevocation')
  const another = await ask({ ...revocation, with: proof.issuer.did() })
  expect(another.error?.name).toBe('Unauthorized')
  expect((await ask({ ...add, proofs: [proof] })).error).toBeUndefined()
})

describe('a tree of proofs in which every token has several', () => {
  /** `wide` keys a level hand the right on to each key of the next. */
  const tree = async ({ owner, agent }: Stage, wide: number, deep: number) => {
    let level: readonly DelegationView[] = []
    let holders: readonly Signer[] = [owner]
    for (let depth = 0; depth < deep; depth++) {
      const to = depth === deep - 1 ? agent : await newKey()
      // Each from another key that the level before was given to: here, one and the same key.
      const from = holders[0] ?? owner
      const proofs = level
      level = await Promise.all(
        Array.from({ length: wide }, (_, n) =>
          Delegation.delegate({
            issuer: from,
            audience: to,
            capabilities: [{ can: 'rate-limit/*', with: 'did:key:zNobody' }],
            facts: [{ n }],
            proofs: [...proofs],
          }),
        ),
      )
      holders = [to]
    }
    return level
  }

  test('of 11 kB is refused after checking the service’s own signature, which it has not', async () => {
    const scene = await stage()
    const proofs = await tree(scene, 4, 6)
    const invocation = await invocationOf({ ...add, proofs }, scene.agent, scene.did)
    const size = writeMessage([invocation.cid], invocation.iterateIPLDBlocks()).length
    expect(size).toBeGreaterThan(8_000)
    const answer = await send(scene.service, invocation)
    expect(answer.error?.name).toBe('Unauthorized')
    expect(scene.checks()).toBeLessThanOrEqual(24)
  })

  test('that all come from the service is checked once a token', async () => {
    const scene = await stage()
    const answer = await scene.ask({ ...add, proofs: await tree(scene, 3, 3) })
    expect(answer.error?.name).toBe('Unauthorized')
    expect(scene.checks()).toBeLessThanOrEqual(9)
  })

  test('gets an answer no longer than a page', async () => {
    const scene = await stage()
    const proofs = await tree(scene, 3, 3)
    const invocation = await invocationOf({ ...add, proofs }, scene.agent, scene.did)
    const body = writeMessage([invocation.cid], invocation.iterateIPLDBlocks())
    const reply = await scene.service.handle({ ...POST, body })
    expect(reply.body.length).toBeLessThan(3_000)
  })
})

test.each([
  'rate-limit/constructor',
  'rate-limit/tostring',
  'rate-limit/__proto__',
  'rate-limit/add/constructor',
  'constructor/call',
] as const)('%s is no handler', async (can) => {
  const { ask, owner: by } = await stage()
  expect((await ask({ can, by })).error?.name).toBe('HandlerNotFound')
})

test('a hundred copies of one invocation at once add one rate, and all get its receipt', async () => {
  const store = memory()
  const identity = generateIdentity()
  const { service, owner, did } = await stage({ store, identity })
  const invocation = await invocationOf({ ...add, by: owner }, owner, did)
  const answers = await Promise.all(Array.from({ length: 100 }, () => send(service, invocation)))
  expect(new Set(answers.map(({ ok }) => ok?.['id'])).size).toBe(1)
  const rates = createRates({ store, provider: identity.did })
  expect(await rates.list('a.test')).toHaveLength(1)
})

test('an invocation sent again after a restart adds nothing', async () => {
  const path = scratchFile()
  const identity = generateIdentity()
  const answers: unknown[] = []
  let invocation: DelegationView | undefined
  for (let start = 0; start < 2; start++) {
    const store = sqlite({ path })
    const { service, owner, did } = await stage({ store, identity })
    invocation ??= await invocationOf({ ...add, by: owner }, owner, did)
    answers.push(await send(service, invocation))
    expect(await createRates({ store, provider: identity.did }).list('a.test')).toHaveLength(1)
    await store.close()
  }
  expect(answers[1]).toEqual(answers[0])
})

test('the same invocation written differently adds nothing either', async () => {
  const store = memory()
  const identity = generateIdentity()
  const { service, owner, did } = await stage({ store, identity })
  const invocation = await invocationOf({ ...add, by: owner }, owner, did)
  await send(service, invocation)
  const padded = toBlock({ ...Object(CBOR.decode(invocation.bytes)), padding: 1 })
  const body = writeMessage([parseLink(`${padded.cid}`)], [padded])
  expect((await service.handle({ ...POST, body })).status).toBe(200)
  const rates = createRates({ store, provider: identity.did })
  expect(await rates.list('a.test')).toHaveLength(1)
})

test('an issuer that would need a session or a look-up is refused before any search', async () => {
  const scene = await stage()
  const mail = (await newKey()).withDID('did:mailto:a.test:alice')
  const proof = await scene.grant({ from: mail })
  expect((await scene.ask({ ...add, proofs: [proof] })).error?.name).toBe('Unauthorized')
  expect(scene.checks()).toBe(0)
})

test('a signature of another key is Unauthorized', async () => {
  const scene = await stage()
  const proof = await scene.grant()
  const other = await scene.grant({ nb: { rate: 1 } })
  const model = Object(CBOR.decode(proof.bytes))
  const forged = toBlock({ ...model, s: Object(CBOR.decode(other.bytes)).s })
  const signed = await UCAN.issue({
    issuer: scene.agent,
    audience: { did: () => scene.did },
    capabilities: [{ ...add, with: scene.did }],
    proofs: [parseLink(`${forged.cid}`)],
  })
  const root = await UCAN.write(signed)
  const answer = await sendBlocks(scene.service, root.cid, [forged, root])
  expect(answer.error?.name).toBe('Unauthorized')
})

test('caveats that no message could print are refused before one tries', async () => {
  const scene = await stage()
  const big = await scene.grant({ nb: { big: 2n ** 60n } })
  const { error } = await scene.ask({ ...add, proofs: [big] })
  expect(error?.message).toContain('must be a UCAN')
  const nested = Array.from({ length: 2_000 }).reduce<object>((inner) => [inner], [])
  const deep = await scene.grant({ nb: { deep: nested } })
  await expect(scene.ask({ ...add, proofs: [deep] })).rejects.toThrow('status 400')
})

describe('a map that passes for something else', () => {
  /** Written with other letters first: the encoder would take it for a link itself. */
  const disguised = (value: unknown): Block => {
    const text = Buffer.from(CBOR.encode(value)).toString('latin1')
    const named = text.replaceAll('a~', 'a/').replaceAll('i~~proto~~', 'i__proto__')
    return blockOf(Uint8Array.from(Buffer.from(named, 'latin1')))
  }
  const link = { '~': 'x', bytes: 'x', version: 1, code: CBOR.code, multihash: { code: 0x12 } }
  const noText = { ...link, toString: 1, valueOf: 1 }
  const bytes = { '~~proto~~': new Uint8Array(68), length: 68 }

  test.each([
    ['an invocation', (message: object) => ({ ...message, execute: [noText] })],
    ['a link to one', (message: object) => ({ ...message, execute: [link] })],
  ])('as %s is refused with the whole request', async (_, change) => {
    const { service } = await stage()
    const root = disguised({ 'ucanto/message@7.0.0': change({}) })
    const body = writeArchive(root, [root])
    expect((await service.handle({ ...POST, body })).status).toBe(400)
  })

  test.each([
    ['a proof', { prf: [noText] }],
    ['a fact', { fct: [{ reason: noText }] }],
    ['the signature', { s: bytes }],
    ['the issuer', { iss: bytes }],
  ])('as %s of a token is refused with the whole request', async (_, change) => {
    const { service, agent, did } = await stage()
    const invocation = await invocationOf(add, agent, did)
    const token = disguised({ ...Object(CBOR.decode(invocation.bytes)), ...change })
    const body = writeMessage([parseLink(`${token.cid}`)], [token])
    expect((await service.handle({ ...POST, body })).status).toBe(400)
  })
})

test('a lifetime beyond all reckoning is for ever, and breaks nothing', async () => {
  const { ask, owner: by, grant } = await stage()
  const expiration = 2 ** 60
  const list = { can: 'rate-limit/list', nb: { subject: 'a.test' } } as const
  expect((await ask({ ...list, by, expiration })).error).toBeUndefined()
  const proofs = [await grant({ expiration })]
  expect((await ask({ ...add, proofs })).error).toBeUndefined()
})
