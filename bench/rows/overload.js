/** A server that is asked more than it can: what it still answers in time, beside what it can at best. */
import { startHeadgate } from '../contenders/headgate-server.js'
import { keyAt } from '../keys.js'
import { openLoad } from '../load.js'
import { askInTurn, askOnClock, batchRequest, DEADLINE_MS } from '../open-load.js'

const TIMES = 5

const QUESTIONS = 100

const WARM_MS = 1_000

const MEASURED_MS = 2_000

/** Enough that the server is never idle; so few may wait that it sheds none of them. */
const CALLERS = 32

/** Few enough that opening them does not take longer than asking. */
const CONNECTIONS = 64

/** As many as a proxy opens, and as many as wait for longer than their deadline where all are served. */
const FEW = 1_000
const MANY = 4_000

const ROOM_FOR_ALL = 'overload: { inFlight: 1000000, turn: 1h }\n'

const ROOM_FOR_SOME = `overload: { inFlight: ${CONNECTIONS}, turn: 250ms }\n`

let load

export const prepare = (say) => {
  load = openLoad(say)
}

export const peers = () => load.name

const ids = Array.from({ length: QUESTIONS }, (_, n) => keyAt(n, QUESTIONS))
const REQUEST = batchRequest(
  'localhost',
  JSON.stringify({ questions: ids.map((id) => ({ limit: 'bench', id })) }),
)

const inMemory = () => 'memory:'
const inSqlite = (folder) => `sqlite:${folder}/headgate.db`

/** The processor time that a server has had. */
const processorSeconds = async (url) => {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^headgate_cpu_seconds_total (\S+)$/m.exec(text)?.[1])
}

const aSecond = (perSecond) => `${Math.round(perSecond).toLocaleString('en')} a second by the clock`

/**
 * Answers for each second of the server's processor, which other work on the machine does not take
 * away. `measure` resolves with how many were good, and how many a second by the clock; it may call
 * what it is handed when the measured time begins.
 */
const forProcessor = async (url, measure) => {
  let before = await processorSeconds(url)
  const begin = async () => {
    before = await processorSeconds(url)
  }
  const { good, perSecond, became = '' } = await measure(begin)
  const rate = good / ((await processorSeconds(url)) - before)
  return { rate, note: `${aSecond(perSecond)}${became}` }
}

/** What the server can at best: some callers, each again when it is answered. */
const capacity = (url, millis) => askInTurn(url, REQUEST, { callers: CALLERS, millis })

/** What is answered in time, where `rate` batches come a second, answered or not. */
const goodput = async (url, rate, connections, begin) => {
  const clock = { rate, connections, warmMs: WARM_MS, millis: MEASURED_MS, begin }
  const { good, perSecond, shed, late, unasked } = await askOnClock(url, REQUEST, clock)
  const became = `; of the last round's ${good + shed + late + unasked}, ${shed} shed, ${late} late, ${unasked} without a free connection`
  return { good, perSecond, became }
}

/** One server for several variants: what each of them warmed serves the others too. */
const sharedServer = (storeFor, more) => {
  let starting
  return {
    start: () => {
      starting ??= startHeadgate(storeFor, more)
      return starting
    },
    stop: async () => {
      const server = await starting
      starting = undefined
      await server?.stop()
    },
  }
}

/** `measure` is told the server. */
const variant = (name, shared, measure) => {
  let note = ''
  return {
    name,
    prepare: async () => {
      await shared.start()
    },
    run: async () => {
      const measured = await measure(await shared.start())
      note = measured.note
      return measured.rate
    },
    note: () => note,
    dispose: shared.stop,
  }
}

const batches = ({ rate, note }) => ({ rate: rate * QUESTIONS, note })

const atBest = (name, shared) =>
  variant(name, shared, async ({ url }) =>
    batches(await forProcessor(url, () => capacity(url, MEASURED_MS))),
  )

const onClock = (name, shared, connections) =>
  variant(name, shared, async ({ url }) => {
    const { perSecond } = await capacity(url, WARM_MS)
    return batches(
      await forProcessor(url, (begin) => goodput(url, perSecond * TIMES, connections, begin)),
    )
  })

const BEST = 'as much as it can'

const requests = ids.map((id) => ({ method: 'GET', path: `/v1/gate?limit=bench&id=${id}` }))

const byConnections = (connections, shared) =>
  variant(`${connections} connections`, shared, ({ url, folder }) =>
    forProcessor(url, () => load.goodput(url, requests, folder, connections)),
  )

const shedding = sharedServer(inMemory)
const roomy = sharedServer(inMemory, ROOM_FOR_ALL)
const narrow = sharedServer(inSqlite, ROOM_FOR_SOME)

export const tables = [
  {
    title: `${TIMES} × as much as it can`,
    conditions: `\`POST /v1/batch\` of ${QUESTIONS} in memory. The base is what ${CALLERS} callers get who wait for their answers. The
others are asked ${TIMES} times that, on a clock that waits for no answer, on so many connections at most, for ${MEASURED_MS / 1_000} s after
${WARM_MS / 1_000} s in which they are opened; only what is answered within ${DEADLINE_MS} ms counts. Each measures what it can
at best just before. A second is one of the server's processor: other work on the machine does not count.
The bar: at least 0.8 of the base.`,
    command: 'TMPDIR=/dev/shm npm run bench -- overload',
    base: BEST,
    variants: [
      atBest(BEST, shedding),
      onClock(`${TIMES} × as much, ${FEW} connections`, shedding, FEW),
      onClock(`${TIMES} × as much, ${MANY} connections`, shedding, MANY),
      onClock(`${TIMES} × as much, ${MANY} connections, and nothing is shed`, roomy, MANY),
    ],
  },
  {
    title: `${TIMES} × as many connections as there is room for`,
    conditions: `\`GET /v1/gate\` with SQLite, on connections that ask again at once, whatever they were told, for 2 s. The
server has room for ${CONNECTIONS} requests. Only answers below 400 count. A second is one of the
server's processor. The bar: at least 0.8 of the base.`,
    command: 'TMPDIR=/dev/shm npm run bench -- overload',
    base: `${CONNECTIONS} connections`,
    variants: [byConnections(CONNECTIONS, narrow), byConnections(TIMES * CONNECTIONS, narrow)],
  },
]
