import { serve } from '@hono/node-server'
import { honoGate } from 'headgate/hono'
import { Hono } from 'hono'

const app = new Hono()
app.use(honoGate({ limits: { Api: { burst: 3, period: '1m' } } }))
app.get('/', (c) => c.text('hello'))
serve({ fetch: app.fetch, port: Number(process.env['PORT'] ?? 3000) })
