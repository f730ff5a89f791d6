import { expect, test } from 'vitest'
import { memoryServer } from '../../../test/support/memory-backend.ts'
import { answer, type Moving } from '../../core/store.ts'
import { fakeClock } from '../../testing/index.ts'
import { createBell } from './bell.ts'
import { optimist } from './optimist.ts'
import { sharedStore } from './shared-store.ts'

const NOTHING = {
  entries: async () => [],
  range: async () => [],
  trim: async () => {},
  scan: async () => ({ items: [] }),
}

const STILL: Moving = {
  status: async () => ({ fence: undefined, clocks: [], keys: 0 }),
  fence: async () => {},
  streams: async () => ({ streams: [] }),
  restore: async () => {},
}

const setting = (open: () => Promise<void>) => {
  const clock = fakeClock()
  let closed = 0
  const store = sharedStore({
    thing: 'the store',
    open,
    calls: optimist({ backend: memoryServer(clock).connect(), thing: 'the store', clock }),
    pages: NOTHING,
    bell: createBell({ ring: async () => {}, hear: () => () => {} }, () => {}),
    moving: STILL,
    partition: () => '',
    close: async () => {
      closed += 1
    },
  })
  return { store, closed: () => closed }
}

test('calls wait until the server was found fit, which is found out once', async () => {
  let opened = 0
  const { store } = setting(async () => {
    opened += 1
  })
  await Promise.all([store.opened(), store.transact(() => answer(1)), store.read('s', 0, 1)])
  await store.transact(() => answer(1))
  expect(opened).toBe(1)
  await store.close()
})

test('a server that could not be reached is tried again with the next call', async () => {
  let opened = 0
  const { store } = setting(async () => {
    opened += 1
    if (opened === 1) throw new Error('not there')
  })
  await expect(store.transact(() => answer(1))).rejects.toThrow('not there')
  expect(await store.transact(() => answer(1))).toBe(1)
  expect(opened).toBe(2)
})

test('a close waits for calls that were accepted before it was known whether the server is fit', async () => {
  let admit = () => {}
  const { store, closed } = setting(() => new Promise((resolve) => (admit = resolve)))
  const call = store.transact(() => answer('done'))
  const closing = store.close()
  admit()
  expect(await call).toBe('done')
  await closing
  expect(closed()).toBe(1)
  await expect(store.opened()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  await store.close()
  expect(closed()).toBe(1)
})
