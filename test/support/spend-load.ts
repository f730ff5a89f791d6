/** Spends that go on and on while a store suffers, and what became of them. */
import { expect } from 'vitest'
import { StoreError } from '../../src/core/errors.ts'
import type { Store } from '../../src/core/store.ts'
import { hours } from '../../src/core/time.ts'
import { limiter } from '../../src/requests/limiter/typed-limiter.ts'
import { until } from './cli.ts'
import { untilItAnswers } from './hot-count.ts'

/** So large that no test empties it; a token takes an hour, so that time gives none back meanwhile. */
const RULE = { burst: 1_000_000, count: 1, period: '1h' } as const
const LIMITS = { Closed: RULE, Open: { ...RULE, onStoreFailure: 'open' } } as const

/** Its slot is of the first master, where there are three. */
const ID = 'user1000'

export interface SpendSums {
  /** Charged, by the word of the store. */
  readonly admitted: number
  /** Not answered by the store, and so rejected: the limit is closed. Each may have been charged. */
  readonly failed: number
  /** Not answered by the store, and so let through: the limit is open. */
  readonly open: number
}

export interface SpendLoad {
  readonly sums: SpendSums
  /** Resolves when the store has answered again. */
  goesOn(): Promise<void>
  /** Resolves when both policies have acted again. */
  isRefused(): Promise<void>
  /**
   * Ends it, and answers what was charged in the end. Rejects unless every failure was told to
   * `observe`, which the server counts.
   */
  end(): Promise<SpendSums & { readonly charged: number }>
}

const LANES = 4

export const startSpends = (store: Store): SpendLoad => {
  const sums = { admitted: 0, failed: 0, open: 0 }
  const told = { closed: 0, open: 0 }
  let isOver = false
  const gate = limiter({
    store,
    limits: LIMITS,
    observe: (event) => {
      if (event.kind === 'store-failure') told[event.open ? 'open' : 'closed'] += 1
    },
  })
  const closed = async () => {
    try {
      if ((await gate.spend('Closed', ID)).allowed) sums.admitted += 1
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      sums.failed += 1
      await pause()
    }
  }
  const open = async () => {
    const { allowed, reason } = await gate.spend('Open', ID)
    expect(allowed).toBe(true)
    if (reason === 'STORE_UNAVAILABLE') sums.open += 1
    await pause()
  }
  const lane = async (turn: () => Promise<void>) => {
    while (!isOver) await turn()
  }
  const lanes = Promise.all([...Array.from({ length: LANES }, () => lane(closed)), lane(open)])

  const whileRunning = (isSo: () => boolean) =>
    Promise.race([until(isSo), lanes.then(() => expect(isOver).toBe(false))]).then(() => {})
  return {
    sums,
    goesOn: () => {
      const { admitted } = sums
      return whileRunning(() => sums.admitted > admitted + LANES)
    },
    isRefused: () => {
      const before = { ...sums }
      return whileRunning(() => sums.failed > before.failed && sums.open > before.open)
    },
    end: async () => {
      isOver = true
      await lanes
      expect(told).toEqual({ closed: sums.failed, open: sums.open })
      const { resetIn } = await untilItAnswers(() => gate.check('Closed', ID, { cost: 0 }))
      return { ...sums, charged: Math.round(Number(resetIn) / hours(1)) }
    },
  }
}

/** Where the store does not answer, a turn takes no time: others must get theirs. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 5))

/** What was told to be charged is charged; and no more than that, and what nobody was told of. */
export const expectNothingExtra = ({
  admitted,
  failed,
  charged,
}: SpendSums & { readonly charged: number }): void => {
  expect(admitted).toBeGreaterThan(0)
  expect(charged).toBeGreaterThanOrEqual(admitted)
  expect(charged).toBeLessThanOrEqual(admitted + failed)
}
