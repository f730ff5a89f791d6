/**
 * The way to a server on another machine. No wait on it is endless; and once nobody answers there,
 * calls fail at once instead of waiting each in turn, but for one now and then that finds out whether
 * somebody does again.
 */
import { HeadgateError, StoreError } from '../../core/errors.ts'
import { millis, type Span, seconds, toMillis, type Uptime } from '../../core/time.ts'
import { uptime as processUptime } from '../../lib/clock.ts'

export interface ServerLine {
  /** Rejects with a `StoreError`, or with what is wrong with the server by our own rules. */
  ask<T>(work: () => Promise<T>): Promise<T>
}

export interface LineOptions {
  /** Names the store in errors. */
  readonly thing: string
  /** Whether a failure was the server's own word: then it is there, however unwell. */
  readonly isAnswer: (cause: unknown) => boolean
  /** How long an answer may take; 2 s. */
  readonly timeout?: Span
  readonly uptime?: Uptime
  readonly observe?: (event: StoreEvent) => void
}

/**
 * How a round trip ended: `answered`; `refused`, with an error of the server; `cut`, as nobody was there or
 * the connection broke; `timeout`, without an answer in time.
 */
export type TripOutcome = 'answered' | 'refused' | 'cut' | 'timeout'

/** What those who run a store on another machine want to know of it. */
export type StoreEvent =
  | { readonly kind: 'trip'; readonly outcome: TripOutcome }
  /** Not made, as the store is known to be down. */
  | { readonly kind: 'spared' }
  /** Sent again, as the server had turned it back whole. */
  | { readonly kind: 'retry' }
  /** From now on calls fail at once, but for one now and then that finds out. */
  | { readonly kind: 'down'; readonly finding: string }
  | { readonly kind: 'up' }
  /** Whether changes that others make are heard of at once; polled for they are in any case. */
  | { readonly kind: 'listening'; readonly on: boolean }

export const ANSWER_WITHIN: Span = seconds(2)

/** Between two tries while nobody answers: what a server that came back is late by. */
const PROBE_EVERY: Span = millis(500)

/** A connection may be cut for any reason; if its successor is cut too, nobody is there. */
const CUTS_UNTIL_DOWN = 2

export const openLine = (options: LineOptions): ServerLine => {
  const { thing, isAnswer, timeout = ANSWER_WITHIN, uptime = processUptime } = options
  const { observe = () => {} } = options
  let cuts = 0
  let down: { readonly cause: unknown; readonly probeAt: number } | undefined

  const answered = (outcome: TripOutcome): void => {
    const wasDown = down !== undefined
    cuts = 0
    down = undefined
    observe({ kind: 'trip', outcome })
    if (wasDown) observe({ kind: 'up' })
  }
  const failed = (cause: unknown): void => {
    if (isAnswer(cause)) {
      answered('refused')
      return
    }
    const wasDown = down !== undefined
    const isSilent = cause instanceof Silence
    cuts += 1
    if (isSilent || cuts >= CUTS_UNTIL_DOWN) down = { cause, probeAt: uptime() + PROBE_EVERY }
    observe({ kind: 'trip', outcome: isSilent ? 'timeout' : 'cut' })
    if (down !== undefined && !wasDown) observe({ kind: 'down', finding: wordsOf(cause) })
  }

  return {
    ask: async (work) => {
      if (down !== undefined) {
        if (uptime() < down.probeAt) {
          observe({ kind: 'spared' })
          throw unavailable(thing, down.cause)
        }
        // This call finds out; the others need not wait for it.
        down = { ...down, probeAt: uptime() + Math.max(PROBE_EVERY, timeout) }
      }
      try {
        const found = await within(work(), timeout)
        answered('answered')
        return found
      } catch (cause) {
        if (cause instanceof HeadgateError) {
          // Somebody answered, and what was answered breaks a rule of ours: a fence, say.
          answered('refused')
          throw cause
        }
        failed(cause)
        throw unavailable(thing, cause)
      }
    },
  }
}

/** A line that failed and was not asked since says nothing about now. */
const TOLD_FOR: Span = seconds(10)

/** Opens lines of one store: it is told as down while any of them is, and as up once none is. */
export const openLines = ({ observe, ...options }: LineOptions): (() => ServerLine) => {
  const { uptime = processUptime } = options
  const failing = new Map<object, number>()
  let isDown = false
  return () => {
    const line = {}
    const hear = (event: StoreEvent): void => {
      if (event.kind === 'up') failing.delete(line)
      else if (event.kind === 'down' || failing.has(line)) failing.set(line, uptime())
      if (event.kind !== 'down' && event.kind !== 'up') observe?.(event)
      for (const [other, at] of failing) if (uptime() - at > TOLD_FOR) failing.delete(other)
      if (failing.size > 0 === isDown) return
      isDown = failing.size > 0
      observe?.(event.kind === 'down' ? event : { kind: 'up' })
    }
    return openLine({ ...options, observe: hear })
  }
}

class Silence extends Error {}

function within<T>(work: Promise<T>, timeout: Span): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    const say = () => reject(new Silence(`no answer within ${toMillis(timeout)} ms`))
    timer = setTimeout(say, toMillis(timeout))
  })
  return Promise.race([work, silence]).finally(() => clearTimeout(timer))
}

const unavailable = (thing: string, cause: unknown): StoreError =>
  new StoreError(
    {
      code: 'STORE_UNAVAILABLE',
      thing,
      rule: 'must be reachable and take writes',
      finding: wordsOf(cause),
    },
    { cause },
  )

/** Of several addresses of one name, Node tells only that all failed. */
function wordsOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0) return wordsOf(cause.errors[0])
  return cause instanceof Error ? cause.message : String(cause)
}
