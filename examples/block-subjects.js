// A right to block one domain, handed to somebody else as a file, and felt by the limiter.
import { after, days } from 'headgate/core'
import { memoryStore } from 'headgate/memory'
import { createLimiter, parseCatalog } from 'headgate/requests'
import {
  createRatesClient,
  createSubjectGate,
  createUcanService,
  delegate,
  generateIdentity,
} from 'headgate/subjects'

const store = memoryStore()
const clock = () => Date.now() * 1_000
const uptime = () => performance.now() * 1_000

// The service, and the gate that the limiter asks before every charge.
const owner = generateIdentity()
const service = createUcanService({ store, identity: owner })
const gate = createSubjectGate({ store, provider: owner.did, clock, uptime })
const catalog = parseCatalog({ limits: 'Uploads: { id: opaque, burst: 9, count: 9, period: 1m }' })
const limiter = createLimiter({ store, catalog: () => catalog, guard: gate })

// The owner hands on the right to set rates for example.com, for a week, and nothing else.
const agent = generateIdentity()
const proof = await delegate({
  from: owner,
  to: agent.did,
  can: 'rate-limit/add',
  caveats: { subject: 'example.com' },
  expiresAt: after(clock(), days(7)),
})

// The agent acts by its own key and that proof; here without a network in between.
const rates = createRatesClient({
  url: 'https://headgate.example/ucan',
  key: agent,
  proofs: [proof.bytes],
  fetch: async (_url, { headers, body }) => {
    const answer = await service.handle({ method: 'POST', headers, body })
    return new Response(answer.body, { status: answer.status })
  },
})
for (const subject of ['example.com', 'example.org']) {
  const { ok, error } = await rates.add({ subject, rate: 0, reason: 'ticket 1234' })
  console.log(`block ${subject}: ${ok ? 'done' : error.name}`)
}

await gate.catchUp()
for (const subject of ['ann@mail.example.com', 'bob@example.org']) {
  const { allowed, reason } = await limiter.spend({
    limit: 'Uploads',
    id: 'x',
    subjects: [subject],
  })
  console.log(`${subject}: ${allowed ? 'allowed' : reason}`)
}
gate.close()
