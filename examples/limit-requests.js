// Limits requests inside your own program: three logins at once, then one every twenty seconds.
import { toSeconds } from 'headgate/core'
import { memoryStore } from 'headgate/memory'
import { createLimiter, parseCatalog } from 'headgate/requests'

const catalog = parseCatalog({
  limits: 'Logins: { id: opaque, burst: 3, count: 3, period: 1m }',
})
const limiter = createLimiter({ store: memoryStore(), catalog: () => catalog })

for (let attempt = 1; attempt <= 4; attempt++) {
  const answer = await limiter.spend({ limit: 'Logins', id: 'ann' })
  if (answer.allowed) console.log(`attempt ${attempt}: allowed, ${answer.remaining} left`)
  else console.log(`attempt ${attempt}: refused, try again in ${toSeconds(answer.retryIn)} s`)
}
