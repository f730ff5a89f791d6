/** How a request is shed: told 503 at a pace, and its connection kept from sending more meanwhile. */
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Span } from '../../core/time.ts'
import { createSampler } from './journal.ts'
import { httpMistake, PROBLEM_JSON, RETRY_SECONDS, toProblem } from './problems.ts'

/** Why a request is shed. */
export type ShedReason = 'in-flight' | 'turn'

/**
 * A shed was seen to take 55 us, 35 of them in the system's `write`, which no shorter way to it saves:
 * so many are six per cent of a processor.
 */
const SHEDS_A_PAUSE = 100
const PAUSE_MS = 100

/** A minute of them; a client that is told nothing for longer has left. */
const MAX_HELD = 60_000

/**
 * The pace of sheds. A client that asks again as soon as it is told no would otherwise be told no as
 * fast as the processor can, and nobody would be served. So what comes beyond the pace waits for its
 * answer, and cannot ask meanwhile.
 */
export interface ShedPace {
  /** Runs `tell` at once, or in its turn. */
  shed(tell: Tell): 'told' | 'held' | 'full'
  /** Tells all who wait. */
  flush(): void
}

/** False: whom it would tell has left. */
type Tell = () => boolean

export const createPace = (later: (callback: () => void, ms: number) => void): ShedPace => {
  let left = SHEDS_A_PAUSE
  let resting = false
  const held: Tell[] = []
  const rest = (): void => {
    resting = true
    later(() => {
      resting = false
      left = SHEDS_A_PAUSE
      for (let tell = held.shift(); tell !== undefined; tell = held.shift()) {
        if (tell()) left -= 1
        if (left === 0) break
      }
      if (left < SHEDS_A_PAUSE) rest()
    }, PAUSE_MS)
  }
  return {
    shed: (tell) => {
      if (!resting) rest()
      if (left > 0) {
        left -= 1
        tell()
        return 'told'
      }
      if (held.length >= MAX_HELD) return 'full'
      held.push(tell)
      return 'held'
    },
    flush: () => {
      for (let tell = held.shift(); tell !== undefined; tell = held.shift()) tell()
    },
  }
}

interface ShedOptions {
  readonly settings: { readonly inFlight: number; readonly turn: Span }
  readonly onShed: (reason: ShedReason) => void
  /** Milliseconds of a clock that only grows. */
  readonly now: () => number
}

export const createShedder = ({ settings, onShed, now }: ShedOptions) => {
  const pace = createPace((callback, ms) => setTimeout(callback, ms).unref())
  const sample = createSampler({ oneIn: 1, perSecond: 1 }, now)
  const answers = {
    'in-flight': answerFor('in-flight', settings),
    turn: answerFor('turn', settings),
  }
  const shed = (request: FastifyRequest, reply: FastifyReply, reason: ShedReason): void => {
    onShed(reason)
    const leftOut = sample()
    if (leftOut !== undefined)
      request.log.warn({ reason, leftOut }, 'overloaded: a request is shed')
    // Past Fastify, whose errors cost as much as a decision.
    reply.hijack()
    const { status, headers, body } = answers[reason]
    const { socket } = request.raw
    let waits = false
    const told = pace.shed(() => {
      if (socket.destroyed) return false
      if (waits) endWaiting(socket)
      reply.raw.writeHead(status, headers).end(body)
      return true
    })
    waits = told === 'held'
    if (waits) startWaiting(socket)
    if (told === 'full') request.raw.destroy()
  }
  return { shed, flush: pace.flush }
}

interface Waiting {
  /** Requests of a connection, in line or for a 503 that is held. */
  count: number
  reading: 'on' | 'ending' | 'off'
}

const waitingOn = new WeakMap<Socket, Waiting>()

/**
 * Of who waits and sends more, no more is read: else one connection could have the server keep any
 * number of requests. Not of who only waits: nobody would see that it has left.
 */
export function startWaiting(socket: Socket): void {
  const state: Waiting = waitingOn.get(socket) ?? { count: 0, reading: 'on' }
  state.count += 1
  waitingOn.set(socket, state)
  if (state.count < 2 || state.reading === 'ending') return
  state.reading = 'ending'
  // When Node has taken all of this read: after each request in it, Node would read on.
  process.nextTick(() => {
    state.reading = 'off'
    socket.pause()
    if (state.count === 0) readOn(socket, state)
  })
}

export function endWaiting(socket: Socket): void {
  const state = waitingOn.get(socket)
  if (state === undefined) return
  state.count -= 1
  if (state.count === 0 && state.reading === 'off') readOn(socket, state)
}

function readOn(socket: Socket, state: Waiting): void {
  state.reading = 'on'
  socket.resume()
}

/** Written once: under load nothing about it changes. */
function answerFor(reason: ShedReason, { inFlight, turn }: ShedOptions['settings']) {
  const rule =
    reason === 'turn'
      ? `takes what it can answer within ${turn / 1_000} ms`
      : `has at most ${inFlight} requests on their way`
  const mistake = { code: 'OVERLOADED', thing: 'the server', rule, finding: 'more' } as const
  const problem = toProblem(httpMistake(mistake))
  const body = JSON.stringify(problem)
  const headers = {
    'content-type': `${PROBLEM_JSON}; charset=utf-8`,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'retry-after': RETRY_SECONDS,
  }
  return { status: problem.status, headers, body }
}
