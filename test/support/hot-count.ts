/** A count that many add to, with an entry for each: what tests of faults look at afterwards. */
import { nameOf } from '../../src/core/names.ts'
import { answer, type Store } from '../../src/core/store.ts'

/** Its slot is 3443: of the first master, where there are three. */
const TAG = 'user1000'
const KEY = nameOf('test', TAG, 'count')
export const ENTRIES = nameOf('test', TAG, 'entries')

export const addOne = (store: Store): Promise<number> =>
  store.transact(
    (view) => {
      const next = Number(view.read(KEY)[0] ?? 0) + 1
      const entry = String(next)
      return {
        writes: [{ key: KEY, value: entry }],
        appends: [{ stream: ENTRIES, entry }],
        result: next,
      }
    },
    [KEY],
  )

export const counted = async (store: Store): Promise<number> => {
  const [count = '0'] = await store.transact((view) => answer(view.read(KEY)), [KEY], 'look')
  return Number(count)
}

/** The entries, which must be the numbers from 1 to the count: each effect once, in order. */
export const entriesOf = async (store: Store): Promise<readonly number[]> =>
  (await store.read(ENTRIES, 0, 10_000)).map(({ entry }) => Number(entry))

/** Calls again until the store answers. For what must come back by itself. */
export const untilItAnswers = async <T>(call: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await call()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
