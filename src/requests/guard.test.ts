import { describe, expect, test } from 'vitest'
import { minutes, seconds } from '../core/index.ts'
import { memoryStore } from '../stores/memory/index.ts'
import { fakeClock } from '../testing/index.ts'
import type { Guard } from './guard.ts'
import { createLimiter } from './limiter.ts'
import { parseCatalog } from './parse-catalog.ts'

const LIMITS = `
Uploads: { id: opaque, burst: 4, count: 4, period: 1m }
Rated: { id: opaque, burst: 4, count: 4, period: 1m, rateFrom: subject }
Open: { id: opaque, burst: 4, count: 4, period: 1m, onStoreFailure: open }
`

const gate = (guard?: Guard) => {
  const store = memoryStore({ clock: fakeClock() })
  const catalog = parseCatalog({ limits: LIMITS })
  const limiter = createLimiter({ store, catalog: () => catalog, ...(guard && { guard }) })
  return { limiter, store }
}

const guarding = (blocked: string, rate?: number): Guard => ({
  judge: (subjects) => ({ state: subjects.includes(blocked) ? 'blocked' : 'clear' }),
  smallestRate: () => rate,
})

const upload = { limit: 'Uploads', id: 'ann' }

describe('a blocked subject', () => {
  test('refuses for good, and no bucket is charged or even asked', async () => {
    const { limiter, store } = gate(guarding('did:mailto:evil.example:eve'))
    const answer = await limiter.spend({
      charges: [
        { ...upload, subjects: ['did:mailto:evil.example:eve'] },
        { limit: 'Open', id: 'bob' },
      ],
    })
    expect(answer).toMatchObject({
      allowed: false,
      reason: 'blocked',
      retryIn: 'never',
      violated: ['Uploads'],
    })
    expect(await store.scan('', 10)).toEqual([])
  })

  test('does not trouble whoever does not name it', async () => {
    const { limiter } = gate(guarding('eve'))
    expect((await limiter.spend({ ...upload, subjects: ['ann'] })).allowed).toBe(true)
    expect((await limiter.spend(upload)).allowed).toBe(true)
  })
})

describe('rateFrom: subject', () => {
  const rated = { limit: 'Rated', id: 'ann', subjects: ['ann'], cost: 4 }

  test('the smallest rate sets the pace; the burst stays', async () => {
    const { limiter } = gate(guarding('eve', 2))
    expect(await limiter.spend(rated)).toMatchObject({ allowed: true, remaining: 0 })
    expect(await limiter.spend({ ...rated, cost: 1 })).toMatchObject({ retryIn: seconds(30) })
  })

  test('without a rate the limit keeps its own', async () => {
    const { limiter } = gate(guarding('eve'))
    await limiter.spend(rated)
    expect(await limiter.spend({ ...rated, cost: 1 })).toMatchObject({ retryIn: seconds(15) })
  })

  test('a rate that no clock can tell from none is still a rate', async () => {
    const { limiter } = gate(guarding('eve', 1e-300))
    await limiter.spend(rated)
    const { retryIn } = await limiter.spend({ ...rated, cost: 1 })
    expect(retryIn).toBeGreaterThan(minutes(1_000_000))
  })

  test('is given back at the pace at which it was charged', async () => {
    const { limiter } = gate(guarding('eve', 2))
    await limiter.spend({ ...rated, operationId: 'a' })
    expect(await limiter.refund({ operationId: 'a' })).toMatchObject({
      allowed: true,
      remaining: 4,
    })
  })
})

describe('when the guard has not heard of changes lately', () => {
  const deaf: Guard = { judge: () => ({ state: 'unheard' }), smallestRate: () => undefined }

  test('a closed limit refuses, an open one lets pass', async () => {
    const { limiter } = gate(deaf)
    await expect(limiter.spend({ ...upload, subjects: ['ann'] })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    })
    const open = await limiter.spend({ limit: 'Open', id: 'ann', subjects: ['ann'] })
    expect(open).toMatchObject({ allowed: true, reason: 'store-unavailable' })
  })
})

test('subjects named where nobody administers them are a mistake, not ignored', async () => {
  const { limiter } = gate()
  await expect(limiter.spend({ ...upload, subjects: ['ann'] })).rejects.toMatchObject({
    code: 'SUBJECTS_UNSUPPORTED',
  })
})
