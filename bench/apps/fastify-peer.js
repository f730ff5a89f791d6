import rateLimit from '@fastify/rate-limit'
import fastify from 'fastify'

const app = fastify()
await app.register(rateLimit, { max: 1_000_000, timeWindow: '1 hour' })
app.get('/', async () => 'hello')
await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' })
