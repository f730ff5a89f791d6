/** Whom a hold is for says who pays; what a capture names says for what. */
import { expect, test } from 'vitest'
import { codeOf, openDesk } from '../../../test/support/ledger-desk.ts'

const CATEGORIES = { categories: new Map([['FileAppendTransaction', 50n]]) }

const deploy = async (desk: ReturnType<typeof openDesk>, estimate = 200n) => {
  const ask = { from: '0xa1', operation: 'EthereumTransaction', estimate } as const
  const { holdId = '' } = await desk.spending.hold(ask)
  return holdId
}

test('a fee lands on the operation and mode that its capture names, and is paid by the plan of the hold', async () => {
  const desk = openDesk()
  const holdId = await deploy(desk)
  await desk.spending.capture({ holdId, amount: 30n, operation: 'FileCreateTransaction' })
  await desk.spending.capture({ holdId, amount: 40n, operation: 'FileAppendTransaction' })
  await desk.spending.capture({ holdId, amount: 5n, operation: 'FileInfoQuery', mode: 'QUERY' })
  const settled = await desk.spending.settle({ holdId, amount: 100n })
  expect(settled).toMatchObject({ charged: 25n, plan: { spent: 100n, held: 0n } })
  expect(await desk.spending.report()).toMatchObject({
    total: 100n,
    byOperation: {
      EthereumTransaction: 25n,
      FileAppendTransaction: 40n,
      FileCreateTransaction: 30n,
      FileInfoQuery: 5n,
    },
    byMode: { TRANSACTION: 95n, QUERY: 5n },
    byFamily: { ETHEREUM: 25n, HEDERA: 75n },
  })
  expect((await desk.spending.verify()).findings).toEqual([])
})

test('a fee that is told to be of another family than its operation says is reported there', async () => {
  const desk = openDesk()
  const holdId = await deploy(desk)
  const operation = 'FileAppendTransaction'
  await desk.spending.capture({ holdId, amount: 40n, operation, family: 'ETHEREUM' })
  await desk.spending.capture({ holdId, amount: 10n, operation })
  expect((await desk.spending.report()).byFamily).toEqual({ ETHEREUM: 40n, HEDERA: 10n })
  expect((await desk.spending.verify()).findings).toEqual([])
})

test('a limit of an operation counts what captures of other holds spent on it', async () => {
  const desk = openDesk(CATEGORIES)
  const holdId = await deploy(desk)
  const operation = 'FileAppendTransaction'
  await desk.spending.capture({ holdId, amount: 40n, operation })
  const answer = await desk.spending.check({ from: '0xa1', estimate: 20n, operation })
  expect(answer).toMatchObject({ allowed: false, reason: 'CATEGORY_LIMIT' })
})

test('a capture that comes after the settlement moves its part to what it was for', async () => {
  const desk = openDesk()
  const holdId = await deploy(desk)
  await desk.spending.settle({ holdId, amount: 100n })
  const late = { holdId, amount: 80n, operation: 'FileAppendTransaction' }
  expect(await desk.spending.capture(late)).toMatchObject({ charged: 0n, plan: { spent: 100n } })
  expect((await desk.spending.report()).byOperation).toEqual({
    EthereumTransaction: 20n,
    FileAppendTransaction: 80n,
  })
  expect((await desk.spending.verify()).findings).toEqual([])
})

test('a capture that comes after the settlement was taken back moves nothing', async () => {
  const desk = openDesk()
  const ask = { from: '0xa1', operation: 'EthereumTransaction', operationId: 'tx-1' } as const
  const { holdId = '' } = await desk.spending.hold({ ...ask, estimate: 100n })
  await desk.spending.settle({ holdId, amount: 100n })
  await desk.spending.reverse({ of: 'tx-1', amount: 90n, reason: 'charged twice' })
  await desk.spending.capture({ holdId, amount: 60n, operation: 'FileAppendTransaction' })
  expect((await desk.spending.report()).byOperation).toEqual({
    EthereumTransaction: 0n,
    FileAppendTransaction: 10n,
  })
  expect((await desk.spending.verify()).findings).toEqual([])
})

test('the same operation id for another operation is a mistake, and so is an operation that is none', async () => {
  const { spending } = openDesk()
  const { holdId = '' } = await spending.hold({ from: '0xa1', estimate: 100n })
  const ask = { holdId, amount: 1n, operationId: 'tx-1', operation: 'FileCreateTransaction' }
  await spending.capture(ask)
  expect(await spending.capture(ask)).toMatchObject({ replayed: true })
  const other = spending.capture({ ...ask, operation: 'FileAppendTransaction' })
  expect(await codeOf(other)).toBe('OPERATION_ID_REUSED')
  const none = spending.capture({ holdId, amount: 1n, operation: 'a b' })
  expect(await codeOf(none)).toBe('OPERATION_INVALID')
})
