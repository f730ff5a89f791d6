import { expect, test } from 'vitest'
import { days, type Store } from '../../core/index.ts'
import { AUDIT_STREAM } from '../../secrets/index.ts'
import type { Timers } from '../../spending/poller.ts'
import { memoryStore } from '../../stores/memory/index.ts'
import { fakeClock } from '../../testing/index.ts'
import { SILENT } from '../log.ts'
import { startAuditKeeper } from './audit-keeper.ts'

/** Timers that go off when the test says so, and the delays they were set to. */
const handTimers = () => {
  const delays: number[] = []
  let due: (() => void) | undefined
  const timers: Timers = {
    after: (delay, run) => {
      delays.push(delay)
      due = run
      return () => {
        due = undefined
      }
    },
  }
  return { timers, delays, isSet: () => due !== undefined, goOff: () => due?.() }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

const note = (store: Store): Promise<void> =>
  store.transact(({ now }) => ({
    writes: [],
    appends: [
      {
        stream: AUDIT_STREAM,
        entry: JSON.stringify({ at: now, event: 'signed', record: 'secrets/domain/ab' }),
      },
    ],
    result: undefined,
  }))

const kept = async (store: Store): Promise<number> =>
  (await store.read(AUDIT_STREAM, 0, 100)).length

test('looks at once and every ten seconds, until it is stopped', async () => {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  await note(store)
  clock.advance(days(8))
  await note(store)
  const { timers, delays, isSet, goOff } = handTimers()
  const keeper = startAuditKeeper({ store, keep: days(7), log: SILENT, timers })
  await settled()
  expect(await kept(store)).toBe(1)
  clock.advance(days(8))
  goOff()
  await settled()
  expect(await kept(store)).toBe(0)
  expect(delays).toEqual([10_000, 10_000])
  await keeper.stop()
  expect(isSet()).toBe(false)
})

test('a store that is down is told, and asked again', async () => {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  await note(store)
  clock.advance(days(8))
  let down = true
  const restless: Store = {
    ...store,
    read: (...page) => (down ? Promise.reject(new Error('the disk')) : store.read(...page)),
  }
  const told: string[] = []
  const log = { ...SILENT, warn: (_: object, message: string) => told.push(message) }
  const { timers, goOff } = handTimers()
  const keeper = startAuditKeeper({ store: restless, keep: days(7), log, timers })
  await settled()
  expect(told).toEqual(['old audit entries were not forgotten yet'])
  down = false
  goOff()
  await settled()
  expect(await kept(store)).toBe(0)
  await keeper.stop()
})
