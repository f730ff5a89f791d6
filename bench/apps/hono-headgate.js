import { serve } from '@hono/node-server'
import { honoGate } from 'headgate/hono'
import { Hono } from 'hono'

const app = new Hono()
app.use(honoGate({ limits: { Api: { burst: 1_000_000, period: '1h' } } }))
app.get('/', (c) => c.text('hello'))
serve({ fetch: app.fetch, port: Number(process.argv[2]), hostname: '127.0.0.1' })
