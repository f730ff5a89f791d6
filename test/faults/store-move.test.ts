/** A store with something of every pillar, moved through every kind of store, by processes that are killed on the way. */
import { hash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { listedName, nameOf } from '../../src/core/names.ts'
import type { Store, StreamsPage } from '../../src/core/store.ts'
import { after, days } from '../../src/core/time.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { limiter } from '../../src/requests/limiter/typed-limiter.ts'
import { spending } from '../../src/spending/index.ts'
import { unfenceStore } from '../../src/stores/moving/index.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { generateIdentity, subjects } from '../../src/subjects/index.ts'
import { startChild } from '../support/child.ts'
import { times } from '../support/counts.ts'
import { requestFor } from '../support/odis-requests.ts'
import { samples } from '../support/odis-samples.ts'
import { type Bench, signerBench } from '../support/odis-signer.ts'
import { type RemotePlace, remotePlace } from '../support/remote-stores.ts'
import { scratchFile } from '../support/scratch-file.ts'

/** As many as two minutes of a quiet machine allow; a million and 100,000 take about twice as long. */
const KEYS = times(4_000, 500_000)
const ENTRIES = times(300, 50_000)
/** How many of the six movers are killed half way: a proof kills each of them. */
let toKill = times(2, 6)

const redisPlace = await remotePlace('redis')
const postgresPlace = await remotePlace('postgres')

const { peppered: pin } = samples('move')
const owner = generateIdentity()

const openMoney = (store: Store) =>
  spending({
    store,
    total: 10_000_000n,
    tiers: { BASIC: 'unlimited' },
    window: { length: '365d' },
    holdFor: '30d',
  })
const openLimits = (store: Store) =>
  limiter({ store, limits: { Orders: { burst: 5, period: '24h' } } })

async function fill(store: Store): Promise<string> {
  await fillKeys(store)
  const money = openMoney(store)
  for (let from = 0; from < ENTRIES; from += 1_000) {
    const count = Math.min(1_000, ENTRIES - from)
    const payers = Array.from({ length: count }, (_, i) => `0x${(i % 50) + 1}`)
    await Promise.all(payers.map((payer) => money.record({ from: payer, amount: 1n })))
  }
  const held = await money.hold({ from: '0xb1', estimate: 300n })
  const people = subjects({ store, identity: owner })
  await people.as(owner).block('example.com', { reason: 'ticket 1234', expires: '7d' })
  people.close()
  await openLimits(store).spend('Orders', 'ann', { cost: 2, operationId: 'order-1' })
  expect((await signed(signerBench({ store }))).status).toBe(200)
  return held.holdId ?? ''
}

async function fillKeys(store: Store): Promise<void> {
  const expiresAt = after(systemClock(), days(30))
  for (let from = 0; from < KEYS; from += 5_000) {
    const writes = Array.from({ length: Math.min(5_000, KEYS - from) }, (_, i) => ({
      key: listedName(nameOf('test', `t${(from + i) % 997}`, 'list'), String(from + i)),
      value: `${from + i} \u2028 ö`,
      ...(i % 2 === 0 && { expiresAt }),
    }))
    await store.moving?.restore(writes, [])
  }
}

const signed = (bench: Bench) => bench.ask('sign', requestFor(pin ?? {}, { nonce: 1_000 }))

/** What each pillar answers from what the store holds. Changes nothing. */
async function answersOf(store: Store): Promise<unknown> {
  const people = subjects({ store, identity: owner })
  const blocked = await people.as(owner).list('example.com')
  people.close()
  const status = await signerBench({ store }).ask(
    'quotaStatus',
    requestFor(pin ?? {}, { endpoint: 'quotaStatus' }),
  )
  const { findings, entries, accounts, head } = await openMoney(store).verify()
  const { allowed, remaining } = await openLimits(store).check('Orders', 'ann', { cost: 3 })
  return {
    ledger: { findings, entries, accounts, head },
    standing: (await openMoney(store).standing({ from: '0xb1' })).total,
    orders: { allowed, remaining },
    attempts: status.body.status?.['counter'],
    blocked,
  }
}

interface Contents {
  readonly keys: number
  readonly entries: number
  readonly sum: bigint
}

/** Counted here and not by what is tested: every key and value, every entry and position. */
async function contentsOf(store: Store): Promise<Contents> {
  const seen = new Set<bigint>()
  let [keys, entries, sum] = [0, 0, 0n]
  const add = (...words: readonly unknown[]): boolean => {
    const number = BigInt(`0x${hash('sha1', JSON.stringify(words)).slice(0, 16)}`)
    if (seen.has(number)) return false
    seen.add(number)
    sum += number
    return true
  }
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page = await store.scan(cursor, 1_000)
    for (const { key, value } of page.items) if (add(key, value)) keys += 1
    cursor = page.next
  }
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page: StreamsPage | undefined = await store.moving?.streams(cursor, 1_000)
    for (const { stream } of page?.streams ?? []) {
      for (let last: number | undefined = 0; last !== undefined; ) {
        const found = await store.read(stream, last, 1_000)
        for (const { position, entry } of found) if (add(stream, position, entry)) entries += 1
        last = found.length < 1_000 ? undefined : found.at(-1)?.position
      }
    }
    cursor = page?.next
  }
  return { keys, entries, sum }
}

interface Outcome {
  readonly continued: number
  readonly keys: number
  readonly entries: number
  readonly content: string
  readonly fence?: string
}

/** Killed half way, and run again to the end. */
async function move(verb: 'export' | 'import', file: string, place: readonly string[]) {
  const isKilled = toKill-- > 0
  if (isKilled) {
    const half = String(Math.floor((KEYS + ENTRIES) / 2))
    const child = startChild('test/faults/children/mover.js', [verb, file, half, ...place])
    expect(await child.ended).toBe('SIGKILL')
  }
  const never = String(Number.MAX_SAFE_INTEGER)
  const child = startChild('test/faults/children/mover.js', [verb, file, never, ...place])
  const outcome: Outcome = JSON.parse(await child.line())
  expect(await child.ended).toBe(0)
  expect(outcome.continued > 0).toBe(isKilled)
  return outcome
}

describe.skipIf(redisPlace === undefined || postgresPlace === undefined)('a store', () => {
  if (redisPlace === undefined || postgresPlace === undefined) return

  test('moved from SQLite to Redis, to PostgreSQL and back is the same, though its movers were killed', async () => {
    const [from, to, file] = [scratchFile(), scratchFile(), scratchFile('move.export')]
    const source = sqlite(from)
    const holdId = await fill(source)
    const [content, answers] = [await contentsOf(source), await answersOf(source)]
    expect(content.keys).toBeGreaterThan(KEYS)
    expect(content.entries).toBeGreaterThanOrEqual(ENTRIES)

    const carry = async (start: readonly string[], end: readonly string[], opened: Store) => {
      const taken = await move('export', file, start)
      const brought = await move('import', file, end)
      expect([brought.keys, brought.entries]).toEqual([taken.keys, taken.entries])
      rmSync(file)
      expect(await contentsOf(opened)).toEqual(content)
      expect(await answersOf(opened)).toEqual(answers)
      return taken.fence ?? ''
    }
    const target = sqlite(to)
    const wordsOf = ({ url, name }: RemotePlace) => [url, name]
    const [onRedis, onPostgres] = [redisPlace.open(), postgresPlace.open()]
    const fence = await carry([from], wordsOf(redisPlace), onRedis)
    await expect(openLimits(source).spend('Orders', 'ann')).rejects.toMatchObject({
      code: 'STORE_FENCED',
    })
    await carry(wordsOf(redisPlace), wordsOf(postgresPlace), onPostgres)
    await carry(wordsOf(postgresPlace), [to], target)

    await openMoney(target).settle({ holdId, amount: 280n })
    expect((await openMoney(target).verify()).findings).toEqual([])
    await unfenceStore(source, fence)
    expect((await openLimits(source).spend('Orders', 'ann')).allowed).toBe(true)
    await Promise.all([source, target, onRedis, onPostgres].map((store) => store.close()))
    await Promise.all([redisPlace.clear(), postgresPlace.clear()])
  })
})
