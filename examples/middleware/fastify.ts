import fastify from 'fastify'
import { fastifyGate } from 'headgate/fastify'

const app = fastify()
await app.register(fastifyGate, { limits: { Api: { burst: 3, period: '1m' } } })
app.get('/', async () => 'hello')
await app.listen({ port: Number(process.env['PORT'] ?? 3000) })
