/** What a message of a stranger can cost, counted; the figures of each test are those of an attack that worked. */
import { CBOR, Delegation } from '@ucanto/core'
import type { Capability, Delegation as DelegationView, Signer } from '@ucanto/interface'
import { expect, test } from 'vitest'
import { invocationOf, newKey, POST, type Stage, stage } from '../../../test/support/ucan.ts'
import { memory } from '../../stores/memory/index.ts'
import { blockOf, toBlock, writeArchive } from './archive.ts'
import { writeMessage } from './message.ts'
import type { UcanServiceOptions } from './service.ts'
import { MAX_UCAN_WORK, type UcanWork } from './work.ts'

const list = { can: 'rate-limit/list', nb: { subject: 'a.test' } } as const

/** A stage whose every message tells what it cost. */
const countedStage = async (options: Partial<UcanServiceOptions> = {}) => {
  const messages: UcanWork[] = []
  const observe: UcanServiceOptions['observe'] = (event) => {
    if (event.kind === 'message') messages.push(event.work)
  }
  const scene = await stage({ ...options, observe })
  const post = async (body: Uint8Array) => {
    const { status, body: reply } = await scene.service.handle({ ...POST, body })
    const work = messages.at(-1) ?? { hashed: 0, nodes: 0, compared: 0, verified: 0, pages: 0 }
    return { status, text: Buffer.from(reply).toString('latin1'), work }
  }
  return { ...scene, post, messages }
}

/** An invocation with fields of its sender's choice, under a signature of something else. */
const forged = async ({ agent, did }: Stage, fields: object): Promise<Uint8Array> => {
  const invocation = await invocationOf(list, agent, did)
  const block = toBlock({ ...Object(CBOR.decode(invocation.bytes)), ...fields })
  return writeMessage([Object(block.cid)], [block])
}

const messageOf = (invocations: readonly DelegationView[]): Uint8Array =>
  writeMessage(
    invocations.map(({ cid }) => cid),
    invocations.flatMap((each) => [...each.iterateIPLDBlocks()]),
  )

test.each([7_000, 32_000, 120_000])(
  'an issuer of %d bytes is not turned into text, which took a minute',
  async (length) => {
    const scene = await countedStage()
    const key = Uint8Array.from({ length }, (_, index) => [0xed, 0x01][index] ?? 0xff)
    for (const fields of [{ iss: key }, { aud: key }]) {
      const { work, text } = await scene.post(await forged(scene, fields))
      expect(text).toMatch(/must be a UCAN|a block must have at most 8192 bytes/)
      expect(work.verified).toBe(0)
    }
  },
)

test('30 kB of empty maps, which decoded to 2 MB, are counted and not decoded', async () => {
  const scene = await countedStage()
  const maps = (count: number) => Array.from({ length: count }, () => ({}))
  const large = await scene.post(await forged(scene, { fct: [{ maps: maps(31_000) }] }))
  expect([large.status, large.text]).toEqual([400, 'a block must have at most 8192 bytes\n'])
  const blocks = Array.from({ length: 4 }, (_, n) => toBlock({ n, maps: maps(8_000) }))
  const many = await scene.post(writeArchive(Object(blocks[0]), blocks))
  expect([many.status, many.text]).toEqual([400, 'a message may cost at most 16384 values\n'])
  expect(many.work.nodes).toBeLessThanOrEqual(MAX_UCAN_WORK.nodes)
})

test('a claimed length costs nothing: it is compared with the bytes that are there', async () => {
  const { post } = await countedStage()
  const liars = [
    [0x9b, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff], // a list of 2^40 values
    [0xbb, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff], // a map
    [0x5b, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff], // bytes
    [0x9f, 0xff], // a list that says later how long it is
    [0xc1, 0x00], // a tag that DAG-CBOR has not
    Array.from({ length: 5_000 }, () => 0x81), // a list in a list in a list
    [0xa0, 0xa0], // two values
  ]
  for (const bytes of liars) {
    const block = blockOf(Uint8Array.from(bytes))
    const { status, text } = await post(writeArchive(block, [block]))
    expect([status, text]).toEqual([400, 'a block must hold one value in DAG-CBOR\n'])
  }
})

/** `count` delegations of one key to another, each of `wide` capabilities. */
const delegations = (
  issuer: Signer,
  audience: Signer,
  capability: Capability,
  { count, wide, proofs = [] }: { count: number; wide: number; proofs?: readonly DelegationView[] },
) =>
  Promise.all(
    Array.from({ length: count }, (_, n) =>
      Delegation.delegate({
        issuer,
        audience,
        capabilities: [capability, ...Array.from({ length: wide - 1 }, () => capability)],
        facts: [{ n }],
        proofs: [...proofs],
        expiration: Number.POSITIVE_INFINITY,
      }),
    ),
  )

const manyInvocations = async ({ agent, did }: Stage, proofs: readonly DelegationView[]) =>
  messageOf(
    await Promise.all(
      Array.from({ length: 32 }, () => invocationOf({ ...list, proofs }, agent, did)),
    ),
  )

test('32 invocations with 13 proofs of 32 capabilities, none from the service, compare nothing', async () => {
  const scene = await countedStage()
  const capability = { can: 'rate-limit/list', with: scene.did } as const
  const proofs = await delegations(await newKey(), scene.agent, capability, { count: 13, wide: 32 })
  const { work } = await scene.post(await manyInvocations(scene, proofs))
  expect([work.compared, work.verified]).toEqual([0, 0])
})

test('13 proofs of 64 capabilities each are not even looked at', async () => {
  const scene = await countedStage()
  const capability = { can: 'rate-limit/list', with: scene.did } as const
  const proofs = await delegations(scene.owner, scene.agent, capability, { count: 5, wide: 64 })
  const { work, text } = await scene.post(await manyInvocations(scene, proofs))
  expect(text).toContain('must have at most 32 capabilities')
  expect([work.compared, work.verified]).toEqual([0, 0])
})

test('proofs that truly come from the service are compared until the budget of the message is spent', async () => {
  const scene = await countedStage()
  const capability = {
    can: 'rate-limit/list',
    with: scene.did,
    nb: { subject: 'other.test', more: [1, 2, 3] },
  } as const
  const proofs = await delegations(scene.owner, scene.agent, capability, { count: 13, wide: 32 })
  const { work, text } = await scene.post(await manyInvocations(scene, proofs))
  expect(text).toContain('a message may cost at most 16384 compared values')
  expect(work.compared).toBeLessThanOrEqual(MAX_UCAN_WORK.compared)
  expect(work.verified).toBe(13)
})

test('a token is verified once, however many invocations use it', async () => {
  const scene = await countedStage()
  const proofs = [await scene.grant()]
  const first = await scene.post(await manyInvocations(scene, proofs))
  expect(first.work.verified).toBe(33)
  const second = await scene.post(await manyInvocations(scene, proofs))
  expect(second.work.verified).toBe(32)
})

test('a forged tree falls with its topmost token', async () => {
  const scene = await countedStage()
  const middle = await newKey()
  const [real] = await delegations(
    scene.owner,
    middle,
    { can: 'rate-limit/*', with: scene.did },
    { count: 1, wide: 1 },
  )
  const top = toBlock({ ...Object(CBOR.decode(Object(real).bytes)), nnc: 'forged' })
  const below = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      Delegation.delegate({
        issuer: middle,
        audience: scene.agent,
        capabilities: [{ can: 'rate-limit/*', with: scene.did }],
        facts: [{ n }],
        proofs: [Object(top.cid)],
      }),
    ),
  )
  const invocations = await Promise.all(
    Array.from({ length: 4 }, (_, n) =>
      invocationOf({ ...list, proofs: below.slice(n * 10, n * 10 + 10) }, scene.agent, scene.did),
    ),
  )
  const blocks = [...invocations, ...below].flatMap((each) => [...each.iterateIPLDBlocks()])
  const body = writeMessage(
    invocations.map(({ cid }) => cid),
    [...blocks, top],
  )
  const { work } = await scene.post(body)
  expect(work.verified).toBe(1)
})

test('200 forged grants take no more signature checks than a message may', async () => {
  const scene = await countedStage()
  const model = Object(CBOR.decode((await scene.grant()).bytes))
  const forgeries = Array.from({ length: 200 }, (_, n) => toBlock({ ...model, nnc: `${n}` }))
  const invocations = await Promise.all(
    Array.from({ length: 13 }, (_, n) =>
      Delegation.delegate({
        issuer: scene.agent,
        audience: scene.owner,
        capabilities: [{ ...list, with: scene.did }],
        proofs: forgeries.slice(n * 16, n * 16 + 16).map(({ cid }) => Object(cid)),
      }),
    ),
  )
  const body = writeMessage(
    invocations.map(({ cid }) => cid),
    [...forgeries, ...invocations.flatMap((each) => [...each.iterateIPLDBlocks()])],
  )
  const { status, work, text } = await scene.post(body)
  expect([status, work.verified]).toEqual([200, MAX_UCAN_WORK.verified])
  expect(text).toContain('a message may cost at most 64 signature checks')
})

test('32 invocations, each with a delegation of its own, fit into the budget', async () => {
  const scene = await countedStage()
  const invocations = await Promise.all(
    Array.from({ length: 32 }, async () => {
      const agent = await newKey()
      const proof = await scene.grant({ to: agent })
      return invocationOf({ ...list, by: agent, proofs: [proof] }, agent, scene.did)
    }),
  )
  const { work, text } = await scene.post(messageOf(invocations))
  expect(text.match(/limits/g)).toHaveLength(32)
  expect(work.verified).toBe(64)
})

test('a message reads at most four pages, each of which may look at thousands of records', async () => {
  const scene = await countedStage()
  const question = { can: 'rate-limit/query', by: scene.owner } as const
  const ask = () => invocationOf(question, scene.owner, scene.did)
  const invocations = await Promise.all(Array.from({ length: 32 }, ask))
  const { work, text } = await scene.post(messageOf(invocations))
  expect(work.pages).toBe(4)
  expect(text.match(/WorkExceeded/g)).toHaveLength(28)
})

test('what a stranger sends is not remembered, though it is signed by whom it names, and asks no store', async () => {
  const store = { ...memory(), transact: () => Promise.reject(new Error('was asked')) }
  const scene = await countedStage({ store })
  const stranger = await newKey()
  const proofs = [await scene.grant({ from: stranger, can: 'ucan/revoke', with: stranger.did() })]
  const target = await scene.grant({ from: stranger, to: stranger })
  const revocation = { can: 'ucan/revoke', with: stranger.did(), nb: { ucan: target.cid } } as const
  for (let time = 0; time < 2; time++) {
    const invocation = await invocationOf({ ...revocation, proofs }, scene.agent, scene.did)
    const blocks = [...invocation.iterateIPLDBlocks(), ...target.iterateIPLDBlocks()]
    const { work } = await scene.post(writeMessage([invocation.cid], blocks))
    // Its target does not come from the service: nothing else of it is looked at.
    expect(work.verified).toBe(0)
  }
})
