/** `node bare-route.js PORT`: a Fastify route that reads a question and answers, and decides nothing. */
import fastify from 'fastify'

const text = { type: 'string' }
const number = { type: 'number' }
const body = { type: 'object', required: ['limit', 'id'], properties: { limit: text, id: text } }
const outlook = {
  allowed: { type: 'boolean' },
  remaining: number,
  retryAfterMs: number,
  resetAfterMs: number,
}
const charge = { type: 'object', properties: { limit: text, id: text, bucket: text, ...outlook } }
const answer = {
  type: 'object',
  properties: { ...outlook, charges: { type: 'array', items: charge } },
}

const app = fastify()

app.post('/spend', { schema: { body, response: { 200: answer } } }, async (request) => {
  const { limit, id } = request.body
  const facts = { allowed: true, remaining: 999, retryAfterMs: 0, resetAfterMs: 1_000 }
  return { ...facts, charges: [{ limit, id, bucket: `${limit}:${id}`, ...facts }] }
})

await app.listen({ host: '127.0.0.1', port: Number(process.argv[2]) })

process.once('SIGTERM', () => process.exit())
