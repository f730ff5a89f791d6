/**
 * How servers on one store hear at once that a followed stream has grown. A ring is a hint: it may be
 * lost, come twice or come for nothing, so those who follow poll as well.
 */
import type { Append } from '../../core/store.ts'
import type { StoreEvent } from './line.ts'

/** What a kind of server offers for it. */
export interface Wire {
  /** Tells every server that listens; of one that does not, nothing is known. */
  ring(stream: string): Promise<unknown>
  /**
   * Hears rings until the returned function is called, over a connection of its own that is opened again
   * when it is lost. `listening` is told when it begins to hear and when it no longer does.
   */
  hear(heard: (stream: string) => void, listening: (on: boolean) => void): () => void
}

export interface Bell {
  /** Tells of the followed streams among them. Never waits, never throws. */
  rang(appends: readonly Append[]): void
  /** Calls `wake` at each ring, and whenever some may have been missed. Ends with the returned function. */
  listen(stream: string, wake: () => void): () => void
  /** Resolves when no ring is under way, and nothing is heard any more. */
  close(): Promise<void>
}

export const createBell = (wire: Wire, observe: (event: StoreEvent) => void): Bell => {
  const ringing = new Set<Promise<unknown>>()
  const wakes = new Set<{ readonly stream: string; readonly wake: () => void }>()
  let hangUp: (() => void) | undefined

  const ring = (stream: string): void => {
    // Polls find what it fails to tell.
    const told = wire.ring(stream).catch(() => {})
    ringing.add(told)
    void told.finally(() => ringing.delete(told))
  }
  const pickUp = (): (() => void) =>
    wire.hear(
      (stream) => {
        for (const each of wakes) if (each.stream === stream) each.wake()
      },
      (on) => {
        observe({ kind: 'listening', on })
        // Meanwhile rings may have been lost.
        if (on) for (const { wake } of wakes) wake()
      },
    )

  return {
    rang: (appends) => {
      const followed = appends.filter((append) => append.followed === true)
      for (const stream of new Set(followed.map((append) => append.stream))) ring(stream)
    },
    listen: (stream, wake) => {
      const listener = { stream, wake }
      wakes.add(listener)
      hangUp ??= pickUp()
      return () => {
        wakes.delete(listener)
        if (wakes.size > 0) return
        hangUp?.()
        hangUp = undefined
      }
    },
    close: async () => {
      hangUp?.()
      hangUp = undefined
      await Promise.all(ringing)
    },
  }
}
