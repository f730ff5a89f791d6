/** A plan's history, from either end, counted in what it reads. */
import { expect, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import {
  codeOf,
  compactAtFirstRead,
  openDesk,
  SETTINGS,
} from '../../../test/support/ledger-desk.ts'
import type { Store } from '../../core/store.ts'
import { days } from '../../core/time.ts'
import { keysOf } from '../keys.ts'
import { decodeCalendar, encodeCalendar } from '../windows/calendar.ts'
import { decodeEntry, encodeEntry, hashOfEntry } from './entry-text.ts'

test('a plan’s newest entries are found without paging through those of others', async () => {
  const desk = openDesk({ total: 'unlimited', tiers: UNLIMITED })
  const { spending, store } = desk
  const pay = async (from: number, to: number): Promise<void> => {
    for (let i = from; i < to; i += 1) await spending.record({ from: '0xa1', amount: BigInt(i) })
  }
  await pay(0, 30)
  await chargeOthers(store, times(2_000, 1_000_000))
  await pay(30, 40)
  let reads = 0
  let seen = 0
  const { read } = store
  Object.assign(store, {
    read: async (stream: string, after: number, limit: number) => {
      const page = await read(stream, after, limit)
      reads += 1
      seen += page.length
      return page
    },
  })
  const first = await spending.history('basic:0xa1', { order: 'newest', limit: 20 })
  const amounts = first.entries.map(({ moves }) => moves[0]?.amount ?? 0n)
  expect(amounts).toEqual(Array.from({ length: 20 }, (_, i) => BigInt(39 - i)))
  expect({ reads, seen }).toEqual({ reads: 20, seen: 20 })
  const rest = await spending.history('basic:0xa1', { order: 'newest', after: first.next })
  expect(rest.entries).toHaveLength(20)
  expect(rest.next).toBeUndefined()
})

test('entries are found among gaps that other streams left, from either end', async () => {
  const { spending, store } = openDesk()
  for (let i = 1; i <= 30; i += 1) {
    const noise = Array.from({ length: (i * i) % 7 }, () => ({ stream: 'noise', entry: 'x' }))
    await store.transact(() => ({ writes: [], appends: noise, result: undefined }))
    await spending.record({ from: i % 3 === 0 ? '0xa1' : '0xb1', amount: 1n })
  }
  const numbers = async (order: 'oldest' | 'newest') => {
    const found: number[] = []
    let after: number | undefined
    do {
      const page = await spending.history('basic:0xa1', { order, limit: 3, after })
      found.push(...page.entries.map(({ seq }) => seq))
      after = page.next
    } while (after !== undefined)
    return found
  }
  const oldest = await numbers('oldest')
  expect(oldest).toEqual([3, 6, 9, 12, 15, 18, 21, 24, 27, 30])
  expect(await numbers('newest')).toEqual(oldest.toReversed())
})

test('a page of the newest begins with no entry of another plan', async () => {
  const { spending } = openDesk()
  for (const from of ['0xa1', '0xa2', '0xa1']) await spending.record({ from, amount: 1n })
  const forged = { order: 'newest', after: 2 } as const
  expect(await codeOf(spending.history('basic:0xa1', forged))).toBe('HISTORY_ASK_INVALID')
})

test('a page that a compaction overtakes is short, and says where to go on', async () => {
  const { spending, store, clock } = openDesk({ compactAfter: days(10), rememberFor: days(2) })
  await spending.createPlan({ id: 'beta', tier: 'BASIC' })
  await spending.link({ plan: 'beta', member: 'user:1' })
  for (let i = 0; i < 3; i += 1) await spending.record({ from: 'user:1', amount: 1n })
  clock.advance(days(12))
  await spending.record({ from: 'user:1', amount: 1n })
  compactAtFirstRead(store, spending)
  const first = await spending.history('beta', { order: 'newest' })
  expect(first.entries.map(({ seq }) => seq)).toEqual([6])
  const rest = await spending.history('beta', { order: 'newest', after: first.next })
  expect(rest).toMatchObject({ entries: [{ seq: 2 }, { seq: 1 }], next: undefined })
})

test('a plan that never was has none, and a plan without entries an empty one', async () => {
  const { spending } = openDesk()
  expect(await codeOf(spending.history('nobody'))).toBe('PLAN_NOT_FOUND')
  expect(await spending.history('basic:0xa1')).toEqual({ entries: [], next: undefined })
})

/**
 * As many entries of as many other plans, as their records would have left them in the ledger, in large
 * commits: what else a record does is no matter here, and a million of them would take minutes.
 */
async function chargeOthers(store: Store, others: number): Promise<void> {
  const keys = keysOf(SETTINGS.payer)
  const [last] = await store.read(keys.ledger, 29, 1)
  const model = decodeEntry(last?.entry ?? '')
  const { party } = model
  for (let done = 0; done < others; done += OTHERS_AT_ONCE) {
    await store.transact((view) => {
      const calendar = decodeCalendar(view.read(keys.calendar)[0] ?? '')
      let { entries: seq, head: prev } = calendar
      const appends = Array.from({ length: Math.min(OTHERS_AT_ONCE, others - done) }, () => {
        seq += 1
        const member = `0xb${seq.toString(16)}`
        const whose = party && { ...party, plan: `basic:${member}`, member }
        const entry = encodeEntry({ ...model, seq, prev, planPrev: undefined, party: whose })
        prev = hashOfEntry(entry)
        return { stream: keys.ledger, entry }
      })
      const value = encodeCalendar({ ...calendar, entries: seq, head: prev })
      return { writes: [{ key: keys.calendar, value }], appends, result: undefined }
    })
  }
}

const OTHERS_AT_ONCE = 20_000

const UNLIMITED = { BASIC: 'unlimited', EXTENDED: 'unlimited', PRIVILEGED: 'unlimited' } as const
