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
}

export const ANSWER_WITHIN: Span = seconds(2)

/** Between two tries while nobody answers: what a server that came back is late by. */
const PROBE_EVERY: Span = millis(500)

/** A connection may be cut for any reason; if its successor is cut too, nobody is there. */
const CUTS_UNTIL_DOWN = 2

export const openLine = (options: LineOptions): ServerLine => {
  const { thing, isAnswer, timeout = ANSWER_WITHIN, uptime = processUptime } = options
  let cuts = 0
  let down: { readonly cause: unknown; readonly probeAt: number } | undefined

  const hear = (cause: unknown): void => {
    if (isAnswer(cause)) {
      cuts = 0
      down = undefined
      return
    }
    cuts += 1
    if (cause instanceof Silence || cuts >= CUTS_UNTIL_DOWN) {
      down = { cause, probeAt: uptime() + PROBE_EVERY }
    }
  }

  return {
    ask: async (work) => {
      if (down !== undefined) {
        if (uptime() < down.probeAt) throw unavailable(thing, down.cause)
        // This call finds out; the others need not wait for it.
        down = { ...down, probeAt: uptime() + Math.max(PROBE_EVERY, timeout) }
      }
      try {
        const found = await within(work(), timeout)
        cuts = 0
        down = undefined
        return found
      } catch (cause) {
        if (cause instanceof HeadgateError) throw cause
        hear(cause)
        throw unavailable(thing, cause)
      }
    },
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
      finding: cause instanceof Error ? cause.message : String(cause),
    },
    { cause },
  )
