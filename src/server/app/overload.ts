/**
 * What a server does when it is asked more than it can: it takes as much as it can answer in time and
 * sheds the rest with 503, before it reads their bodies or asks the store.
 *
 * Two signs of too much. Requests that wait for the store: as many as `inFlight`. Requests that wait
 * for the processor would do so in the system's queues, where nobody can count them; so they are taken
 * from there soon and wait in a line, of which it is known how fast it moves.
 */
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { millis } from '../../core/time.ts'
import { duration, wholeNumberIn } from '../../documents/settings/reader.ts'
import { type SettingsOf, settingsTable } from '../../documents/settings/table.ts'
import { createShedder, endWaiting, type ShedReason, startWaiting } from './shed.ts'

/** At some 20 kB each with its socket, twenty gigabytes. */
const MAX_IN_FLIGHT = 1_000_000

export const OVERLOAD_SETTINGS = settingsTable({
  inFlight: {
    reader: wholeNumberIn({ min: 1, max: MAX_IN_FLIGHT }),
    default: 1_000,
    sentence:
      'How many requests may be on their way at once; more are answered 503 (`OVERLOADED`).',
  },
  turn: {
    reader: duration,
    default: millis(250),
    sentence:
      'How long a request may wait for its turn when the processor is busy; those who would wait longer, beyond 32, are answered 503.',
  },
})

/** Who waits for the processor, in the order in which they came. */
export interface Line {
  /** Calls `serve` now or in its turn. Full: it would wait for too long. */
  join(serve: () => void, connection: 'new' | 'known'): 'served' | 'waits' | 'full'
}

interface LineOptions {
  readonly turnMs: number
  /** Milliseconds of a clock that only grows. */
  readonly now: () => number
  /** Calls back in the next turn of the event loop, after what came meanwhile. */
  readonly soon: (callback: () => void) => void
}

/** So many may wait, however long it takes: few that wait are a stall, not a crowd. */
const ALWAYS_TAKEN = 32

/** So long the line is served before the loop looks who came. Who is shed hears it about as soon. */
const SERVE_MS = 10

/** So many are served between two looks at most: the smallest then take about `SERVE_MS`. */
const STEPS = 128

/**
 * So long new connections are taken in before the line is served again. libuv accepts one in a turn of
 * the loop: were it served in the same turn, those behind it would wait in the system's queue until
 * their clients have left. Longer, and a flood of connections would have more than a twentieth of the processor.
 */
const INTAKE_MS = 0.5

export const createLine = ({ turnMs, now, soon }: LineOptions): Line => {
  const waiting = createQueue<() => void>()
  const speed = createSpeed()
  let turning = false
  let newCame = false
  let serveEnd = 0
  let intakeEnd = 0

  // One a callback: only when that has returned is its work done, and the clock tells what it took.
  const step = (): void => {
    const at = now()
    if (serveEnd === 0) serveEnd = at + SERVE_MS
    if (at > serveEnd) return
    speed.moved()
    waiting.shift()?.()
  }
  const endTurn = (): void => {
    turning = waiting.length > 0
    if (!turning) return
    const at = now()
    speed.look(at)
    if (serveEnd > 0) intakeEnd = at + INTAKE_MS
    serveEnd = 0
    if (!newCame || at >= intakeEnd)
      for (let n = Math.min(waiting.length, STEPS); n > 0; n--) soon(step)
    newCame = false
    soon(endTurn)
  }
  return {
    join: (serve, connection) => {
      const at = now()
      if (!turning) {
        turning = true
        serveEnd = at + SERVE_MS
        soon(endTurn)
      }
      if (waiting.length === 0) {
        if (connection === 'known' && at <= serveEnd) {
          serve()
          return 'served'
        }
        speed.start(at)
      }
      if (waiting.length >= ALWAYS_TAKEN && waiting.length * speed.millis() > turnMs) return 'full'
      if (connection === 'new') newCame = true
      waiting.push(serve)
      return 'waits'
    },
  }
}

/** Over so long it is measured: one slow request is no reason to shed. */
const MEASURE_MS = 20

/** How fast a line moves, all that the server does meanwhile included. */
const createSpeed = () => {
  let since = 0
  let count = 0
  let millis = 0
  return {
    start: (at: number): void => {
      since = at
      count = 0
      millis = 0
    },
    moved: (): void => {
      count += 1
    },
    look: (at: number): void => {
      if (count === 0 || at - since < MEASURE_MS) return
      const last = (at - since) / count
      millis = millis === 0 ? last : (millis + last) / 2
      since = at
      count = 0
    },
    /** For one; 0 while it is not known. */
    millis: (): number => millis,
  }
}

/** An array would move all the others with each `shift`, and thousands may wait. */
const createQueue = <Item>() => {
  let coming: Item[] = []
  let going: Item[] = []
  return {
    get length() {
      return coming.length + going.length
    },
    push: (item: Item): void => {
      coming.push(item)
    },
    shift: (): Item | undefined => {
      if (going.length === 0) {
        going = coming.reverse()
        coming = []
      }
      return going.pop()
    },
  }
}

/** Those who ask whether the server lives must hear it most when it is busy. */
const NEVER_SHED: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics'])

declare module 'fastify' {
  interface FastifyRequest {
    /** What became of its place, from its head to the end of its answer and of its work. */
    place: 'none' | 'taken' | 'working' | 'left' | 'answered'
  }
}

interface OverloadOptions {
  readonly settings: SettingsOf<typeof OVERLOAD_SETTINGS>
  readonly onShed: (reason: ShedReason) => void
}

/** To be added before every other hook: a request that is shed costs nothing else. */
export const addOverload = (app: FastifyInstance, { settings, onShed }: OverloadOptions): void => {
  const { inFlight, turn } = settings
  const now = (): number => performance.now()
  const line = createLine({ turnMs: turn / 1_000, now, soon: setImmediate })
  let taken = 0
  const { shed, flush } = createShedder({ settings, onShed, now })
  app.decorateRequest('place', 'none')
  app.addHook('onRequest', (request, reply, done) => {
    if (NEVER_SHED.has(request.routeOptions.url ?? '')) return done()
    const { socket } = request.raw
    const known = pendingOn.get(socket)
    const pending = known ?? watch(socket)
    let waits = false
    const serve = (): void => {
      // Who has left while it waited is not served for nothing.
      if (socket.destroyed) return
      if (waits) endWaiting(socket)
      if (taken >= inFlight) {
        shed(request, reply, 'in-flight')
        return
      }
      taken += 1
      request.place = 'taken'
      // Of a client that leaves, the work goes on: its place is free when that has ended too.
      onceEnded(pending, reply, () => {
        if (request.place === 'working') request.place = 'left'
        else taken -= 1
      })
      done()
    }
    const joined = line.join(serve, known === undefined ? 'new' : 'known')
    waits = joined === 'waits'
    if (waits) startWaiting(socket)
    if (joined === 'full') shed(request, reply, 'turn')
  })
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.place === 'taken') request.place = 'working'
    done()
  })
  app.addHook('onSend', (request, _reply, _payload, done) => {
    if (request.place === 'left') taken -= 1
    if (request.place !== 'none') request.place = 'answered'
    done()
  })
  app.addHook('preClose', async () => flush())
}

/**
 * Calls back once: when the answer has ended, or the connection that it was for. Of several requests
 * sent at once on one connection, Node tells only the answer whose turn it is that the connection has
 * closed; those that wait behind it would keep their places for ever.
 */
function onceEnded(pending: Set<() => void>, reply: FastifyReply, end: () => void): void {
  pending.add(end)
  reply.raw.once('close', () => {
    if (pending.delete(end)) end()
  })
}

/** One listener for each connection, not for each request: a connection may carry a thousand. */
const pendingOn = new WeakMap<Socket, Set<() => void>>()

function watch(socket: Socket): Set<() => void> {
  const pending = new Set<() => void>()
  pendingOn.set(socket, pending)
  socket.once('close', () => {
    for (const end of pending) if (pending.delete(end)) end()
  })
  return pending
}
