import fastify from 'fastify'
import { fastifyGate } from 'headgate/fastify'

const app = fastify()
await app.register(fastifyGate, { limits: { Api: { burst: 1_000_000, period: '1h' } } })
app.get('/', async () => 'hello')
await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' })
