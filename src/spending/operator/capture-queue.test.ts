import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { openDesk } from '../../../test/support/ledger-desk.ts'
import { openSpending } from '../../../test/support/open-spending.ts'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import { HeadgateError, StoreError } from '../../core/errors.ts'
import { instant, seconds } from '../../core/time.ts'
import type { CaptureAsk } from '../flow/ask.ts'
import { openCaptureQueue } from './capture-queue.ts'

async function openQueue(
  spending: Parameters<typeof openCaptureQueue>[0]['spending'],
  path = scratchFile('queue'),
) {
  const queue = await openCaptureQueue({ path, spending, clock: () => instant(1) })
  onTestFinished(() => queue.close())
  return queue
}

test('expenses are charged as they were added: recorded, captured, settled, released', async () => {
  const spending = openSpending()
  const queue = await openQueue(spending)
  await queue.add({ verb: 'record', from: '0xa1', amount: 40n })
  const { holdId = '' } = await spending.hold({ from: '0xa1', estimate: 100n })
  const { holdId: other = '' } = await spending.hold({ from: '0xa1', estimate: 100n })
  await queue.add({ verb: 'capture', holdId, amount: 7n })
  await queue.drained()
  await queue.add({ verb: 'settle', holdId })
  await queue.add({ verb: 'release', holdId: other })
  await queue.drained()
  expect((await spending.standing({ from: '0xa1' })).plan).toMatchObject({ spent: 47n, held: 0n })
})

test('the same operation id added twice is charged once', async () => {
  const spending = openSpending()
  const queue = await openQueue(spending)
  const expense = { verb: 'record', from: '0xa1', amount: 40n, operationId: 'tx/1' } as const
  expect(await Promise.all([queue.add(expense), queue.add(expense)])).toEqual(['tx/1', 'tx/1'])
  await queue.drained()
  expect((await spending.standing({ from: '0xa1' })).total?.spent).toBe(40n)
})

test('an expense that was charged, but not crossed off before the crash, is charged once', async () => {
  const spending = openSpending()
  const path = scratchFile('queue')
  let lost = true
  const forgetful = await openQueue(
    {
      ...spending,
      record: async (ask) => {
        const charged = await spending.record(ask)
        if (lost)
          throw new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'store', rule: 'must answer' })
        return charged
      },
    },
    path,
  )
  await forgetful.add({ verb: 'record', from: '0xa1', amount: 40n })
  await forgetful.close()
  lost = false
  const queue = await openQueue(spending, path)
  await queue.drained()
  expect((await spending.standing({ from: '0xa1' })).total?.spent).toBe(40n)
})

test('an expense of an unknown hold is put aside, for it can never be charged', async () => {
  const path = scratchFile('queue')
  const queue = await openQueue(openSpending(), path)
  await queue.add({ verb: 'settle', holdId: 'nobody', amount: 5n })
  await queue.drained()
  expect(queue.status().refused).toBe(1)
  expect(readFileSync(`${path}.refused`, 'utf8')).toContain('nobody')
})

test('an amount that is none is refused when it is added', async () => {
  const queue = await openQueue(openSpending())
  const added = queue.add({ verb: 'record', from: '0xa1', amount: -1n })
  await expect(added).rejects.toBeInstanceOf(HeadgateError)
})

test('expenses of one hold are charged in their order: a release does not overtake a capture', async () => {
  const spending = openSpending()
  const { holdId = '' } = await spending.hold({ from: '0xa1', estimate: 100n })
  let goOn = () => {}
  const waiting = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const slow = {
    ...spending,
    capture: async (ask: CaptureAsk) => {
      await waiting
      return spending.capture(ask)
    },
  }
  const queue = await openQueue(slow)
  await queue.add({ verb: 'capture', holdId, amount: 80n })
  await queue.add({ verb: 'release', holdId })
  expect(queue.waits(holdId)).toBe(true)
  goOn()
  await queue.drained()
  expect(queue.status().refused).toBe(0)
  expect((await spending.standing({ from: '0xa1' })).plan).toMatchObject({ spent: 80n, held: 0n })
})

test('an expense is charged in the window in which it was added, however late it is delivered', async () => {
  const desk = openDesk({ start: '2026-01-01T23:59:50Z' })
  const { startsAt } = await desk.spending.window()
  const path = scratchFile('queue')
  const { clock } = desk
  const down = async () => {
    throw new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'store', rule: 'must answer' })
  }
  const spending = { ...desk.spending, record: down }
  const broken = await openCaptureQueue({
    path,
    clock,
    spending,
    timers: { after: () => () => {} },
  })
  await broken.add({ verb: 'record', from: '0xa1', amount: 40n })
  await broken.close()
  clock.advance(seconds(20))
  const queue = await openCaptureQueue({ path, clock, spending: desk.spending })
  onTestFinished(() => queue.close())
  await queue.drained()
  expect((await desk.spending.report(startsAt)).total).toBe(40n)
  expect((await desk.spending.report()).total).toBe(0n)
  const { entries } = await desk.spending.history('basic:0xa1')
  expect(entries.at(-1)).toMatchObject({ window: startsAt, flags: ['late'] })
  expect((await desk.spending.verify()).findings).toEqual([])
})
