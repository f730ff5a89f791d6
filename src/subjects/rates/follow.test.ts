import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import type { Store } from '../../core/store.ts'
import { type Clock, hours, minutes, seconds } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock } from '../../testing/index.ts'
import { createBoard, createSubjectGate } from '../gate.ts'
import { followBoard, openBoard, trimChanges } from './follow.ts'
import { effectStream } from './rate-records.ts'
import { createRates } from './rates.ts'

const PROVIDER = 'did:web:example.com'
const STREAM = effectStream(PROVIDER)
const ADA = { issuer: 'did:key:zAda', chain: [] }
const block = (subject: string) => ({ subject, rate: 0 })

const open = () => {
  const clock = fakeClock()
  const store = memory({ clock })
  const rates = createRates({ store, provider: PROVIDER })
  const source = { store, provider: PROVIDER, onPage: () => {}, create: createBoard }
  /** All that is older than an hour, as a server that is up to date would. */
  const trimAll = async (): Promise<void> => {
    const { position } = await openBoard(source)
    for (let more = true; more; ) more = await trimChanges(source, position, clock())
  }
  const entries = async () => (await store.read(STREAM, 0, 10_000)).length
  return { clock, store, rates, source, trimAll, entries }
}

const blocked = (
  board: ReturnType<typeof createBoard>,
  clock: Clock,
  ...subjects: readonly string[]
) => subjects.filter((subject) => board.blockOn([subject], clock()) !== undefined)

test('a follower that slept through a trim ends with the same board as one that starts', async () => {
  const { clock, rates, source, trimAll } = open()
  const { ok } = await rates.add(block('gone.test'), ADA)
  await rates.add(block('kept.test'), ADA)
  const asleep = await openBoard(source)
  await rates.remove([ok?.id ?? ''], ADA)
  await rates.add(block('new.test'), ADA)
  clock.advance(hours(2))
  await rates.add(block('last.test'), ADA)
  await trimAll()
  const subjects = ['gone.test', 'kept.test', 'new.test', 'last.test']
  const awake = await followBoard(source, asleep)
  expect(awake.board).not.toBe(asleep.board)
  expect(blocked(awake.board, clock, ...subjects)).toEqual(subjects.slice(1))
  const started = await openBoard(source)
  expect(blocked(started.board, clock, ...subjects)).toEqual(subjects.slice(1))
  expect(awake.position).toBe(started.position)
})

test('one that has missed nothing reads no snapshot, though all that it had read was trimmed but the last', async () => {
  const { clock, rates, source, store, trimAll } = open()
  for (const n of [1, 2, 3]) await rates.add(block(`${n}.test`), ADA)
  const asleep = await openBoard(source)
  clock.advance(hours(2))
  await trimAll()
  // Entries of other streams lie between: its own positions have gaps.
  await rates.add(block('new.test'), ADA)
  const noSnapshot: Store = { ...store, range: () => Promise.reject(new Error('a snapshot')) }
  const awake = await followBoard({ ...source, store: noSnapshot }, asleep)
  expect(awake.board).toBe(asleep.board)
  expect(blocked(awake.board, clock, 'new.test')).toEqual(['new.test'])
})

test('changes are forgotten an hour later, never the last, and histories stay', async () => {
  const { clock, rates, trimAll, entries } = open()
  for (let n = 0; n < 600; n++) await rates.add(block(`${n}.test`), ADA)
  clock.advance(minutes(30))
  for (let n = 0; n < 10; n++) await rates.add(block('again.test'), ADA)
  await trimAll()
  expect(await entries()).toBe(610)
  clock.advance(minutes(31))
  await trimAll()
  expect(await entries()).toBe(10)
  clock.advance(hours(100))
  await trimAll()
  expect(await entries()).toBe(1)
  expect((await rates.history({ limit: 1_000 })).entries).toHaveLength(610)
  expect((await rates.history({ subject: 'again.test' })).entries).toHaveLength(10)
})

test('a snapshot that takes longer than the stream keeps is read again', async () => {
  const { clock, rates, source, store, trimAll } = open()
  await rates.add(block('a.test'), ADA)
  let snapshots = 0
  const slow: Store = {
    ...store,
    range: async (...page) => {
      const items = await store.range(...page)
      snapshots += 1
      if (snapshots > 1) return items
      for (const subject of ['b.test', 'c.test']) await rates.add(block(subject), ADA)
      clock.advance(hours(2))
      await rates.add(block('d.test'), ADA)
      await trimAll()
      return items
    },
  }
  // The trim reads snapshots of its own, from the store below.
  const { board } = await openBoard({ ...source, store: slow })
  expect(snapshots).toBe(2)
  expect(blocked(board, clock, 'a.test', 'b.test', 'c.test', 'd.test')).toHaveLength(4)
})

test('a server that follows trims, at once and every few hundred polls', async () => {
  const { clock, rates, store, entries } = open()
  for (let n = 0; n < 700; n++) await rates.add(block(`${n}.test`), ADA)
  clock.advance(hours(2))
  const trimmed: number[] = []
  const watched: Store = {
    ...store,
    trim: async (...where) => {
      await store.trim(...where)
      trimmed.push(await entries())
    },
  }
  const timers = { after: () => () => {} }
  const uptime = () => seconds(1)
  const gate = createSubjectGate({ store: watched, provider: PROVIDER, clock, uptime, timers })
  onTestFinished(gate.close)
  await gate.catchUp()
  while (trimmed.length < 2) await new Promise((resolve) => setImmediate(resolve))
  expect(trimmed).toEqual([200, 1])
  await rates.add(block('a.test'), ADA)
  for (let poll = 0; poll < 600; poll++) await gate.catchUp()
  while (trimmed.length < 3) await new Promise((resolve) => setImmediate(resolve))
  expect(trimmed.at(-1)).toBe(1)
})

test('whoever sleeps, follows or trims at any point of any history knows what the store holds', async () => {
  const act = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), subject: fc.nat(4) }),
    fc.record({ kind: fc.constant('remove' as const), nth: fc.nat(9) }),
    fc.record({ kind: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 90 }) }),
    fc.record({ kind: fc.constant('trim' as const) }),
    fc.record({ kind: fc.constant('follow' as const), who: fc.nat(2) }),
  )
  const subjects = Array.from({ length: 5 }, (_, n) => `${n}.test`)
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 40 }), async (history) => {
      const { clock, rates, source, trimAll } = open()
      const ids: string[] = []
      const followers = [await openBoard(source), await openBoard(source), await openBoard(source)]
      const follow = async (who: number): Promise<void> => {
        const follower = followers[who]
        if (follower !== undefined) followers[who] = await followBoard(source, follower)
      }
      for (const each of history) {
        if (each.kind === 'add') {
          const { ok } = await rates.add(block(subjects[each.subject] ?? ''), ADA)
          if (ok !== undefined) ids.push(ok.id)
        } else if (each.kind === 'remove') await rates.remove(ids.splice(each.nth, 1), ADA)
        else if (each.kind === 'wait') clock.advance(minutes(each.minutes))
        else if (each.kind === 'trim') await trimAll()
        else await follow(each.who)
      }
      const kept = await Promise.all(subjects.map((subject) => rates.list(subject)))
      const expected = subjects.filter((_, at) => (kept[at]?.length ?? 0) > 0)
      for (const who of followers.keys()) {
        await follow(who)
        const board = followers[who]?.board
        expect(board && blocked(board, clock, ...subjects)).toEqual(expected)
      }
    }),
    { numRuns: times(60, 2_000) },
  )
})
