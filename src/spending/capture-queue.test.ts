import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { openSpending } from '../../test/support/open-spending.ts'
import { scratchFile } from '../../test/support/scratch-file.ts'
import { HeadgateError, StoreError } from '../core/errors.ts'
import { instant } from '../core/time.ts'
import { openCaptureQueue } from './capture-queue.ts'

async function openQueue(
  spending: Parameters<typeof openCaptureQueue>[0]['spending'],
  path = scratchFile('queue'),
) {
  const queue = await openCaptureQueue({ path, spending, clock: () => instant(1) })
  onTestFinished(() => queue.close())
  return queue
}

test('expenses are booked as they were added: recorded, captured, settled, released', async () => {
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

test('the same operation id added twice is booked once', async () => {
  const spending = openSpending()
  const queue = await openQueue(spending)
  const expense = { verb: 'record', from: '0xa1', amount: 40n, operationId: 'tx/1' } as const
  expect(await Promise.all([queue.add(expense), queue.add(expense)])).toEqual(['tx/1', 'tx/1'])
  await queue.drained()
  expect((await spending.standing({ from: '0xa1' })).total?.spent).toBe(40n)
})

test('an expense that was booked, but not crossed off before the crash, is booked once', async () => {
  const spending = openSpending()
  const path = scratchFile('queue')
  let lost = true
  const forgetful = await openQueue(
    {
      ...spending,
      record: async (ask) => {
        const booked = await spending.record(ask)
        if (lost)
          throw new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'store', rule: 'must answer' })
        return booked
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

test('an expense of a hold that nobody knows is put aside, for it can never be booked', async () => {
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
