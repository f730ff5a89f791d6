/** One verified invocation of rate-limit/list with one delegation, from CAR to CAR, over a store that costs nothing. */

import { Delegation, invoke, Message } from '@ucanto/core'
import { ed25519 } from '@ucanto/principal'
import * as Server from '@ucanto/server'
import { CAR } from '@ucanto/transport'
import { memory } from '../../dist/stores/memory/index.js'
import { createUcanService, parseIdentity } from '../../dist/subjects/index.js'

/** Made anew before each round: every invocation is a new one, as it would be; the delegation is one and the same. */
const REQUESTS = 500

const HEADERS = { 'content-type': CAR.contentType, accept: CAR.contentType }
const NB = { subject: 'example.com' }

export const headgate = async () => {
  const { owner, request } = await scene()
  const identity = parseIdentity(ed25519.format(owner))
  const service = createUcanService({ store: memory(), identity })
  return contender(request, (body) => service.handle({ method: 'POST', headers: HEADERS, body }))
}

/** Its validator, its server and its keys, as they are published. */
export const ucanto = async () => {
  const { owner, request } = await scene()
  const list = Server.capability({
    can: 'rate-limit/list',
    with: Server.Schema.did(),
    nb: Server.Schema.struct({ subject: Server.Schema.string() }),
  })
  const server = Server.create({
    id: owner,
    codec: CAR.inbound,
    service: { 'rate-limit': { list: Server.provide(list, () => ({ ok: { limits: [] } })) } },
    validateAuthorization: () => ({ ok: {} }),
  })
  return contender(request, (body) => server.request({ headers: HEADERS, body }))
}

const scene = async () => {
  const [owner, agent] = [await ed25519.generate(), await ed25519.generate()]
  const proof = await Delegation.delegate({
    issuer: owner,
    audience: agent,
    capabilities: [{ can: 'rate-limit/*', with: owner.did() }],
    expiration: Number.POSITIVE_INFINITY,
  })
  let asked = 0
  const request = async () => {
    asked += 1
    const invocation = invoke({
      issuer: agent,
      audience: owner,
      capability: { can: 'rate-limit/list', with: owner.did(), nb: NB },
      proofs: [proof],
      expiration: Number.POSITIVE_INFINITY,
      nonce: `${asked}`,
    })
    const message = await Message.build({ invocations: [invocation] })
    return CAR.request.encode(message).body
  }
  return { owner, request }
}

/** By processor time, not by the clock: what else the machine does must not count. */
const contender = (request, handle) => ({
  measure: async () => {
    const bodies = []
    for (let n = 0; n < REQUESTS; n++) bodies.push(await request())
    const answers = []
    const start = process.cpuUsage()
    for (const body of bodies) answers.push(await handle(body))
    const { user, system } = process.cpuUsage(start)
    for (const answer of answers) expectReceipt(answer)
    return REQUESTS / ((user + system) / 1_000_000)
  },
  close: () => {},
})

const expectReceipt = ({ status = 200, body }) => {
  if (status !== 200) throw new Error(`expected a receipt, found status ${status}`)
  const { blocks } = CAR.codec.decode(body)
  const done = [...blocks.values()].some(({ bytes }) => Buffer.from(bytes).includes('limits'))
  if (!done) throw new Error('expected a list of limits')
}
