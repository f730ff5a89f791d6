import fastify from 'fastify'

const app = fastify()
app.get('/', async () => 'hello')
await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' })
