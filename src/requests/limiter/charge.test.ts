import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { acmeCatalog } from '../../../test/support/acme-catalog.ts'
import { times } from '../../../test/support/counts.ts'
import { everything } from '../../../test/support/everything.ts'
import { StoreError } from '../../core/errors.ts'
import { millis, minutes, seconds } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock } from '../../testing/index.ts'
import type { Guard } from './charge.ts'
import { createLimiter } from './verbs.ts'

const LIMITS = `
Uploads: { id: opaque, burst: 4, count: 4, period: 1m }
Rated: { id: opaque, burst: 4, count: 4, period: 1m, rateFrom: subject }
Raised: { id: opaque, burst: 4, count: 4, period: 1m, rateFrom: subject, subjectMayRaise: true }
Open: { id: opaque, burst: 4, count: 4, period: 1m, onStoreFailure: open }
`

const gate = (guard?: Guard) => {
  const clock = fakeClock()
  const store = memory({ clock })
  const catalog = acmeCatalog({ limits: LIMITS })
  const limiter = createLimiter({ store, catalog: () => catalog, ...(guard && { guard }) })
  return { limiter, store, clock }
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
      reason: 'BLOCKED',
      retryIn: 'never',
      violated: ['Uploads'],
    })
    expect(await everything(store)).toEqual([])
  })

  test('does not trouble whoever does not name it', async () => {
    const { limiter } = gate(guarding('eve'))
    expect((await limiter.spend({ ...upload, subjects: ['ann'] })).allowed).toBe(true)
    expect((await limiter.spend(upload)).allowed).toBe(true)
  })
})

describe('rateFrom: subject', () => {
  const rated = { limit: 'Rated', id: 'ann', subjects: ['ann'], cost: 4 }

  test('the smallest rate sets the pace, and the burst shrinks with it', async () => {
    const { limiter } = gate(guarding('eve', 2))
    expect(await limiter.spend({ ...rated, cost: 2 })).toMatchObject({
      allowed: true,
      remaining: 0,
    })
    expect(await limiter.spend({ ...rated, cost: 1 })).toMatchObject({ retryIn: seconds(30) })
  })

  test('the burst is rounded down, and never to nothing', async () => {
    const burstAt = async (rate: number): Promise<number> => {
      const { limiter } = gate(guarding('eve', rate))
      return (await limiter.check({ ...rated, cost: 0 })).remaining
    }
    expect(await burstAt(3.9)).toBe(3)
    expect(await burstAt(1)).toBe(1)
    expect(await burstAt(0.01)).toBe(1)
  })

  test('a rate above that of the limit loosens nothing', async () => {
    const { limiter } = gate(guarding('eve', 1_000))
    await limiter.spend(rated)
    expect(await limiter.spend({ ...rated, cost: 1 })).toMatchObject({
      allowed: false,
      retryIn: seconds(15),
    })
  })

  test('unless the limit says that a subject may raise it: then pace and burst grow', async () => {
    const { limiter } = gate(guarding('eve', 8))
    const raised = { ...rated, limit: 'Raised', cost: 8 }
    expect(await limiter.spend(raised)).toMatchObject({ allowed: true, remaining: 0 })
    expect(await limiter.spend({ ...raised, cost: 1 })).toMatchObject({ retryIn: seconds(7.5) })
  })

  test('raised to whatever was set, a limit stays one that can be kept', async () => {
    for (const rate of [1e9, 1e300, Number.MAX_VALUE]) {
      const { limiter } = gate(guarding('eve', rate))
      const answer = await limiter.spend({ ...rated, limit: 'Raised', cost: 1 })
      expect(answer.allowed).toBe(true)
      expect(Number.isSafeInteger(answer.remaining)).toBe(true)
    }
  })

  test('for no history of rates is more admitted than the limit itself admits', async () => {
    const rates = fc.double({ min: 1e-6, max: 1e6, noNaN: true })
    const steps = fc.array(
      fc.record({
        rate: fc.option(rates),
        wait: fc.nat({ max: 90_000 }),
        asks: fc.nat({ max: 6 }),
      }),
      { maxLength: 20 },
    )
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        let rate: number | undefined
        const guard: Guard = { judge: () => ({ state: 'clear' }), smallestRate: () => rate }
        const { limiter, clock } = gate(guard)
        const start = clock()
        let admitted = 0
        for (const step of history) {
          rate = step.rate ?? undefined
          clock.advance(millis(step.wait))
          for (let n = 0; n < step.asks; n++) {
            const { allowed } = await limiter.spend({ ...rated, cost: 1 })
            if (allowed) admitted += 1
          }
        }
        // Four at once, and one every fifteen seconds.
        expect(admitted).toBeLessThanOrEqual(4 + Math.floor((clock() - start) / seconds(15)))
      }),
      { numRuns: times(100, 5_000) },
    )
  })

  test('without a rate the limit keeps its own', async () => {
    const { limiter } = gate(guarding('eve'))
    await limiter.spend(rated)
    expect(await limiter.spend({ ...rated, cost: 1 })).toMatchObject({ retryIn: seconds(15) })
  })

  test('a rate that no clock can tell from none is still a rate', async () => {
    const { limiter } = gate(guarding('eve', 1e-300))
    await limiter.spend({ ...rated, cost: 1 })
    const { retryIn } = await limiter.spend({ ...rated, cost: 1 })
    expect(retryIn).toBeGreaterThan(minutes(1_000_000))
  })

  test('is given back at the pace at which it was charged', async () => {
    const { limiter } = gate(guarding('eve', 2))
    await limiter.spend({ ...rated, cost: 2, operationId: 'a' })
    expect(await limiter.refund({ operationId: 'a' })).toMatchObject({
      allowed: true,
      remaining: 2,
    })
  })
})

describe('when the guard has not followed the changes lately', () => {
  const stale: Guard = { judge: () => ({ state: 'stale' }), smallestRate: () => undefined }

  test('a closed limit refuses, an open one lets pass', async () => {
    const { limiter } = gate(stale)
    await expect(limiter.spend({ ...upload, subjects: ['ann'] })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    })
    const open = await limiter.spend({ limit: 'Open', id: 'ann', subjects: ['ann'] })
    expect(open).toMatchObject({ allowed: true, reason: 'STORE_UNAVAILABLE' })
  })
})

describe('when the guard has something to read first', () => {
  /** As after a freeze: until it has asked the store, it knows of no block that was set meanwhile. */
  const frozen = (fault?: Error): Guard => {
    let read = false
    return {
      ready: async () => {
        if (fault !== undefined) throw fault
        read = true
      },
      judge: (subjects) => {
        if (!read) return { state: 'stale' }
        return { state: subjects.includes('eve') ? 'blocked' : 'clear' }
      },
      smallestRate: () => (read ? 1 : undefined),
    }
  }

  test('a blocked subject does not pass a limit that is open while the store is down', async () => {
    const { limiter } = gate(frozen())
    const asks = Array.from({ length: 48 }, () =>
      limiter.spend({ limit: 'Open', id: 'eve', subjects: ['eve'] }),
    )
    const passed = (await Promise.all(asks)).filter(({ allowed }) => allowed)
    expect(passed).toEqual([])
  })

  test.each(['spend', 'check', 'refund', 'reset'] as const)('%s waits for it', async (verb) => {
    const { limiter } = gate(frozen())
    const answer = await limiter[verb]({ limit: 'Rated', id: 'ann', subjects: ['ann'] })
    expect(answer.remaining).toBeLessThanOrEqual(1)
  })

  test('a store that fails meanwhile is a store that is down', async () => {
    const down = new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'store', rule: 'is up' })
    const { limiter } = gate(frozen(down))
    const ask = { id: 'ann', subjects: ['ann'] }
    await expect(limiter.spend({ ...ask, limit: 'Uploads' })).rejects.toBe(down)
    await expect(limiter.reset({ ...ask, limit: 'Open' })).rejects.toBe(down)
    await expect(limiter.refund({ ...ask, limit: 'Open' })).rejects.toBe(down)
    expect(await limiter.spend({ ...ask, limit: 'Open' })).toMatchObject({
      allowed: true,
      reason: 'STORE_UNAVAILABLE',
    })
  })

  test('any other failure is a bug of the guard, and shows', async () => {
    const bug = new TypeError('a bug')
    const { limiter } = gate(frozen(bug))
    const ask = { limit: 'Open', id: 'ann', subjects: ['ann'] }
    await expect(limiter.spend(ask)).rejects.toBe(bug)
  })
})

test('subjects named where nobody administers them are a mistake, not ignored', async () => {
  const { limiter } = gate()
  await expect(limiter.spend({ ...upload, subjects: ['ann'] })).rejects.toMatchObject({
    code: 'SUBJECTS_UNSUPPORTED',
  })
})
