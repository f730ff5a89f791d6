import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import { instant } from '../../core/time.ts'
import type { Timers } from '../poller.ts'
import { type DiskQueueOptions, MAX_ITEM_LENGTH, openDiskQueue } from './disk-queue.ts'
import { readRecord, writeRecord } from './queue-log.ts'

const settled = () => new Promise((resolve) => setImmediate(resolve))

/** A queue whose receiver and timers are in the hands of the test. */
async function openQueue(path: string, options: Partial<DiskQueueOptions> = {}) {
  const received: string[] = []
  const queue = await openDiskQueue({
    path,
    deliver: async (item) => received.push(item),
    isFinal: () => false,
    clock: () => instant(1_000_000),
    ...options,
  })
  onTestFinished(() => queue.close())
  return { queue, received }
}

const away = async () => {
  throw new Error('away')
}

/** Waits pass at once, and are written down. */
function eagerTimers() {
  const waits: number[] = []
  const timers: Timers = {
    after: (delayMs, run) => {
      waits.push(delayMs)
      const timer = setImmediate(run)
      return () => clearImmediate(timer)
    },
  }
  return { timers, waits }
}

/** A pause that never ends, so that nothing is tried twice. */
const stillTimers: Timers = { after: () => () => {} }

test('what is added is delivered, once, and nothing is left', async () => {
  const { queue, received } = await openQueue(scratchFile('queue'))
  await Promise.all(Array.from({ length: 1_000 }, (_, i) => queue.add(`item ${i}`)))
  await queue.drained()
  expect(new Set(received).size).toBe(1_000)
  expect(received).toHaveLength(1_000)
  expect(queue.status()).toMatchObject({ pending: 0, oldest: undefined, delivered: 1_000 })
})

test('adding does not wait for the delivery', async () => {
  const { queue } = await openQueue(scratchFile('queue'), {
    deliver: away,
    timers: stillTimers,
  })
  await queue.add('a')
  await queue.add('b')
  expect(queue.status()).toMatchObject({ pending: 2, oldest: 1_000_000, delivered: 0 })
})

test('what was not delivered is there for the next process, what was is not', async () => {
  const path = scratchFile('queue')
  const first = await openQueue(path, {
    deliver: (item) => (item === 'b' ? away() : Promise.resolve()),
    timers: stillTimers,
  })
  await first.queue.add('a')
  await first.queue.add('b')
  await settled()
  await first.queue.close()
  const second = await openQueue(path)
  await second.queue.drained()
  expect(second.received).toEqual(['b'])
})

test('while the receiver is away, pauses double up to half a minute, then everything arrives', async () => {
  const { timers, waits } = eagerTimers()
  let failures = 12
  const received: string[] = []
  const { queue } = await openQueue(scratchFile('queue'), {
    timers,
    deliver: async (item) => {
      if (failures-- > 0) throw new Error('away')
      received.push(item)
    },
  })
  await queue.add('a')
  await queue.drained()
  expect(received).toEqual(['a'])
  expect(waits).toEqual([
    100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000, 30_000,
  ])
})

test('items of one lane arrive in their order, each after the one before; others do not wait', async () => {
  let open = () => {}
  const first = new Promise<void>((resolve) => {
    open = resolve
  })
  const begun: string[] = []
  const { queue } = await openQueue(scratchFile('queue'), {
    laneOf: (item) => (item.startsWith('lane') ? 'lane' : undefined),
    deliver: async (item) => {
      begun.push(item)
      if (item === 'lane 1') await first
    },
  })
  for (const item of ['lane 1', 'lane 2', 'lane 3', 'other']) await queue.add(item)
  await settled()
  expect(begun).toEqual(['lane 1', 'other'])
  expect(queue.waits('lane')).toBe(true)
  open()
  await queue.drained()
  expect(begun).toEqual(['lane 1', 'other', 'lane 2', 'lane 3'])
  expect(queue.waits('lane')).toBe(false)
})

test('a lane keeps its order when its first item must be tried again, and across a restart', async () => {
  const path = scratchFile('queue')
  const laneOf = () => 'lane'
  const { queue: broken } = await openQueue(path, { laneOf, deliver: away, timers: stillTimers })
  for (const item of ['1', '2', '3']) await broken.add(item)
  await broken.close()
  let failures = 2
  const received: string[] = []
  const { queue } = await openQueue(path, {
    laneOf,
    timers: eagerTimers().timers,
    deliver: async (item) => {
      if (failures-- > 0) await away()
      received.push(item)
    },
  })
  await queue.drained()
  expect(received).toEqual(['1', '2', '3'])
})

test('an item that can never be delivered is put aside with the reason, and reported', async () => {
  const path = scratchFile('queue')
  const told: unknown[] = []
  const { queue } = await openQueue(path, {
    deliver: away,
    isFinal: () => true,
    onFault: () => told.push('to be tried again'),
    onRefused: (error, file) => told.push([String(error), file]),
  })
  await queue.add('bad')
  await queue.drained()
  expect(queue.status()).toMatchObject({ pending: 0, refused: 1 })
  expect(JSON.parse(readFileSync(`${path}.refused`, 'utf8'))).toEqual({
    at: '1970-01-01T00:00:01.000000Z',
    item: 'bad',
    error: 'Error: away',
  })
  expect(told).toEqual([['Error: away', `${path}.refused`]])
})

test('while it cannot even be put aside it waits, and that is reported', async () => {
  const path = scratchFile('queue')
  mkdirSync(`${path}.refused`)
  const told: unknown[] = []
  const { queue } = await openQueue(path, {
    deliver: away,
    isFinal: () => true,
    timers: stillTimers,
    onFault: (error) => told.push(error),
  })
  await queue.add('bad')
  await vi.waitUntil(() => told.length > 0)
  expect(told).toEqual([expect.objectContaining({ code: 'EISDIR' })])
  expect(queue.status()).toMatchObject({ pending: 1, refused: 0 })
})

describe('the queue refuses', () => {
  const code = async (added: Promise<void>) =>
    added.then(() => 'added').catch((error) => error.code)

  test('an item too long', async () => {
    const { queue } = await openQueue(scratchFile('queue'))
    expect(await code(queue.add('x'.repeat(MAX_ITEM_LENGTH + 1)))).toBe('QUEUE_ITEM_TOO_LARGE')
  })

  test('more than it may hold, until there is room again', async () => {
    const { timers } = eagerTimers()
    let open = false
    const deliver = () => (open ? Promise.resolve() : away())
    const { queue } = await openQueue(scratchFile('queue'), { deliver, maxPending: 2, timers })
    await Promise.all([queue.add('a'), queue.add('b')])
    expect(await code(queue.add('c'))).toBe('QUEUE_FULL')
    open = true
    await queue.drained()
    expect(await code(queue.add('c'))).toBe('added')
  })

  test('a file that it cannot make', async () => {
    const opened = openQueue(`${scratchFile('nowhere')}/queue`)
    await expect(opened).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' })
  })

  test('everything once it is closed', async () => {
    const { queue } = await openQueue(scratchFile('queue'))
    await queue.close()
    expect(await code(queue.add('a'))).toBe('QUEUE_CLOSED')
  })
})

describe('after a crash', () => {
  const added = (number: number, item: string) =>
    writeRecord({ kind: 'added', number, at: instant(5), item })

  test('a last line that was cut off is dropped: it was never reported as safe', async () => {
    const path = scratchFile('queue')
    writeFileSync(path, added(1, 'a') + added(2, 'b').slice(0, -4))
    const { queue, received } = await openQueue(path)
    await queue.drained()
    expect(received).toEqual(['a'])
    expect(queue.status().damaged).toBe(0)
    expect(existsSync(`${path}.damaged`)).toBe(false)
  })

  test('a damaged line in the middle costs that line only, and the file is kept', async () => {
    const path = scratchFile('queue')
    writeFileSync(path, added(1, 'a') + added(2, 'b').replace('"b"', '"x"') + added(3, 'c'))
    const { queue, received } = await openQueue(path)
    await queue.drained()
    expect(received.sort()).toEqual(['a', 'c'])
    expect(queue.status().damaged).toBe(1)
    expect(readFileSync(`${path}.damaged`, 'utf8')).toContain('"x"')
  })

  test('numbers go on where they were, so a new item is never taken for a delivered one', async () => {
    const path = scratchFile('queue')
    writeFileSync(path, added(7, 'a') + writeRecord({ kind: 'done', number: 7 }))
    const first = await openQueue(path, { deliver: away, timers: stillTimers })
    await first.queue.add('b')
    await settled()
    await first.queue.close()
    appendFileSync(path, writeRecord({ kind: 'done', number: 7 }))
    const second = await openQueue(path)
    await second.queue.drained()
    expect(second.received).toEqual(['b'])
  })

  test('cut at any byte, the file gives the items whose lines are whole', () => {
    const items = fc.array(fc.string(), { maxLength: 5 })
    fc.assert(
      fc.property(items, fc.nat(), (texts, at) => {
        const lines = texts.map((text, i) => added(i, text))
        const whole = lines.join('')
        const cut = whole.slice(0, at % (whole.length + 1))
        const read = cut.split('\n').map(readRecord)
        const kept = read.flatMap((record) => (record?.kind === 'added' ? [record.item] : []))
        expect(kept).toEqual(texts.slice(0, kept.length))
      }),
    )
  })
})

test('a file of delivered items is rewritten, and stays small', async () => {
  const path = scratchFile('queue')
  const { queue } = await openQueue(path)
  for (let round = 0; round < 11; round++) {
    await Promise.all(Array.from({ length: 1_000 }, (_, i) => queue.add(`${round}/${i}`)))
    await queue.drained()
  }
  await queue.close()
  expect(readFileSync(path, 'utf8').split('\n').length).toBeLessThan(5_000)
})
