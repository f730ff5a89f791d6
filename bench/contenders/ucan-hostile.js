/** Messages of strangers, each the dearest of its kind that we know; counted by processor time. */
import { CBOR, Delegation } from '@ucanto/core'
import { ed25519 } from '@ucanto/principal'
import { memory } from '../../dist/stores/memory/index.js'
import { createUcanService, parseIdentity } from '../../dist/subjects/index.js'
import { toBlock } from '../../dist/subjects/ucan/archive.js'
import { writeMessage } from '../../dist/subjects/ucan/message.js'

const REQUESTS = 20

const HEADERS = { 'content-type': 'application/vnd.ipld.car' }

/** `options.kind` is one of `KINDS`. */
export const message = async ({ kind }) => {
  const [owner, agent, stranger] = await Promise.all([1, 2, 3].map(() => ed25519.generate()))
  const body = await KINDS[kind]({ owner, agent, stranger })
  let work
  const service = createUcanService({
    store: memory(),
    identity: parseIdentity(ed25519.format(owner)),
    observe: (event) => {
      if (event.kind === 'message') work = event.work
    },
  })
  return {
    measure: async () => {
      const start = process.cpuUsage()
      for (let n = 0; n < REQUESTS; n++) {
        await service.handle({ method: 'POST', headers: HEADERS, body })
      }
      const { user, system } = process.cpuUsage(start)
      return REQUESTS / ((user + system) / 1_000_000)
    },
    note: () =>
      `${body.length} bytes; ${work.verified} signatures, ${work.hashed} bytes hashed, ${work.nodes} values`,
    close: () => {},
  }
}

const grantOf = (issuer, audience, about, facts = []) =>
  Delegation.delegate({
    issuer,
    audience,
    capabilities: [{ can: 'rate-limit/*', with: about.did() }],
    facts,
    expiration: Number.POSITIVE_INFINITY,
  })

const invocationOf = (issuer, owner, proofs) =>
  Delegation.delegate({
    issuer,
    audience: owner,
    capabilities: [{ can: 'rate-limit/list', with: owner.did(), nb: { subject: 'example.com' } }],
    proofs,
    expiration: Number.POSITIVE_INFINITY,
  })

const KINDS = {
  /** One invocation with one delegation: the delegation is remembered, the invocation is checked. */
  honest: async ({ owner, agent }) => {
    const invocation = await invocationOf(agent, owner, [await grantOf(owner, agent, owner)])
    return writeMessage([invocation.cid], invocation.iterateIPLDBlocks())
  },
  /** As many grants as a message holds, none of them signed by the service. */
  forged: async ({ owner, agent }) => {
    const model = CBOR.decode((await grantOf(owner, agent, owner)).bytes)
    const forged = Array.from({ length: 200 }, (_, n) => toBlock({ ...model, nnc: `${n}` }))
    const invocations = await Promise.all(
      Array.from({ length: 32 }, (_, n) => {
        const proofs = forged.slice((n * 6) % 190, ((n * 6) % 190) + 16)
        return invocationOf(
          agent,
          owner,
          proofs.map(({ cid }) => cid),
        )
      }),
    )
    const roots = invocations.map(({ root }) => root)
    return writeMessage(
      roots.map(({ cid }) => cid),
      [...forged, ...roots],
    )
  },
  /** Two blocks of nothing but empty maps, as many as a message may hold. */
  maps: async () => {
    const blocks = Array.from({ length: 2 }, (_, n) =>
      toBlock({ n, maps: Array.from({ length: 8_000 }, () => ({})) }),
    )
    return writeMessage([blocks[0].cid], blocks)
  },
  /** Thirteen proofs of 32 capabilities in each of 32 invocations. */
  wide: async ({ owner, agent, stranger }) => {
    const proofs = await Promise.all(
      Array.from({ length: 13 }, (_, n) =>
        Delegation.delegate({
          issuer: stranger,
          audience: agent,
          capabilities: Array.from({ length: 32 }, () => ({
            can: 'rate-limit/list',
            with: owner.did(),
          })),
          facts: [{ n }],
        }),
      ),
    )
    const invocations = await Promise.all(
      Array.from({ length: 32 }, () => invocationOf(agent, owner, proofs)),
    )
    const blocks = invocations.flatMap((each) => [...each.iterateIPLDBlocks()])
    return writeMessage(
      invocations.map(({ cid }) => cid),
      blocks,
    )
  },
  /** A token whose issuer has 7 kB: base58 would take seconds. */
  issuer: async ({ owner, agent }) => {
    const model = CBOR.decode((await invocationOf(agent, owner, [])).bytes)
    const iss = Uint8Array.from({ length: 7_000 }, (_, n) => [0xed, 0x01][n] ?? 0xff)
    const block = toBlock({ ...model, iss })
    return writeMessage([block.cid], [block])
  },
}
