/**
 * Callers who ask on plain sockets, with one request that never changes. A client of `node:http` takes
 * about as long to ask as the server to say no: it would be late itself, and its answers with it.
 */
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/** Later answers are of no use to who waits: proxies and clients give up after about as long. */
export const DEADLINE_MS = 1_000

const HEAD_END = '\r\n\r\n'

/** The request as bytes. */
export const batchRequest = (host, body) =>
  Buffer.from(
    `POST /v1/batch HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}${HEAD_END}${body}`,
  )

/** Connections to one server, each of which is asked again when it has answered. */
const openCallers = (url, request, connections) => {
  const { hostname, port } = new URL(url)
  const idle = []
  const busy = new Set()

  const open = () => {
    const caller = { socket: connect(Number(port), hostname), since: 0, text: '', answered: null }
    caller.socket.setNoDelay()
    caller.socket.on('data', (data) => {
      caller.text += data.latin1Slice()
      const status = statusOf(caller.text)
      if (status !== undefined) settle(caller, status)
    })
    caller.socket.on('error', () => {})
    caller.socket.on('close', () => {
      if (idle.includes(caller)) idle.splice(idle.indexOf(caller), 1)
      else settle(caller, 0)
    })
    return caller
  }
  const settle = (caller, status) => {
    if (!busy.delete(caller)) return
    caller.text = ''
    if (status > 0) idle.push(caller)
    caller.answered(status)
  }
  return {
    /** Resolves with the status, or 0 where there was none in time; undefined: no connection is free. */
    ask: () => {
      if (idle.length === 0 && busy.size >= connections) return undefined
      const caller = idle.pop() ?? open()
      caller.since = performance.now()
      busy.add(caller)
      caller.socket.write(request)
      return new Promise((resolve) => {
        caller.answered = resolve
      })
    },
    /** Those who have waited for too long leave. To be called when all answers that came are read. */
    giveUp: () => {
      const since = performance.now() - DEADLINE_MS
      for (const caller of busy) {
        if (caller.since > since) break
        settle(caller, 0)
        caller.socket.destroy()
      }
    },
    close: () => {
      for (const { socket } of [...idle, ...busy]) socket.destroy()
    },
  }
}

/** The status of an answer that is whole. */
const statusOf = (text) => {
  const end = text.indexOf(HEAD_END)
  if (end < 0) return undefined
  const length = Number(/^content-length: (\d+)/im.exec(text.slice(0, end))?.[1])
  if (text.length < end + HEAD_END.length + length) return undefined
  return Number(text.slice(9, 12))
}

/** Some callers, each of whom asks again when it is answered. */
export const askInTurn = async (url, request, { callers, millis }) => {
  const load = openCallers(url, request, callers)
  const count = createCount()
  const end = performance.now() + millis
  const caller = async () => {
    while (performance.now() < end) count.add(await load.ask())
  }
  await Promise.all(Array.from({ length: callers }, caller))
  load.close()
  return count.result()
}

/**
 * `rate` requests a second, whatever becomes of them, on at most so many connections. What is answered in the first `warmMs` does not
 * count, in which the connections are opened; `begin` is called after it.
 */
export const askOnClock = async (url, request, clock) => {
  const { rate, connections, warmMs, millis, begin } = clock
  const load = openCallers(url, request, connections)
  let count = createCount()
  const asked = new Set()
  const ask = () => {
    const one = Promise.resolve(load.ask()).then((status) => {
      count.add(status)
      asked.delete(one)
    })
    asked.add(one)
  }
  await keepAsking(warmMs, rate, ask, load.giveUp)
  await begin()
  count = createCount()
  await keepAsking(millis, rate, ask, load.giveUp)
  while (asked.size > 0) await keepAsking(1, 0, ask, load.giveUp)
  load.close()
  return count.result()
}

const keepAsking = async (millis, rate, ask, giveUp) => {
  const start = performance.now()
  let due = 0
  for (let last = start; last - start < millis; ) {
    await setTimeout(1)
    giveUp()
    const now = performance.now()
    due += ((now - last) / 1_000) * rate
    last = now
    for (; due >= 1; due--) ask()
  }
}

/** Answers by what became of them. */
const createCount = () => {
  const start = performance.now()
  const statuses = new Map()
  const of = (status) => statuses.get(status) ?? 0
  return {
    add: (status) => statuses.set(status, of(status) + 1),
    result: () => ({
      good: of(200),
      shed: of(503),
      late: of(0),
      unasked: of(undefined),
      perSecond: (of(200) / (performance.now() - start)) * 1_000,
    }),
  }
}
