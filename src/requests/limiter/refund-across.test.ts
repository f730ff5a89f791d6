/** Refunds by operation id of spends that got no further than some of their legs; and retries of those. */
import { expect, test } from 'vitest'
import { mistakeOfPromise } from '../../../test/support/mistake-of-promise.ts'
import { StoreError } from '../../core/errors.ts'
import type { Key, Store } from '../../core/store.ts'
import { seconds } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock, pretendedCluster } from '../../testing/index.ts'
import { parseCatalog } from '../yaml.ts'
import { limiter } from './typed-limiter.ts'
import { createLimiter } from './verbs.ts'

const HITS = { Hits: { burst: 5, period: '1h' } } as const

const both = {
  charges: [
    { limit: 'Hits', id: 'ann' },
    { limit: 'Hits', id: 'bob' },
  ],
  operationId: 'a',
}

/** A server whose writes fail where `fails` says so, over one store for all. */
const cluster = () => {
  const clock = fakeClock()
  const inner = pretendedCluster(memory({ clock }))
  const over = (fails: (guess: readonly Key[]) => boolean): Store => ({
    ...inner,
    transact: async (step, guess = [], intent) => {
      if (intent !== 'look' && fails(guess)) throw new StoreError(DOWN)
      return inner.transact(step, guess, intent)
    },
  })
  const server = (fails: (guess: readonly Key[]) => boolean = () => false) =>
    limiter({ store: over(fails), limits: HITS })
  const left = async (id: string) =>
    (await server().check({ limit: 'Hits', id, cost: 0 })).remaining
  const lefts = async () => [await left('ann'), await left('bob')]
  return { clock, inner, server, left, lefts }
}

const DOWN = { code: 'STORE_UNAVAILABLE', thing: 'store', rule: 'must answer' } as const

const touches = (id: string) => (guess: readonly Key[]) => guess.includes(`requests/{${id}}/Hits`)

test('a spend that charged nothing is unknown to a refund, and is charged and given back later', async () => {
  const { server, lefts } = cluster()
  const dead = server((guess) => touches('ann')(guess) || touches('bob')(guess))
  await expect(dead.spend(both)).rejects.toThrow('must answer')
  const unknown = { code: 'OPERATION_UNKNOWN' }
  expect(await mistakeOfPromise(server().refund({ operationId: 'a' }))).toMatchObject(unknown)
  expect(await server().spend(both)).toMatchObject({ allowed: true })
  expect(await lefts()).toEqual([4, 4])
  expect(await server().refund({ operationId: 'a' })).toMatchObject({ allowed: true })
  expect(await lefts()).toEqual([5, 5])
})

test('a leg that was given back is charged by a retry, though a refund came between', async () => {
  const { server, left, lefts, clock } = cluster()
  const broken = server(touches('bob'))
  await expect(broken.spend(both)).rejects.toThrow('must answer')
  await expect(broken.spend(both)).rejects.toThrow('must answer')
  expect(await left('ann')).toBe(5)
  await server()
    .refund({ operationId: 'a' })
    .catch(() => undefined)
  clock.advance(seconds(1))
  expect(await server().spend(both)).toMatchObject({ allowed: true })
  expect(await lefts()).toEqual([4, 4])
})

test('a refund of more than was charged gives nothing back, though the reply to its claim was lost', async () => {
  const { inner, server, lefts } = cluster()
  await server().spend(both)
  let lost = 0
  const transact: Store['transact'] = async (step, guess = [], intent) => {
    const result = await inner.transact(step, guess, intent)
    const isClaim = intent !== 'look' && guess.some((key) => key.startsWith('operations/'))
    if (isClaim && lost++ === 0) throw new StoreError(DOWN)
    return result
  }
  const tooMuch = {
    operationId: 'a',
    charges: [
      { limit: 'Hits' as const, id: 'ann' },
      { limit: 'Hits' as const, id: 'bob', cost: 2 },
    ],
  }
  const deaf = limiter({ store: { ...inner, transact }, limits: HITS })
  await expect(deaf.refund(tooMuch)).rejects.toThrow('must answer')
  const mistake = { code: 'OPERATION_CHARGES' }
  expect(await mistakeOfPromise(server().refund(tooMuch))).toMatchObject(mistake)
  expect(await lefts()).toEqual([4, 4])
  expect(await server().refund({ operationId: 'a' })).toMatchObject({ allowed: true })
  expect(await lefts()).toEqual([5, 5])
})

test('a replay charges nothing under a limit that came into force since, and is not refused by it', async () => {
  const { inner } = cluster()
  const server = (pages: string) => {
    const limits = `{ Hits: { id: opaque, burst: 5, period: 1h }, Pages: { id: opaque${pages} } }`
    const catalog = parseCatalog({ limits })
    return createLimiter({ store: inner, catalog: () => catalog })
  }
  const charges = [
    { limit: 'Hits', id: 'ann' },
    { limit: 'Pages', id: 'bob' },
  ]
  const first = await server('').spend({ charges, operationId: 'a' })
  expect(first).toMatchObject({ allowed: true })
  const after = server(', burst: 5, period: 1h')
  await after.spend({ limit: 'Pages', id: 'bob', cost: 5 })
  expect(await after.spend({ charges, operationId: 'a' })).toMatchObject({
    allowed: true,
    replayed: true,
  })
  expect(await after.check({ limit: 'Hits', id: 'ann', cost: 0 })).toMatchObject({ remaining: 4 })
})
