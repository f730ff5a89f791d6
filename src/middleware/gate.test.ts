import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { downStore, gateScene, type PlainRequest, plainDoor } from '../../test/support/gate.ts'
import { seconds } from '../core/time.ts'
import { limiter } from '../requests/limiter/typed-limiter.ts'
import { createGate, type Passed } from './gate.ts'
import type { GateOptions, SharedOptions } from './options.ts'

const ANN: PlainRequest = { ip: '203.0.113.1' }
const BOB: PlainRequest = { ip: '203.0.113.2' }

/** Two at once, then one every ten seconds. */
const scene = (options: Partial<SharedOptions<PlainRequest>> = {}) => {
  const { store, ...rest } = gateScene()
  const limits = { Api: { burst: 2, period: '20s' } }
  return { ...rest, gate: createGate(plainDoor, { limits, store, warn: rest.warn, ...options }) }
}

const gateOf = (options: GateOptions<PlainRequest>) => createGate(plainDoor, options)

describe('a gate', () => {
  test('lets the burst pass and stops the next, for each client on its own', async () => {
    const { gate } = scene()
    for (const left of [1, 0]) {
      const admission = await gate.admit(ANN)
      expect(admission).toMatchObject({ allowed: true, answer: { remaining: left } })
    }
    expect(await gate.admit(ANN)).toMatchObject({ allowed: false, status: 429 })
    expect(await gate.admit(BOB)).toMatchObject({ allowed: true })
  })

  test('lets pass again as soon as it said', async () => {
    const { gate, clock } = scene()
    await Promise.all([gate.admit(ANN), gate.admit(ANN)])
    const { lines } = await gate.admit(ANN)
    expect(lines).toContainEqual({ name: 'Retry-After', value: '10' })
    clock.advance(seconds(10))
    expect((await gate.admit(ANN)).allowed).toBe(true)
  })

  test('admits exactly the burst of a hundred at once', async () => {
    const { gate } = scene()
    const admissions = await Promise.all(Array.from({ length: 100 }, () => gate.admit(ANN)))
    expect(admissions.filter(({ allowed }) => allowed)).toHaveLength(2)
  })

  test('needs no more than its limits: the store is in memory', async () => {
    const gate = gateOf({ limits: { Api: { burst: 1, period: '1h' } } })
    expect((await gate.admit(ANN)).allowed).toBe(true)
    expect((await gate.admit(ANN)).allowed).toBe(false)
  })

  test('says what it counted in the fields of draft 10', async () => {
    const { gate } = scene()
    expect((await gate.admit(ANN)).lines).toEqual([
      { name: 'RateLimit-Policy', value: '"Api";q=2;w=20', joins: true },
      { name: 'RateLimit', value: '"Api";r=1;t=10', joins: true },
    ])
  })
})

describe('limits', () => {
  test('of a given limiter are named, with a who and a cost of their own', async () => {
    const { store } = gateScene()
    const limits = { PerUser: { burst: 9, period: '1m' }, PerAddress: { burst: 9, period: '1m' } }
    const given = limiter({ store, limits })
    const gate = createGate<PlainRequest, 'PerUser' | 'PerAddress'>(plainDoor, {
      limiter: given,
      limits: ['PerAddress', { limit: 'PerUser', who: 'user', cost: 4 }],
    })
    await gate.admit({ ...ANN, user: 'ann' })
    expect((await given.check('PerUser', 'ann')).remaining).toBe(4)
    expect((await given.check('PerAddress', '203.0.113.1')).remaining).toBe(7)
  })

  test('that are several are charged together or not at all', async () => {
    const { store } = gateScene()
    const gate = gateOf({
      store,
      limits: {
        Minute: { burst: 1, period: '1m' },
        Hour: { burst: 5, period: '1h', who: () => 'everybody' },
      },
    })
    await gate.admit(ANN)
    const stopped = await gate.admit(ANN)
    expect(stopped).toMatchObject({ allowed: false, answer: { violated: ['Minute'] } })
    expect((await gate.admit(BOB)).answer?.charges[1]).toMatchObject({ remaining: 3 })
  })

  test('that come to one bucket charge it once', async () => {
    const given = limiter({ store: gateScene().store, limits: { A: { burst: 5, period: '1m' } } })
    const who = () => 'x'
    const limits = [
      { limit: 'A', who, cost: 1 },
      { limit: 'A', who, cost: 3 },
    ]
    expect((await gateOf({ limiter: given, limits }).admit(ANN)).answer?.remaining).toBe(2)
  })

  test('that are shadows stop nothing', async () => {
    const { store } = gateScene()
    const gate = gateOf({ store, limits: { New: { burst: 1, period: '1m', shadow: true } } })
    await gate.admit(ANN)
    const second = await gate.admit(ANN)
    expect(second).toMatchObject({ allowed: true, answer: { charges: [{ allowed: false }] } })
  })
})

describe('the cost', () => {
  test('may depend on the request, and may come later', async () => {
    const { gate } = scene({ cost: async ({ headers }) => Number(headers?.['x-cost']) })
    expect((await gate.admit({ ...ANN, headers: { 'x-cost': '2' } })).allowed).toBe(true)
    expect((await gate.admit({ ...ANN, headers: { 'x-cost': '0' } })).allowed).toBe(true)
    expect((await gate.admit({ ...ANN, headers: { 'x-cost': '1' } })).allowed).toBe(false)
  })

  test('above the burst is refused for good, as a client may have chosen it', async () => {
    const { gate } = scene({ cost: () => 3 })
    const stopped = await gate.admit(ANN)
    expect(stopped).toMatchObject({ allowed: false, status: 429, answer: undefined })
    expect(stopped.lines.map(({ name }) => name)).toEqual(['Content-Type'])
    expect('body' in stopped && JSON.parse(stopped.body)).toMatchObject({
      code: 'COST_ABOVE_BURST',
    })
  })

  test('that is none is the mistake of the program, and thrown', async () => {
    const { gate } = scene({ cost: () => Number.NaN })
    await expect(gate.admit(ANN)).rejects.toMatchObject({ code: 'COST_INVALID' })
  })
})

test('a skipped request is neither counted nor told', async () => {
  const { gate } = scene({ skip: async ({ ip }) => ip === ANN.ip })
  for (let i = 0; i < 5; i++) {
    expect(await gate.admit(ANN)).toEqual({ allowed: true, lines: [] })
  }
  expect((await gate.admit(BOB)).answer?.remaining).toBe(1)
})

describe('a refusal', () => {
  const stopped = async (options: Partial<SharedOptions<PlainRequest>>) => {
    const { gate } = scene(options)
    await Promise.all([gate.admit(ANN), gate.admit(ANN)])
    const admission = await gate.admit(ANN)
    if (admission.allowed) throw new Error('should be stopped')
    return admission
  }

  test('is a problem of RFC 9457 unless told', async () => {
    const { body, lines } = await stopped({})
    expect(lines).toContainEqual({ name: 'Content-Type', value: 'application/problem+json' })
    expect(JSON.parse(body)).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'The limit is reached',
      status: 429,
      code: 'QUOTA_EXCEEDED',
      detail: 'Api: is used up; try again in 10 s',
      'violated-policies': ['Api'],
      retryAfterMs: 10_000,
    })
  })

  test('may have another status, text and headers', async () => {
    const refusal = { status: 403, body: 'slow down', headers: { 'X-Why': 'limit' } }
    const { status, body, lines } = await stopped({ refusal })
    expect([status, body]).toEqual([403, 'slow down'])
    expect(lines).toContainEqual({ name: 'Content-Type', value: 'text/plain; charset=utf-8' })
    expect(lines).toContainEqual({ name: 'X-Why', value: 'limit' })
  })

  test('may be JSON, or of a type of its own', async () => {
    expect(await stopped({ refusal: { body: { no: 1 } } })).toMatchObject({ body: '{"no":1}' })
    const page = { body: '<p>no</p>', headers: { 'content-type': 'text/html' } }
    const { lines } = await stopped({ refusal: page })
    const types = lines.filter(({ name }) => name.toLowerCase() === 'content-type')
    expect(types).toEqual([{ name: 'content-type', value: 'text/html' }])
  })

  test('may be worded for each request', async () => {
    const { body } = await stopped({
      refusal: async ({ request, code, retryAfterSeconds, answer }) => ({
        body: `${request.ip} ${code} ${retryAfterSeconds} ${answer?.violated}`,
      }),
    })
    expect(body).toBe('203.0.113.1 QUOTA_EXCEEDED 10 Api')
  })
})

describe('while the store is down', () => {
  const limits = { Api: { burst: 1, period: '1m' } }
  const open = { Api: { ...limits.Api, onStoreFailure: 'open' } } as const

  test('limits are closed unless told: 503, with a problem and Retry-After', async () => {
    const stopped = await gateOf({ limits, store: downStore() }).admit(ANN)
    expect(stopped).toMatchObject({ allowed: false, status: 503 })
    expect(stopped.lines).toContainEqual({ name: 'Retry-After', value: '1' })
    expect('body' in stopped && JSON.parse(stopped.body)).toMatchObject({
      type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
      code: 'STORE_UNAVAILABLE',
    })
  })

  test('an open limit lets pass, and promises nothing in headers', async () => {
    const passed = await gateOf({ limits: open, store: downStore() }).admit(ANN)
    expect(passed).toMatchObject({ allowed: true, answer: { reason: 'STORE_UNAVAILABLE' } })
    expect(passed.lines).toEqual([])
  })

  test('the gate may be open or closed, whatever its limits say', async () => {
    const store = downStore()
    const opened = gateOf({ limits, store, onStoreFailure: 'open' })
    expect(await opened.admit(ANN)).toMatchObject({ allowed: true, answer: undefined })
    const closed = gateOf({ limits: open, store, onStoreFailure: 'closed' })
    expect(await closed.admit(ANN)).toMatchObject({ allowed: false, status: 503 })
  })

  test('fixed words for refusals are not used: it is no limit that is reached', async () => {
    const store = downStore()
    const fixed = gateOf({ limits, store, refusal: { status: 403, body: 'slow down' } })
    expect(await fixed.admit(ANN)).toMatchObject({ status: 503 })
    const worded = gateOf({
      limits,
      store,
      refusal: ({ code, status }) => ({ body: `${code} ${status}` }),
    })
    expect(await worded.admit(ANN)).toMatchObject({ status: 503, body: 'STORE_UNAVAILABLE 503' })
  })
})

describe('a refund', () => {
  const settled = async (refund: SharedOptions<PlainRequest>['refund'], status: number) => {
    const { gate, codes } = scene(refund === undefined ? {} : { refund })
    const passed = await gate.admit(ANN)
    if (passed.allowed) await passed.settle?.({ status })
    expect(codes()).toEqual([])
    return (await gate.admit(ANN)).answer?.remaining
  }

  test('is given only if asked for, and then for what fails with a 5xx', async () => {
    expect(await settled(undefined, 500)).toBe(0)
    expect(await settled(true, 500)).toBe(1)
    expect(await settled(true, 404)).toBe(0)
    expect(await settled(false, 500)).toBe(0)
  })

  test('may be given for what a function says', async () => {
    expect(await settled(({ status }) => status < 400, 200)).toBe(1)
    expect(await settled(({ request }) => request.ip === BOB.ip, 200)).toBe(0)
  })

  test('gives back what was charged, to every limit that was', async () => {
    const { store } = gateScene()
    const limits = {
      A: { burst: 4, period: '1m', cost: 3 },
      B: { burst: 2, period: '1m', who: () => 'all' },
      Look: { burst: 2, period: '1m', cost: 0 },
      Shadow: { burst: 1, period: '1m', shadow: true, who: () => 'all' },
    }
    const gate = gateOf({ store, limits, refund: true })
    await gate.admit(BOB)
    const passed = await gate.admit(ANN)
    // The shadow was not charged the second time, and so gets nothing back.
    if (passed.allowed) await passed.settle?.({ status: 500 })
    const third = await gate.admit(ANN)
    expect(third.answer?.charges.map(({ remaining }) => remaining)).toEqual([1, 0, 2, 0])
  })

  test('never lets more pass than the burst and the rate, less what was given back', async () => {
    const moves = fc.array(fc.constantFrom('ask', 'fail', 'wait'), { maxLength: 60 })
    const property = fc.asyncProperty(moves, async (history) => {
      const { gate, clock } = scene({ refund: true })
      const open: Passed<PlainRequest>[] = []
      let [admitted, returned, waited] = [0, 0, 0]
      for (const move of history) {
        if (move === 'wait') {
          clock.advance(seconds(5))
          waited += 5
        } else if (move === 'fail') {
          const passed = open.shift()
          if (passed !== undefined) returned += 1
          await passed?.settle?.({ status: 500 })
        } else {
          const admission = await gate.admit(ANN)
          if (!admission.allowed) continue
          admitted += 1
          open.push(admission)
        }
        expect(admitted - returned).toBeLessThanOrEqual(2 + waited / 10)
      }
    })
    await fc.assert(property)
  })

  test('that cannot be given is logged, and breaks nothing', async () => {
    const { warn, codes } = gateScene()
    const good = limiter({ store: gateScene().store, limits: { A: { burst: 2, period: '1m' } } })
    const refund = () => Promise.reject(new Error('gone'))
    const gate = gateOf({ limiter: { ...good, refund }, limits: 'A', refund: true, warn })
    const passed = await gate.admit(ANN)
    if (passed.allowed) await passed.settle?.({ status: 500 })
    expect(codes()).toEqual(['REFUND_FAILED'])
  })
})

test('a limit that the given limiter loses later is a mistake of the program, thrown to it', async () => {
  const given = limiter({ store: gateScene().store, limits: { Api: { burst: 1, period: '1m' } } })
  const verbs = { spend: given.spend, refund: given.refund }
  await expect(gateOf({ limiter: verbs, limits: 'Apo' }).admit(ANN)).rejects.toThrow(
    'did you mean Api?',
  )
})

test('a who that rejects while a cost throws fails the request, and not the process', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  const { store, warn } = gateScene()
  const gate = gateOf({
    store,
    warn,
    limits: { Api: { burst: 3, period: '1m' } },
    who: async () => Promise.reject(new Error('bad token')),
    cost: () => {
      throw new Error('no body')
    },
  })
  await expect((async () => gate.admit(ANN))()).rejects.toThrow('no body')
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})
