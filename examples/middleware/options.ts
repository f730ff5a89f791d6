// Every option once. The tests compile this file in strict mode, and do not run it.
import express, { type Request as ExpressRequest } from 'express'
import fastify from 'fastify'
import { limiter, memory } from 'headgate'
import { expressGate, type GateOptions } from 'headgate/express'
import { fastifyGate } from 'headgate/fastify'
import { fetchGate, rateLimitOf } from 'headgate/fetch'
import { honoGate } from 'headgate/hono'
import { koaGate } from 'headgate/koa'
import { Hono } from 'hono'
import Koa from 'koa'

const limits = { Api: { burst: 100, period: '1m' } }
const app = express()

// Several limits, each with its own who and cost: charged together or not at all.
app.use(
  expressGate({
    limits: {
      PerAddress: { burst: 100, period: '1m' },
      PerUser: { burst: 1_000, period: '1h', who: 'user' },
      Uploads: {
        burst: 50,
        period: '1d',
        who: 'key',
        cost: (req) => (req.method === 'PUT' ? 5 : 0),
      },
    },
  }),
)

// Limits of a limiter that other parts of the program ask too.
const accounts = limiter({
  store: memory(),
  limits: { Logins: { burst: 3, period: '1m' }, Mails: { burst: 10, period: '1h' } },
})
app.post('/login', expressGate({ limiter: accounts, limits: 'Logins' }))
app.post(
  '/mail',
  expressGate({ limiter: accounts, limits: ['Mails', { limit: 'Logins', cost: 0 }] }),
)
// @ts-expect-error there is no limit of this name
app.use(expressGate({ limiter: accounts, limits: 'Logouts' }))
// @ts-expect-error there is no such option
app.use(expressGate({ limits, windowMs: 60_000 }))

// The rest.
app.use(
  expressGate({
    limits,
    store: memory(),
    who: (req) => req.get('x-tenant'),
    cost: async (req) => (req.path.startsWith('/search') ? 10 : 1),
    skip: (req) => req.path === '/health',
    refusal: ({ code, status, retryAfterSeconds }) => ({
      status,
      headers: { 'Cache-Control': 'no-store' },
      body: { error: code, retryAfterSeconds },
    }),
    onStoreFailure: 'open',
    headers: ['draft-7', 'x-ratelimit'],
    refund: ({ status }) => status >= 400,
    proxy: { trusted: ['10.0.0.0/8'] },
    ipv6Prefix: 56,
    warn: ({ code, message }) => console.error(code, message),
  }),
)

// Functions of a request may name the framework's own type.
app.use(expressGate({ limits, who: (req: ExpressRequest) => req.params['tenant']?.toString() }))
app.get('/left', (req, res) => void res.json({ left: req.rateLimit?.remaining }))

const server = fastify()
await server.register(fastifyGate, {
  limits,
  who: (request) => request.hostname,
  hook: 'preHandler',
})
server.get('/left', async (request) => ({ left: request.rateLimit?.remaining }))

interface Env {
  readonly Variables: { user: { id: string } }
  readonly Bindings: { NAME: string }
}
const hono = new Hono<Env>()
hono.use(honoGate({ limits, who: 'user' }))
hono.use(honoGate<Env>({ limits, who: (c) => `${c.env.NAME}/${c.get('user').id}` }))
hono.use('/api/*', honoGate({ limiter: accounts, limits: ['Logins'] }))
hono.get('/left', (c) => c.json({ left: c.get('rateLimit')?.remaining, user: c.get('user') }))

const koa = new Koa<{ user?: { id: string } }>()
koa.use(koaGate({ limits, who: (ctx) => ctx.get('x-tenant') }))
koa.use(koaGate({ limits, who: (ctx: Koa.Context) => ctx.host }))

const shared: GateOptions<Request> = { limits, proxy: { header: 'x-real-ip' } }
const gate = fetchGate(shared)
export const GET = gate(async (request: Request, next: { params: Promise<{ id: string }> }) =>
  Response.json({ id: (await next.params).id, left: rateLimitOf(request)?.remaining }),
)
export const worker = {
  fetch: gate((_request: Request, env: { NAME: string }) => new Response(env.NAME)),
}
export const reply: Promise<Response> = worker.fetch(new Request('https://a.example'), { NAME: '' })
