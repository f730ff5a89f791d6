import { execFile } from 'node:child_process'
import { copyFileSync, renameSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { everything } from '../../../test/support/everything.ts'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import { StoreError } from '../../core/errors.ts'
import { answer, type Store } from '../../core/store.ts'
import { millis, type Span } from '../../core/time.ts'
import { openDatabaseFile } from './driver.ts'
import { sqlite } from './store.ts'

describe('while another process holds the file', () => {
  test('calls wait without blocking, and are served when it lets go', async () => {
    const { store, lock } = contended({})
    lock.exec('BEGIN IMMEDIATE')
    const waiting = [increment(store), increment(store)]
    // Timers of others go off meanwhile: a blocked event loop would never come to let go.
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve, 1))
    lock.exec('ROLLBACK')
    waiting.push(increment(store))
    expect(await Promise.all(waiting)).toEqual([1, 2, 3])
  })

  test('a call whose patience ends is refused as contended; the store recovers', async () => {
    const { store, lock } = contended({ patience: millis(30) })
    lock.exec('BEGIN IMMEDIATE')
    const [first, second] = await Promise.allSettled([increment(store), increment(store)])
    for (const outcome of [first, second]) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'STORE_CONTENDED' } })
    }
    lock.exec('ROLLBACK')
    expect(await increment(store)).toBe(1)
  })

  test('readers do not wait: they see what was committed', async () => {
    const { store, lock } = contended({})
    await increment(store)
    lock.exec('BEGIN IMMEDIATE')
    lock.exec("UPDATE items SET value = 'not yet'")
    expect(await everything(store)).toEqual([{ key: 'count', value: '1' }])
    lock.exec('ROLLBACK')
  })

  test('a trim waits like a call does', async () => {
    const { store, lock } = contended({ patience: millis(30) })
    lock.exec('BEGIN IMMEDIATE')
    await expect(store.trim('s', 1)).rejects.toMatchObject({ code: 'STORE_CONTENDED' })
    lock.exec('ROLLBACK')
    await store.trim('s', 1)
  })

  test('close waits for the calls that wait', async () => {
    const { store, lock } = contended({})
    lock.exec('BEGIN IMMEDIATE')
    const waiting = increment(store)
    const closing = store.close()
    await new Promise((resolve) => setTimeout(resolve, 5))
    lock.exec('ROLLBACK')
    expect(await waiting).toBe(1)
    await closing
  })
})

describe('when the file itself fails', () => {
  test('a file that was moved away is not written to any more; put back, all goes on', async () => {
    const { store, path } = opened()
    await increment(store)
    renameSync(path, `${path}.away`)
    const failed = await increment(store).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(StoreError)
    expect(failed).toMatchObject({ code: 'STORE_UNAVAILABLE', thing: path })
    expect(failed).toHaveProperty('cause.code', 'ENOENT')
    await expect(everything(store)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    renameSync(`${path}.away`, path)
    expect(await increment(store)).toBe(2)
  })

  test('a file replaced by another of ours is taken up; by something else it is refused', async () => {
    const { store, path } = opened()
    await increment(store)
    const backup = `${path}.backup`
    await snapshot(store, path, backup)
    await increment(store)
    // The log belongs to its file: left behind, it would be replayed into the next one.
    for (const part of ['', '-wal', '-shm']) renameSync(`${path}${part}`, `${path}.old${part}`)
    writeFileSync(path, 'no database at all '.repeat(1_000))
    await expect(increment(store)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      cause: { code: 'STORE_NOT_A_DATABASE' },
    })
    renameSync(path, `${path}.junk`)
    renameSync(backup, path)
    expect(await increment(store)).toBe(2)
  })

  test('all calls of a group fail together, and nothing of them is kept', async () => {
    const { store, lock } = contended({})
    await increment(store)
    lock.exec('ALTER TABLE entries RENAME TO hidden')
    const both = (entry: string) =>
      store.transact(() => ({
        writes: [{ key: entry, value: 'x' }],
        appends: [{ stream: 's', entry }],
        result: 0,
      }))
    const outcomes = await Promise.allSettled([increment(store), both('a'), both('b')])
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'STORE_UNAVAILABLE' } })
    }
    lock.exec('ALTER TABLE hidden RENAME TO entries')
    expect(await everything(store)).toEqual([{ key: 'count', value: '1' }])
    expect(await increment(store)).toBe(2)
  })

  test('a step that hides a failing read does not get to write', async () => {
    const { store, lock } = contended({})
    await increment(store)
    lock.exec('ALTER TABLE items RENAME TO hidden')
    const hiding = store.transact((view) => {
      try {
        view.read('count')
      } catch {
        return { writes: [{ key: 'count', value: '0' }], appends: [], result: 0 }
      }
      return answer(1)
    })
    await expect(hiding).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    lock.exec('ALTER TABLE hidden RENAME TO items')
    expect(await increment(store)).toBe(2)
  })
})

test('four processes that start at once on a new file create it together and lose nothing', async () => {
  const path = scratchFile()
  const door = new URL('../../../dist/stores/sqlite/index.js', import.meta.url).href
  const script = `
    import { sqlite } from ${JSON.stringify(door)}
    const store = sqlite({ path: ${JSON.stringify(path)} })
    const increment = () => store.transact((view) => {
      const value = String(Number(view.read('count')[0] ?? 0) + 1)
      return { writes: [{ key: 'count', value }], appends: [], result: value }
    })
    for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 10 }, increment))
    await store.close()`
  const args = ['--input-type=module', '-e', script]
  await Promise.all(Array.from({ length: 4 }, () => promisify(execFile)(process.execPath, args)))
  const store = sqlite({ path })
  expect(await everything(store)).toEqual([{ key: 'count', value: '400' }])
  await store.close()
})

const increment = (store: Store): Promise<number> =>
  store.transact((view) => {
    const count = Number(view.read('count')[0] ?? 0) + 1
    return { writes: [{ key: 'count', value: `${count}` }], appends: [], result: count }
  })

function opened(options: { readonly patience?: Span } = {}) {
  const path = scratchFile()
  const store = sqlite({ path, ...options })
  onTestFinished(() => store.close())
  return { store, path }
}

/** A store, and another connection to its file. */
function contended(options: { readonly patience?: Span }) {
  const { store, path } = opened(options)
  const lock = openDatabaseFile(path)
  onTestFinished(() => lock.close())
  return { store, path, lock }
}

/** A copy of the file with everything in it; the log is emptied into the file first. */
async function snapshot(store: Store, path: string, copy: string): Promise<void> {
  await everything(store)
  const db = openDatabaseFile(path)
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  copyFileSync(path, copy)
}
