import { expect, test } from 'vitest'
import type { Store } from '../../core/store.ts'
import { type Instant, instant, span } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock } from '../../testing/index.ts'
import { createRates } from './rates.ts'

const ADA = { issuer: 'did:key:zAda', chain: [] }
const LABELLED = [7, 70, 700]

/** Rates 0 to 999, a microsecond apart; what is read of the store is counted. */
const open = async () => {
  const clock = fakeClock()
  const plain = memory({ clock })
  const read = { calls: 0, keys: 0, entries: 0 }
  const store: Store = {
    ...plain,
    transact: (step, guess) => {
      read.calls += 1
      return plain.transact((view) => {
        const look = (...keys: readonly string[]) => {
          read.keys += keys.length
          return view.read(...keys)
        }
        return step({ ...view, read: look })
      }, guess)
    },
    range: (...args) => {
      read.calls += 1
      return plain.range(...args)
    },
    read: async (...args) => {
      read.calls += 1
      const page = await plain.read(...args)
      read.entries += page.length
      return page
    },
  }
  const start = clock()
  const rates = createRates({ store, provider: 'did:web:example.com' })
  for (let n = 0; n < 1_000; n++) {
    const label = LABELLED.includes(n) ? 'fraud, 2nd ward' : 'spam'
    await rates.add({ subject: `${n}.test`, rate: n, label }, ADA)
    clock.advance(span(1))
  }
  Object.assign(read, { calls: 0, keys: 0, entries: 0 })
  return { rates, read, nth: (n: number): Instant => instant(start + n) }
}

test('a query reads a part of one list, not all there is', async () => {
  const { rates, read, nth } = await open()
  const label = 'fraud, 2nd ward'
  const seventies = [70, ...Array.from({ length: 10 }, (_, n) => 700 + n)]
  for (const [query, expected] of [
    [{ label }, LABELLED],
    [{ label, since: nth(50), until: nth(700) }, [70]],
    [{ prefix: '70' }, seventies],
    [{ prefix: '70', label }, [70, 700]],
    [{ prefix: '70', since: nth(705) }, [705, 706, 707, 708, 709]],
    [{ since: nth(995), until: nth(998) }, [995, 996, 997]],
    [{ label: 'fraud' }, []],
    [{ prefix: 'x' }, []],
  ] as const) {
    Object.assign(read, { calls: 0, keys: 0 })
    const page = await rates.query({ ...query, limit: 50 })
    expect(page.rates.map(({ rate }) => rate)).toEqual(expected)
    expect(page.next).toBeUndefined()
    // The time of the store and the list, side by side.
    expect([read.calls, read.keys]).toEqual([2, 0])
  }
})

test('all that match are found once, page by page, in every list', async () => {
  const { rates } = await open()
  for (const [query, count] of [
    [{}, 1_000],
    [{ label: 'spam' }, 997],
    [{ prefix: '9' }, 111],
    [{ label: 'spam', prefix: '7' }, 108],
  ] as const) {
    const seen: number[] = []
    let after: string | undefined
    do {
      const page = await rates.query({ ...query, after, limit: 40 })
      expect(page.rates.length).toBeLessThanOrEqual(40)
      seen.push(...page.rates.map(({ rate }) => rate))
      after = page.next
    } while (after !== undefined)
    expect([seen.length, new Set(seen).size]).toEqual([count, count])
  }
})

test('what was removed or replaced is in no list', async () => {
  const { rates } = await open()
  const [first] = (await rates.query({ limit: 1 })).rates
  await rates.remove([first?.id ?? ''], ADA)
  await rates.set({ subject: '1.test', rate: 5_000, label: 'spam' }, ADA)
  const found = await rates.query({ limit: 1_000 })
  expect(found.rates.map(({ rate }) => rate).sort((a, b) => a - b)).toEqual([
    ...Array.from({ length: 998 }, (_, n) => n + 2),
    5_000,
  ])
})

test('the history of a subject reads the changes of that subject alone', async () => {
  const { rates, read } = await open()
  await rates.add({ subject: '42.TEST', rate: 1 }, ADA)
  Object.assign(read, { calls: 0, entries: 0 })
  const { entries } = await rates.history({ subject: 'https://42.test/x' })
  expect(entries).toEqual([])
  const own = await rates.history({ subject: '42.test' })
  expect(own.entries.map(({ added }) => added[0]?.rate)).toEqual([42, 1])
  expect([read.calls, read.entries]).toEqual([2, 2])
})
