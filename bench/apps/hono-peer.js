import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'
import { rateLimiter } from 'hono-rate-limiter'

const app = new Hono()
app.use(
  rateLimiter({
    windowMs: 3_600_000,
    limit: 1_000_000,
    keyGenerator: (c) => getConnInfo(c).remote.address,
  }),
)
app.get('/', (c) => c.text('hello'))
serve({ fetch: app.fetch, port: Number(process.argv[2]), hostname: '127.0.0.1' })
