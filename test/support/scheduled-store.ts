/**
 * A store whose calls wait until a seeded scheduler lets one of them happen: every interleaving of
 * several servers can be played, and played again. A call may fail before it happens, lose its reply
 * afterwards, or be given up and happen later all the same; and a server may stop for good, with calls of
 * its own still on their way.
 */
import { StoreError } from '../../src/core/errors.ts'
import type { Store } from '../../src/core/store.ts'
import type { Random } from './random.ts'

export interface Scheduler {
  /** One server's way to the store. */
  server(): { readonly store: Store; stop(): void }
  /** Lets calls happen, in a random order, until none is left; `between` them other things may. */
  drain(between?: () => void): Promise<void>
  /** From here on nothing fails. */
  heal(): void
}

/** Of a hundred calls, how many fail on their way there, how many on their way back, how many come late. */
export interface Mishaps {
  readonly lostCalls: number
  readonly lostReplies: number
  readonly lateCalls: number
}

export const scheduler = (inner: Store, random: Random, mishaps: Mishaps): Scheduler => {
  const waiting: (() => Promise<void>)[] = []
  let isWell = false

  const fate = (): 'lost call' | 'lost reply' | 'late' | 'well' => {
    if (isWell) return 'well'
    const turn = random.below(100)
    if (turn < mishaps.lostCalls) return 'lost call'
    if (turn < mishaps.lostCalls + mishaps.lostReplies) return 'lost reply'
    const { lostCalls, lostReplies, lateCalls } = mishaps
    return turn < lostCalls + lostReplies + lateCalls ? 'late' : 'well'
  }

  return {
    server: () => {
      let stopped = false
      const transact: Store['transact'] = (step, guess, intent) =>
        new Promise((resolve, reject) => {
          if (stopped) return
          waiting.push(async () => {
            const became = fate()
            // Nobody is there to hear of it.
            const hear = (tell: () => void) => (stopped ? undefined : tell())
            if (became === 'lost call') return hear(() => reject(down()))
            if (became === 'late') {
              waiting.push(async () => void (await inner.transact(step, guess, intent)))
              return hear(() => reject(down()))
            }
            try {
              const result = await inner.transact(step, guess, intent)
              hear(() => (became === 'lost reply' ? reject(down()) : resolve(result)))
            } catch (error) {
              hear(() => reject(error))
            }
          })
        })
      return {
        store: { ...inner, transact },
        stop: () => {
          stopped = true
        },
      }
    },
    drain: async (between) => {
      await settle()
      while (waiting.length > 0) {
        const [next] = waiting.splice(random.below(waiting.length), 1)
        await next?.()
        between?.()
        await settle()
      }
    },
    heal: () => {
      isWell = true
    },
  }
}

/** Until whoever was answered has asked on, or has nothing left to ask. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const down = () =>
  new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'the store', rule: 'must answer' })
