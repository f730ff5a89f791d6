/** One small app in each framework, as its own documentation would have it, behind a given gate. */
import { serve } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'

const describe = (answer) => ({ id: answer?.charges[0]?.id, remaining: answer?.remaining })

const fail = () => {
  throw new Error('of the handler')
}

/** `trust`: one proxy in front, or any; unless told none. */
export const APPS = {
  express: async (gate, { trust } = {}) => {
    const app = express()
    if (trust !== undefined) app.set('trust proxy', trust === 'one' ? 1 : true)
    app.use(gate)
    app.get('/', (req, res) => res.json(describe(req.rateLimit)))
    app.get('/broken', fail)
    app.use((_error, _req, res, _next) => res.status(500).send('broken'))
    return listening((port, host) => app.listen(port, host))
  },
  fastify: async ({ plugin, options }, { trust } = {}) => {
    const app = fastify({ trustProxy: trust === 'one' ? '127.0.0.1' : trust === 'any' })
    await app.register(plugin, options)
    app.get('/', async (request) => describe(request.rateLimit))
    app.get('/broken', async () => fail())
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    return { url, close: () => app.close() }
  },
  hono: async (gate) => {
    const app = new Hono()
    app.use(gate)
    app.get('/', (c) => c.json(describe(c.get('rateLimit'))))
    app.get('/broken', fail)
    app.onError((_error, c) => c.text('broken', 500))
    return listening((port, hostname) => serve({ fetch: app.fetch, port, hostname }))
  },
  koa: async (gate, { trust } = {}) => {
    const app = new Koa({ proxy: trust !== undefined, maxIpsCount: trust === 'one' ? 1 : 0 })
    app.silent = true
    app.use(gate)
    app.use((ctx) => {
      if (ctx.path === '/broken') fail()
      ctx.body = describe(ctx.state.rateLimit)
    })
    return listening((port, host) => app.listen(port, host))
  },
  fetch: async ({ gate, rateLimitOf }) => {
    const handler = gate((request) =>
      new URL(request.url).pathname === '/broken'
        ? new Response('broken', { status: 500 })
        : Response.json(describe(rateLimitOf(request))),
    )
    return listening((port, hostname) => serve({ fetch: handler, port, hostname }))
  },
}

/** On a port of its own, once it is there. */
async function listening(listen) {
  const server = listen(0, '127.0.0.1')
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${server.address().port}`, close }
}
