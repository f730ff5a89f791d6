/** A decision over HTTP: Headgate beside nginx's limit_req and beside a route that decides nothing. */
import { startFastify } from '../contenders/fastify.js'
import { startHeadgate } from '../contenders/headgate-server.js'
import { nginxVersion, provideNginx, startNginx } from '../contenders/nginx.js'
import { keyAt } from '../keys.js'
import { CONNECTIONS, openLoad } from '../load.js'
import { packageVersion } from '../provide.js'

const KEYS = 1_000

const QUESTIONS = 100

const FASTIFY = 'a bare Fastify route'

let load
let hasNginx = false

/** Before the first measurement: what is missing is installed, and says so. */
export const prepare = (say) => {
  load = openLoad(say)
  hasNginx = provideNginx(say)
}

export const peers = () =>
  [load.name, `fastify ${packageVersion('fastify')}`, ...(hasNginx ? [nginxVersion()] : [])].join(
    ', ',
  )

/** `decisions` is how many decisions one request asks for. */
const overHttp = (name, { start, requests, decisions = 1 }) => {
  let server
  return {
    name,
    prepare: async () => {
      server = await start()
      await expectAllowed(server.url, requests[0], decisions)
    },
    run: async () => (await load.rate(server.url, requests, server.folder)) * decisions,
    dispose: async () => server?.stop(),
  }
}

/** A server that answers without deciding, or with a mistake for each question, measures nothing. */
const expectAllowed = async (url, { method, path, body }, decisions) => {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' }
  const response = await fetch(url + path, { method, headers, ...(body ? { body } : {}) })
  const text = await response.text()
  const questions = decisions === 1 ? [text] : JSON.parse(text).answers.map(JSON.stringify)
  const allowed = questions.filter((answer) => method === 'GET' || JSON.parse(answer).allowed)
  if (response.ok && allowed.length === decisions) return
  throw new Error(`${method} ${path} must allow ${decisions}: ${response.status} ${text}`)
}

const ids = Array.from({ length: KEYS }, (_, n) => keyAt(n, KEYS))
const question = (id) => ({ limit: 'bench', id })
const get = (path) => ids.map((id) => ({ method: 'GET', path: `${path}id=${id}` }))
const post = (path) =>
  ids.map((id) => ({ method: 'POST', path, body: JSON.stringify(question(id)) }))

const batches = Array.from({ length: KEYS / QUESTIONS }, (_, n) => {
  const questions = ids.slice(n * QUESTIONS, (n + 1) * QUESTIONS).map(question)
  return { method: 'POST', path: '/v1/batch', body: JSON.stringify({ questions }) }
})

const inMemory = () => startHeadgate(() => 'memory:')
const inSqlite = () => startHeadgate((folder) => `sqlite:${folder}/headgate.db`)

const variants = [
  overHttp(FASTIFY, { start: startFastify, requests: post('/spend') }),
  overHttp('nginx limit_req', { start: startNginx, requests: get('/limited?') }),
  overHttp('Headgate, memory, GET /v1/gate', {
    start: inMemory,
    requests: get('/v1/gate?limit=bench&'),
  }),
  overHttp('Headgate, memory, POST /v1/spend', { start: inMemory, requests: post('/v1/spend') }),
  overHttp('Headgate, SQLite, POST /v1/spend', { start: inSqlite, requests: post('/v1/spend') }),
  overHttp(`Headgate, memory, POST /v1/batch of ${QUESTIONS}`, {
    start: inMemory,
    requests: batches,
    decisions: QUESTIONS,
  }),
  overHttp(`Headgate, SQLite, POST /v1/batch of ${QUESTIONS}`, {
    start: inSqlite,
    requests: batches,
    decisions: QUESTIONS,
  }),
]

export const tables = [
  {
    title: 'Over HTTP',
    conditions: `Loopback, ${CONNECTIONS} connections kept alive, one thread of load, 1,000 keys, all allowed, 2 s a
round; each server is one process with one worker. The bare route reads and checks the same JSON,
answers the same shape and decides nothing. nginx answers a small image, and was seen to refuse
before it was measured. SQLite is durable before it answers.`,
    command: 'npm run bench -- http',
    base: FASTIFY,
    variants,
  },
]
