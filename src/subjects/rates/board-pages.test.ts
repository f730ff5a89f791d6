import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import type { Commit, Store, View } from '../../core/store.ts'
import {
  after,
  type Clock,
  days,
  hours,
  instant,
  type Span,
  seconds,
  span,
} from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock } from '../../testing/index.ts'
import { createBoard, createSubjectGate, type SubjectGate } from '../gate.ts'
import { lastPosition } from './follow.ts'
import { addRate } from './rate-steps.ts'
import { createRates } from './rates.ts'

const PROVIDER = 'did:web:example.com'
const ADA = { issuer: 'did:key:zAda', chain: [] }
const BLOCK = { subject: 'a.test', rate: 0 }

const gateOn = (store: Store, clock: Clock): SubjectGate => {
  const timers = { after: () => () => {} }
  const gate = createSubjectGate({
    store,
    provider: PROVIDER,
    clock,
    timers,
    uptime: () => seconds(1),
  })
  onTestFinished(gate.close)
  return gate
}

/** Many at once: one transaction for each would take most of the test. */
const fill = async (store: Store, count: number): Promise<void> => {
  for (let from = 0; from < count; from += 500) {
    await store.transact((view) => {
      const added = Array.from({ length: Math.min(500, count - from) }, (_, at) =>
        blockNumber(view, from + at),
      )
      return {
        writes: added.flatMap(({ writes }) => writes),
        appends: added.flatMap(({ appends }) => appends),
        result: undefined,
      }
    })
  }
}

const blockNumber = (view: View, n: number): Commit<unknown> =>
  addRate(
    view,
    { provider: PROVIDER, by: ADA, newId: `${n}` },
    { subject: `${n}.test`, rate: 0 },
    false,
  )

interface Asked {
  readonly call: 'read' | 'range' | 'transact'
  readonly limit?: number
}

const counted = (store: Store) => {
  const asked: Asked[] = []
  const wrapped: Store = {
    ...store,
    transact: (step, guess) => {
      asked.push({ call: 'transact' })
      return store.transact(step, guess)
    },
    read: (stream, from, limit) => {
      asked.push({ call: 'read', limit })
      return store.read(stream, from, limit)
    },
    range: (index, from, limit) => {
      asked.push({ call: 'range', limit })
      return store.range(index, from, limit)
    },
  }
  const count = (call: Asked['call'], limit?: number): number =>
    asked.filter((each) => each.call === call && (limit === undefined || each.limit === limit))
      .length
  return { store: wrapped, count }
}

describe('a start', () => {
  test('reads the board by pages and finds the end of the stream, whatever is in it', async () => {
    const clock = fakeClock()
    const plain = memory({ clock })
    const rates = times(10_500, 60_000)
    await fill(plain, rates)
    const { store, count } = counted(plain)
    const gate = gateOn(store, clock)
    await gate.ready([])
    expect(count('range')).toBe(Math.floor(rates / 10_000) + 1)
    expect(count('read', 1)).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(rates * 2)) + 2)
    // What followed: once at the start, and once more for who waited for it.
    expect(count('read', 1_000)).toBe(2)
    expect(count('transact')).toBe(0)
    for (const n of [0, 9_999, 10_000, rates - 1]) {
      expect(gate.judge([`${n}.test`]).state).toBe('blocked')
    }
    expect(gate.judge([`${rates}.test`]).state).toBe('clear')
  })

  test.each(['before', 'after'] as const)(
    'misses no change that is made just %s a page of the board is read',
    async (when) => {
      const clock = fakeClock()
      const store = memory({ clock })
      const rates = createRates({ store, provider: PROVIDER })
      const first = await rates.add(BLOCK, ADA)
      let changed = false
      const change = async () => {
        if (changed) return
        changed = true
        await rates.remove([first.ok?.id ?? ''], ADA)
        await rates.add({ subject: 'b.test', rate: 0 }, ADA)
      }
      const gate = gateOn(
        {
          ...store,
          range: async (...args) => {
            if (when === 'before') await change()
            const page = await store.range(...args)
            await change()
            return page
          },
        },
        clock,
      )
      await gate.ready([])
      expect(gate.judge(['a.test']).state).toBe('clear')
      expect(gate.judge(['b.test']).state).toBe('blocked')
    },
  )

  test('finds the end of a stream between the entries of others', async () => {
    const lengths = fc.array(fc.tuple(fc.nat({ max: 40 }), fc.nat({ max: 3 })), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(lengths, async (history) => {
        const store = memory({ clock: fakeClock() })
        const stream = `subjects/{${PROVIDER}}/effects`
        for (const [others, own] of history) {
          const appends = [
            ...Array.from({ length: others }, () => ({ stream: `${stream}/other`, entry: 'x' })),
            ...Array.from({ length: own }, () => ({ stream, entry: 'x' })),
          ]
          await store.transact(() => ({ writes: [], appends, result: undefined }))
        }
        const last = (await store.read(stream, 0, 1_000)).at(-1)?.position ?? 0
        expect(await lastPosition({ store, provider: PROVIDER, onPage: () => {} })).toBe(last)
      }),
      { numRuns: times(50, 2_000) },
    )
  })

  test('finds it at the largest position that there can be', async () => {
    const position = Number.MAX_SAFE_INTEGER
    let reads = 0
    const store: Store = {
      ...memory(),
      read: async (_, from) => {
        reads += 1
        return from < position ? [{ position, entry: '' }] : []
      },
    }
    expect(await lastPosition({ store, provider: PROVIDER, onPage: () => {} })).toBe(position)
    expect(reads).toBeLessThanOrEqual(106)
  })
})

test('whoever follows and whoever starts later know what the store holds, after any history', async () => {
  const subject = fc.constantFrom('a.test', 'A.TEST', 'x@a.test', 'b.test', '192.0.2.7')
  const lasting = fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined })
  const change = fc.oneof(
    fc.record({
      kind: fc.constant('add' as const),
      subject,
      rate: fc.integer({ min: -1, max: 3 }),
      lasting,
    }),
    fc.record({
      kind: fc.constant('set' as const),
      subject,
      rate: fc.integer({ min: 0, max: 3 }),
      lasting,
    }),
    fc.record({ kind: fc.constant('remove' as const), nth: fc.nat({ max: 9 }) }),
    fc.record({ kind: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ kind: fc.constant('poll' as const) }),
  )
  const asked = ['x@a.test', 'b.test', '192.0.2.7', 'c.test']
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 30 }), async (history) => {
      const clock = fakeClock()
      const store = memory({ clock })
      const rates = createRates({ store, provider: PROVIDER })
      const follower = gateOn(store, clock)
      const ids: string[] = []
      for (const step of history) {
        if (step.kind === 'poll') await follower.catchUp()
        else if (step.kind === 'wait') clock.advance(hours(step.hours))
        else if (step.kind === 'remove') await rates.remove(ids.splice(step.nth, 1), ADA)
        else {
          const ends = step.lasting === undefined ? undefined : after(clock(), hours(step.lasting))
          const draft = { subject: step.subject, rate: step.rate, expiresAt: ends }
          const labelled = { ...draft, label: 'x' }
          const id =
            step.kind === 'add'
              ? (await rates.add(draft, ADA)).ok?.id
              : (await rates.set(labelled, ADA, { force: true })).ok?.rate.id
          if (id !== undefined) ids.push(id)
        }
      }
      const late = gateOn(store, clock)
      for (const gate of [follower, late]) {
        await gate.catchUp()
        for (const each of asked) {
          const found = (await rates.ratesFor([each])).map(({ rate }) => rate.rate)
          const positive = found.filter((rate) => rate > 0)
          const state = found.some((rate) => rate <= 0) ? 'blocked' : 'clear'
          expect(gate.judge([each]).state).toBe(state)
          expect(gate.smallestRate([each])).toBe(
            positive.length === 0 ? undefined : Math.min(...positive),
          )
        }
      }
    }),
    { numRuns: times(60, 3_000) },
  )
})

describe('rates that have ended', () => {
  const END = instant(5_000_000)

  test('are dropped a few at a time, and no others', () => {
    const board = createBoard()
    for (let n = 0; n < 10; n++) board.put(`name:${n}.test`, n % 2 === 0 ? -END : 0)
    board.sweep(instant(END - 1), 100)
    expect(board.size()).toBe(10)
    board.sweep(END, 4)
    expect(board.size()).toBe(8)
    board.sweep(END, 100)
    expect(board.size()).toBe(5)
  })

  test('are not dropped by a clock that leaps ahead: when it returns, the block is there', async () => {
    const clock = fakeClock()
    const store = memory({ clock })
    const rates = createRates({ store, provider: PROVIDER })
    await rates.add({ ...BLOCK, expiresAt: after(clock(), hours(1)) }, ADA)
    let leap: Span = span(0)
    const gate = gateOn(store, () => instant(clock() + leap))
    await gate.catchUp()
    leap = days(400)
    for (let poll = 0; poll < 3; poll++) await gate.catchUp()
    expect(gate.judge(['a.test']).state).toBe('clear')
    leap = span(0)
    expect(gate.judge(['a.test']).state).toBe('blocked')
  })
})
