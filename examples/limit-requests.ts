// Limits requests inside your own program: three logins at once, then one every twenty seconds.
import { limiter, memory } from 'headgate'

const logins = limiter({ store: memory(), limits: { Logins: { burst: 3, period: '1m' } } })

for (let attempt = 1; attempt <= 4; attempt++) {
  const answer = await logins.spend('Logins', 'ann')
  if (answer.allowed) console.log(`attempt ${attempt}: allowed, ${answer.remaining} left`)
  else console.log(`attempt ${attempt}: refused, try again in ${answer.retryAfterSeconds} s`)
}
