import { expect, test } from 'vitest'
import { answer } from '../core/store.ts'
import { seconds } from '../core/time.ts'
import { memory } from '../stores/memory/index.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { createRefusalCounts } from './gate.ts'
import { refusalsIn } from './rates/rate-records.ts'

const PROVIDER = 'did:web:hg.example'

const open = () => {
  const clock = fakeClock('2026-01-01T00:00:00Z')
  const store = memory({ clock })
  const counts = createRefusalCounts({ store, provider: PROVIDER, clock })
  const kept = (...forms: string[]) =>
    store.transact((view) => answer(refusalsIn(view, PROVIDER, forms)))
  return { clock, store, counts, kept }
}

test('what servers counted adds up in the store, with the time of the last', async () => {
  const { clock, store, counts, kept } = open()
  const other = createRefusalCounts({ store, provider: PROVIDER, clock })
  counts.count({ form: 'name:a.test' })
  other.count({ form: 'name:a.test' })
  clock.advance(seconds(3))
  counts.count({ form: 'name:a.test' })
  counts.count({ form: 'ip:192.0.2.7' })
  await Promise.all([counts.flush(), other.flush()])
  await counts.flush()
  expect(await kept('name:a.test', 'ip:192.0.2.7', 'name:b.test')).toEqual(
    new Map([
      ['name:a.test', { count: 3, last: clock() }],
      ['ip:192.0.2.7', { count: 1, last: clock() }],
    ]),
  )
})

test('what a store that is down did not take is added later', async () => {
  const { clock, store, kept } = open()
  let isDown = true
  const shaky = {
    ...store,
    transact: ((step, guess) =>
      isDown
        ? Promise.reject(new Error('down'))
        : store.transact(step, guess)) as typeof store.transact,
  }
  const counts = createRefusalCounts({ store: shaky, provider: PROVIDER, clock })
  counts.count({ form: 'name:a.test' })
  await expect(counts.flush()).rejects.toThrow('down')
  counts.count({ form: 'name:a.test' })
  isDown = false
  await counts.flush()
  expect((await kept('name:a.test')).get('name:a.test')?.count).toBe(2)
})

test('a flush writes at most a thousand, and the next takes the rest', async () => {
  const { counts, kept } = open()
  const forms = Array.from({ length: 1_001 }, (_, n) => `name:${n}.test`)
  for (const form of forms) counts.count({ form })
  await counts.flush()
  expect((await kept(...forms)).size).toBe(1_000)
  await counts.flush()
  expect((await kept(...forms)).size).toBe(1_001)
})
