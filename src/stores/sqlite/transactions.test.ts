/** A file forgets by how long it has lived. */
import { uptime } from 'node:os'
import { expect, test } from 'vitest'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import { answer, type Write } from '../../core/store.ts'
import {
  type Clock,
  hours,
  instant,
  after as later,
  minutes,
  type Span,
  seconds,
  span,
} from '../../core/time.ts'
import { fakeClock } from '../../testing/index.ts'
import { openDatabaseFile } from './driver.ts'
import { isBusy } from './errors.ts'
import { sqlite } from './store.ts'
import { machineUptime } from './transactions.ts'

/** Opens the file on a machine that has run for so long, and writes so much that all is swept. */
const visit = async (path: string, clock: Clock, uptime: Span, ...writes: readonly Write[]) => {
  const store = sqlite({ path, clock, uptime: () => uptime })
  const others = Array.from({ length: 10 }, (_, i) => ({ key: `other:${i}`, value: '1' }))
  await store.transact(() => ({ writes: [...writes, ...others], appends: [], result: undefined }))
  const [found] = await store.transact((view) => answer(view.read('bucket')))
  await store.close()
  return found
}

test('what is kept of a file is forgotten by how long it has lived, counted on across processes, though the clock says that all has expired', async () => {
  const [path, clock] = [scratchFile(), fakeClock()]
  const bucket = { key: 'bucket', value: 'emptied', expiresAt: later(clock(), seconds(10)) }
  await visit(path, clock, seconds(100), bucket)
  clock.set(later(clock(), hours(1)))
  expect(await visit(path, clock, seconds(109))).toBe('emptied')
  expect(await visit(path, clock, seconds(110))).toBeUndefined()
})

test('also where the machine was started anew: the time it was off does not count', async () => {
  const [path, clock] = [scratchFile(), fakeClock()]
  const bucket = { key: 'bucket', value: 'emptied', expiresAt: later(clock(), hours(1)) }
  await visit(path, clock, hours(50), bucket)
  clock.set(later(clock(), hours(24 * 7)))
  expect(await visit(path, clock, seconds(30))).toBe('emptied')
  expect(await visit(path, clock, seconds(3_599))).toBe('emptied')
  expect(await visit(path, clock, hours(1))).toBeUndefined()
})

test('a machine that was started anew counts on, also past the running time that was recorded', async () => {
  const [path, clock] = [scratchFile(), fakeClock()]
  await visit(path, clock, seconds(70))
  const bucket = { key: 'bucket', value: 'emptied', expiresAt: later(clock(), seconds(20)) }
  await visit(path, clock, seconds(55), bucket)
  clock.advance(hours(1))
  expect(await visit(path, clock, seconds(74))).toBe('emptied')
  expect(await visit(path, clock, seconds(75))).toBeUndefined()
})

test('and by its clock: what has not expired stays, however long the file has lived', async () => {
  const [path, clock] = [scratchFile(), fakeClock()]
  const bucket = { key: 'bucket', value: 'emptied', expiresAt: later(clock(), seconds(10)) }
  await visit(path, clock, seconds(100), bucket)
  clock.set(instant(clock() - hours(1)))
  expect(await visit(path, clock, hours(2))).toBe('emptied')
})

test('the expired never outgrow the live by much, however much is written at once', async () => {
  const clock = fakeClock()
  const started = clock()
  const store = sqlite({ path: scratchFile(), clock, uptime: () => span(clock() - started) })
  for (let round = 0; round < 12; round += 1) {
    const writes = Array.from({ length: 3_000 }, (_, i) => ({
      key: `${i}.${round}`,
      value: '1',
      expiresAt: later(clock(), seconds(1)),
    }))
    await store.transact(() => ({ writes, appends: [], result: undefined }))
    clock.advance(seconds(2))
  }
  const { items } = await store.scan('', 10_000)
  expect(items.length).toBeLessThanOrEqual(9_000)
  await store.close()
})

test('on several restarts nothing is lived through twice', async () => {
  const [path, clock] = [scratchFile(), fakeClock()]
  const bucket = { key: 'bucket', value: 'emptied', expiresAt: later(clock(), hours(3)) }
  await visit(path, clock, hours(10), bucket)
  clock.set(later(clock(), hours(24)))
  for (const run of [1, 2]) {
    expect(await visit(path, clock, minutes(1)), `start ${run}`).toBe('emptied')
    expect(await visit(path, clock, hours(1)), `an hour of run ${run}`).toBe('emptied')
  }
  expect(await visit(path, clock, minutes(2))).toBe('emptied')
  expect(await visit(path, clock, minutes(59))).toBe('emptied')
  expect(await visit(path, clock, hours(1))).toBeUndefined()
})

test('nor where two processes do not agree to the last hundredth on how long the machine has run', async () => {
  const [path, clock] = [scratchFile(), fakeClock()]
  const bucket = { key: 'bucket', value: 'emptied', expiresAt: later(clock(), hours(3)) }
  await visit(path, clock, hours(50), bucket)
  clock.set(later(clock(), hours(24)))
  expect(await visit(path, clock, span(hours(50) - 9_000))).toBe('emptied')
  expect(await visit(path, clock, span(hours(53) - 9_000))).toBe('emptied')
  expect(await visit(path, clock, hours(53))).toBeUndefined()
})

test('the machine says how long it has run, finely and never less than before', () => {
  const before = machineUptime()
  expect(Math.abs(before / 1_000_000 - uptime())).toBeLessThan(60)
  for (let i = 0; i < 1_000; i++) expect(machineUptime()).toBeGreaterThanOrEqual(before)
})

/** A store that is interrupted whenever it has just read its clock. */
const interrupted = () => {
  const [path, time] = [scratchFile(), fakeClock()]
  let interrupt = () => {}
  const clock = () => {
    const now = time()
    interrupt()
    return now
  }
  const meanwhile = (work: () => void): void => {
    interrupt = work
  }
  return { path, store: sqlite({ path, clock }), meanwhile }
}

test('a look sees nothing that was written after its time', async () => {
  const { path, store, meanwhile } = interrupted()
  const bucket = { key: 'bucket', value: 'before' }
  await store.transact(() => ({ writes: [bucket], appends: [], result: undefined }))
  const other = openDatabaseFile(path, { timeout: 0, defensive: true })
  meanwhile(() => other.exec("UPDATE items SET value = 'after'"))
  const look = () => store.transact((view) => answer(view.read('bucket')), [], 'look')
  expect(await look()).toEqual(['before'])
  expect(await look()).toEqual(['after'])
  other.close()
  await store.close()
})

test('a step that may write has its time from under the lock: nobody writes after it', async () => {
  const { path, store, meanwhile } = interrupted()
  const other = openDatabaseFile(path, { timeout: 0, defensive: true })
  const attempts: unknown[] = []
  meanwhile(() => {
    try {
      other.exec("REPLACE INTO items (key, value) VALUES ('bucket', 'of the future')")
      attempts.push('written')
    } catch (error) {
      attempts.push(isBusy(error))
    }
  })
  const seen = await store.transact((view) => ({
    writes: [{ key: 'other', value: '1' }],
    appends: [],
    result: view.read('bucket'),
  }))
  expect(seen).toEqual([undefined])
  expect(attempts).toEqual([true])
  other.close()
  await store.close()
})
