// Keeps servers for the process that started it: starts them when asked, and ends all of them when that
// process ends, however it does.
import { pgbouncerReason, startPgbouncer } from './pgbouncer.js'
import { postgresReason, startPostgres } from './postgres.js'
import { redisReason, startCluster, startRedis, startReplicatedCluster } from './redis.js'
import { startSentinel } from './sentinel.js'
import { startTls, tlsReason } from './tls.js'

const KINDS = {
  redis: { reason: redisReason, start: startRedis },
  cluster: { reason: redisReason, start: startCluster },
  replicated: { reason: redisReason, start: startReplicatedCluster },
  sentinel: { reason: redisReason, start: startSentinel },
  tls: { reason: tlsReason, start: startTls },
  postgres: { reason: postgresReason, start: startPostgres },
  pgbouncer: { reason: pgbouncerReason, start: startPgbouncer },
}

const running = new Map()

const say = (line) => process.stderr.write(`headgate: ${line}\n`)

const start = async ({ kind, settings }) => {
  const reason = KINDS[kind].reason(say)
  if (reason !== undefined) return { skipped: reason }
  const service = await KINDS[kind].start(settings)
  const id = running.size + 1
  running.set(id, service)
  return { id, url: service.url, ports: service.ports, ca: service.ca }
}

/** `act` is to start, to kill or to restart one. */
const answer = async ({ act, id, ...asked }) => {
  if (act === 'start') return start(asked)
  await running.get(id)[act]()
  return {}
}

process.on('message', async ({ number, ...asked }) => {
  try {
    process.send({ number, answer: await answer(asked) })
  } catch (error) {
    process.send({ number, failure: error.message })
  }
})

process.on('disconnect', async () => {
  await Promise.allSettled([...running.values()].map((service) => service.stop()))
  process.exit(0)
})

// Meant for the parent, from the same terminal: it will let go of us.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
