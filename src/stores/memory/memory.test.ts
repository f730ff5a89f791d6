import { describe, expect, test } from 'vitest'
import { after, seconds } from '../../core/time.ts'
import { fakeClock, type OpenStore, storeContract } from '../../testing/index.ts'
import { items } from './items.ts'
import { memoryStore } from './store.ts'

const FORGETS = 'a memory store forgets when it is closed'

const open: OpenStore = async ({ clock }) => {
  const store = memoryStore({ clock })
  // Two nodes of one process's memory are two holders of the same store.
  const another = async () => ({ ...store, close: async () => {} })
  return { store, another, dispose: store.close }
}

describe('the store contract', () => {
  const skip = {
    'a position is never used twice, though the store was reopened in between': FORGETS,
    'what was answered is there after a reopen: values, expiries, lists and streams': FORGETS,
    'what was accepted before a close is there after a reopen': FORGETS,
  }
  for (const { name, run, skipped } of storeContract(open, { skip })) {
    test(skipped === undefined ? name : `does not apply: ${name} (${skipped})`, run)
  }
})

test('a step runs before transact returns: nothing waits in a memory store', () => {
  let ran = false
  void memoryStore().transact(() => {
    ran = true
    return { writes: [], appends: [], result: undefined }
  })
  expect(ran).toBe(true)
})

test('the clock of the system serves where none is given', async () => {
  const now = await memoryStore().transact(({ now }) => ({ writes: [], appends: [], result: now }))
  expect(now).toBeGreaterThan(fakeClock('2024-01-01T00:00:00Z')())
})

test('expired keys leave as others are written, so that new keys cannot fill the memory', () => {
  const clock = fakeClock()
  const kept = items()
  let most = 0
  for (let i = 0; i < 10_000; i++) {
    clock.advance(seconds(1))
    const expiresAt = after(clock(), seconds(100))
    kept.apply({ key: `visitor:${i}`, value: '1', expiresAt }, clock())
    most = Math.max(most, kept.size())
  }
  expect(most).toBeLessThan(400)
})
