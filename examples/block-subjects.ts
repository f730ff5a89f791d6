// A right to block one domain, handed on as a file, and its effect on the limiter.
import { limiter, memory } from 'headgate'
import { after, days, instant } from 'headgate/core'
import { delegate, generateIdentity, subjects } from 'headgate/subjects'

const store = memory()
const owner = generateIdentity()
const people = subjects({ store, identity: owner })

// The limiter asks the gate before every charge.
const limits = { Uploads: { burst: 9, period: '1m' } }
const uploads = limiter({ store, limits, guard: people.gate() })

// The owner hands on the right to set rates for example.com, for a week, and nothing else.
const agent = generateIdentity()
const proof = await delegate({
  from: owner,
  to: agent.did,
  can: 'rate-limit/add',
  caveats: { subject: 'example.com' },
  expiresAt: after(instant(Date.now() * 1_000), days(7)),
})

// The agent acts by its own key and that proof, as it would over HTTP.
for (const subject of ['example.com', 'example.org']) {
  const { error } = await people.as(agent, proof).block(subject, { reason: 'ticket 1234' })
  console.log(`block ${subject}: ${error ? error.name : 'done'}`)
}

for (const subject of ['ann@mail.example.com', 'bob@example.org']) {
  const { allowed, reason } = await uploads.spend('Uploads', 'x', { subjects: [subject] })
  console.log(`${subject}: ${allowed ? 'allowed' : reason}`)
}
people.close()
