import { expect, test } from 'vitest'
import { fakeClock } from '../../testing/index.ts'
import { memory } from '../memory/index.ts'
import { exportFence, isFenceOfExport, unfenceStore } from './fences.ts'

const fence = exportFence('1a2b', fakeClock()())

test('a fence says whose it is and since when', () => {
  expect(fence).toMatch(/^export-1a2b, put up by headgate store export at \d{4}-.*Z$/)
  const status = { fence, clocks: [], keys: 0 }
  expect(isFenceOfExport(status, '1a2b')).toBe(true)
  expect(isFenceOfExport(status, '1a2')).toBe(false)
  expect(isFenceOfExport({ ...status, partly: true }, '1a2b')).toBe(false)
  expect(isFenceOfExport({ ...status, fence: undefined }, '1a2b')).toBe(false)
})

test('a fence goes by its own name alone', async () => {
  const store = memory()
  await store.moving?.fence(fence)
  await expect(unfenceStore(store, 'export-1a2')).rejects.toMatchObject({
    code: 'STORE_FENCED_OTHERWISE',
    finding: fence,
  })
  expect((await store.moving?.status())?.fence).toBe(fence)
  expect(await unfenceStore(store, 'export-1a2b')).toBe(fence)
  expect((await store.moving?.status())?.fence).toBeUndefined()
  expect(await unfenceStore(store, 'export-1a2b')).toBeUndefined()
})
