/** Slots of a Redis Cluster that move, and masters that are gone. */
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { StoreError } from '../../src/core/errors.ts'
import { nameOf } from '../../src/core/names.ts'
import { answer } from '../../src/core/store.ts'
import { millis } from '../../src/core/time.ts'
import { addOne, counted, entriesOf, untilItAnswers } from '../support/hot-count.ts'
import { placeAt } from '../support/remote-stores.ts'
import { ownService, sharedUrl } from '../support/services.ts'
import { expectNothingExtra, startSpends } from '../support/spend-load.ts'

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

/** That of the count, which the first master has. */
const SLOT = 3_443

/** As an operator moves one, key by key. */
async function moveSlot(from: Redis, to: Redis, others: readonly Redis[]): Promise<void> {
  const [fromId, toId] = [await from.cluster('MYID'), await to.cluster('MYID')]
  await to.call('CLUSTER', 'SETSLOT', SLOT, 'IMPORTING', String(fromId))
  await from.call('CLUSTER', 'SETSLOT', SLOT, 'MIGRATING', String(toId))
  for (;;) {
    const names = await from.cluster('GETKEYSINSLOT', SLOT, 1)
    if (names.length === 0) break
    const where = ['127.0.0.1', Number(to.options.port), '', 0, 5_000]
    await from.call('MIGRATE', ...where, 'KEYS', ...names.map(String))
  }
  for (const node of [to, from, ...others]) {
    await node.call('CLUSTER', 'SETSLOT', SLOT, 'NODE', String(toId))
  }
}

describe.skipIf((await sharedUrl('cluster')) === undefined)('a Redis Cluster', () => {
  const open = async (timeout: number) => {
    const service = await ownService('cluster', ['--cluster-require-full-coverage', 'no'])
    const store = placeAt('cluster', service.url).open({ timeout: millis(timeout) })
    onTestFinished(() => store.close())
    return { service, store }
  }

  test('whose slot moves to another server under load and back: every effect once, and all go on', async () => {
    const { service, store } = await open(60_000)
    const nodes = service.ports.map((port) => new Redis(port))
    onTestFinished(() => {
      for (const node of nodes) node.disconnect()
    })
    const [first, second, third] = nodes
    if (first === undefined || second === undefined || third === undefined) throw new Error('three')
    let isOver = false
    let told = 0
    // On a busy machine a key may be on its way for longer than a client follows it.
    let unsure = 0
    const lanes = upTo(4).map(async () => {
      while (!isOver) {
        try {
          await addOne(store)
          told += 1
        } catch (error) {
          if (!(error instanceof StoreError)) throw error
          unsure += 1
        }
      }
    })
    const spends = startSpends(store)
    for (const [from, to] of [
      [first, second],
      [second, first],
    ] as const) {
      await moveSlot(from, to, [third])
      const before = told
      await untilItAnswers(async () => expect(told).toBeGreaterThan(before))
      await spends.goesOn()
    }
    isOver = true
    await Promise.all(lanes)
    expectNothingExtra(await spends.end())
    const count = await counted(store)
    expect(count).toBeGreaterThanOrEqual(told)
    expect(count).toBeLessThanOrEqual(told + unsure)
    expect(await entriesOf(store)).toEqual(upTo(count).slice(0, 10_000))
  })

  test('that lost a master fails what lies there, and nothing else', async () => {
    const { service, store } = await open(2_000)
    // Slot 12182: of the third master.
    const elsewhere = nameOf('test', 'foo', 'a')
    const look = () => store.transact((view) => answer(view.read(elsewhere)), [elsewhere], 'look')
    await addOne(store)
    await service.kill()
    for (let i = 0; i < 5; i++) {
      await expect(addOne(store)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    }
    expect(await look()).toEqual([undefined])
    for (let i = 0; i < 5; i++) {
      for (let dead = 0; dead < 3; dead++) {
        await expect(entriesOf(store)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
      }
      expect(await store.read(elsewhere, 0, 1)).toEqual([])
      expect(await store.range(elsewhere, '', 1)).toEqual([])
    }
  })
})
