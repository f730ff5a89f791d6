import { describe, expect, test } from 'vitest'
import { acmeCatalog } from '../../../test/support/acme-catalog.ts'
import { everything } from '../../../test/support/everything.ts'
import { PARTITIONS } from '../../../test/support/partitions.ts'
import { days, hours, millis, minutes, seconds, span } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock, restlessStore } from '../../testing/index.ts'
import type { Outlook } from './charge.ts'
import { createLimiter, type LimiterEvent } from './verbs.ts'

const LIMITS = `
NewFoosPerIPAddress: { id: ipAddress, burst: 20, count: 20, period: 1s }
Logins: { id: opaque, burst: 3, count: 3, period: 1h }
Mails: { id: opaque, burst: 5, count: 5, period: 1h }
Pings: { id: opaque, burst: 5, count: 5, period: 1h, onStoreFailure: open }
`
const DEFAULTS = 'NewOrdersPerAccount: { burst: 300, count: 300, period: 180m }'
const OVERRIDES =
  '- Logins: { burst: 10, count: 10, period: 1h, ids: [{ id: root, comment: trusted }] }'

describe.each(PARTITIONS)('over %s', (_, over) => {
  /** A limiter over a store that runs every step more than once: impure steps would show. */
  const gate = (limits = LIMITS, options: { perScope?: number } = {}) => {
    const clock = fakeClock('2024-01-01T00:00:00Z')
    let seed = 1
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed / 2_147_483_647
    }
    const store = restlessStore(over(memory({ clock })), random)
    let catalog = acmeCatalog({ limits, defaults: DEFAULTS, overrides: OVERRIDES })
    const events: LimiterEvent[] = []
    const limiter = createLimiter({
      store,
      catalog: () => catalog,
      operations: options,
      observe: (event) => events.push(event),
    })
    const change = (next: string) => {
      catalog = acmeCatalog({ limits: next, defaults: DEFAULTS })
    }
    return { clock, limiter, change, events, store }
  }

  const login = (id = 'ann') => ({ limit: 'Logins', id })
  const mail = (id = 'ann') => ({ limit: 'Mails', id })
  const allowed = (answers: readonly Outlook[]) => answers.map((answer) => answer.allowed)

  describe('spend', () => {
    test('admits exactly the burst, then one token an interval', async () => {
      const { limiter, clock } = gate()
      const spend = () => limiter.spend({ limit: 'NewFoosPerIPAddress', id: '172.23.45.22' })
      const answers = await Promise.all(Array.from({ length: 21 }, spend))
      expect(allowed(answers)).toEqual([...Array(20).fill(true), false])
      expect(answers[20]).toMatchObject({ reason: 'RATE_LIMIT', remaining: 0, retryIn: millis(50) })
      clock.advance(millis(50))
      expect((await spend()).allowed).toBe(true)
      expect((await spend()).allowed).toBe(false)
    })

    test('counts each id for itself, and one id under all its spellings', async () => {
      const { limiter } = gate()
      const spend = (id: string) => limiter.spend({ limit: 'NewFoosPerIPAddress', id, cost: 20 })
      expect((await spend('2001:db8::1')).allowed).toBe(true)
      expect((await spend('2001:DB8:0:0::1')).allowed).toBe(false)
      expect((await spend('::ffff:10.0.0.1')).allowed).toBe(true)
      expect((await spend('10.0.0.1')).allowed).toBe(false)
    })

    test('charges several limits at once or none of them, and names all that refused', async () => {
      const { limiter } = gate()
      await limiter.spend({
        charges: [
          { ...login(), cost: 3 },
          { ...mail(), cost: 5 },
        ],
      })
      const refused = await limiter.spend({ charges: [login(), mail(), mail('bob')] })
      expect(refused).toMatchObject({ allowed: false, violated: ['Logins', 'Mails'] })
      expect(await limiter.check({ ...mail('bob'), cost: 0 })).toMatchObject({ remaining: 5 })
    })

    test('answers with the strictest of the batch', async () => {
      const { limiter } = gate()
      const answer = await limiter.spend({ charges: [{ ...mail(), cost: 5 }, login()] })
      expect(answer).toMatchObject({ allowed: true, remaining: 0, retryIn: hours(1) })
      expect(answer.charges.map((charge) => charge.remaining)).toEqual([0, 2])
    })

    test('an override holds for its id, and says so', async () => {
      const { limiter } = gate()
      const { charges } = await limiter.spend(login('root'))
      expect(charges[0]).toMatchObject({ remaining: 9, source: 'override', policy: { burst: 10 } })
    })

    test('a known limit without a rate allows everything, reason DISABLED', async () => {
      const { limiter } = gate()
      const answer = await limiter.spend({ limit: 'CertificatesPerDomain', id: 'example.com' })
      expect(answer).toMatchObject({ allowed: true, reason: 'DISABLED', remaining: Infinity })
    })

    test('a disabled limit takes no part in a batch', async () => {
      const { limiter } = gate()
      const off = { limit: 'CertificatesPerDomain', id: 'example.com' }
      const answer = await limiter.spend({ charges: [off, login()] })
      expect(answer).toMatchObject({ allowed: true, remaining: 2 })
      expect(answer.reason).toBeUndefined()
      expect(answer.charges.map((charge) => charge.reason)).toEqual(['DISABLED', undefined])
    })
  })

  describe('check, try and refund legs', () => {
    test('a check answers as a spend would, and leaves no trace', async () => {
      const { limiter, store } = gate()
      expect(await limiter.check({ ...login(), cost: 3 })).toMatchObject({
        allowed: true,
        remaining: 0,
      })
      expect(await everything(store)).toEqual([])
    })

    test('check-and-spend, check-only and spend-only legs live in one batch', async () => {
      const { limiter } = gate()
      await limiter.spend({ ...mail(), cost: 5 })
      const answer = await limiter.spend({
        charges: [login(), { ...login('bob'), mode: 'check' }, { ...mail(), mode: 'try' }],
      })
      expect(answer.allowed).toBe(true)
      expect(allowed(answer.charges)).toEqual([true, true, false])
      expect((await limiter.check({ ...login('bob'), cost: 0 })).remaining).toBe(3)
      expect((await limiter.check({ ...login(), cost: 0 })).remaining).toBe(2)
    })

    test('a refund without an operation id is undated and restores the whole cost', async () => {
      const { limiter, clock } = gate()
      await limiter.spend({ ...login(), cost: 3 })
      clock.advance(minutes(10))
      expect(await limiter.refund({ ...login(), cost: 2 })).toMatchObject({
        allowed: true,
        remaining: 2,
      })
    })

    test('a refund of a full bucket gives nothing back, and says so', async () => {
      const { limiter } = gate()
      expect(await limiter.refund(login())).toMatchObject({
        allowed: false,
        reason: 'NOTHING_TO_RETURN',
        remaining: 3,
      })
    })

    test('a reset fills the bucket', async () => {
      const { limiter } = gate()
      await limiter.spend({ ...login(), cost: 3 })
      expect(await limiter.reset(login())).toMatchObject({ allowed: true, remaining: 3 })
      expect((await limiter.spend({ ...login(), cost: 3 })).allowed).toBe(true)
    })
  })

  describe('mistakes are told before anything is charged', () => {
    const cases = [
      ['no charges', { charges: [] }, 'CHARGES_MISSING'],
      [
        '257 charges',
        { charges: Array.from({ length: 257 }, (_, i) => login(`${i}`)) },
        'CHARGES_TOO_MANY',
      ],
      ['a cost above the burst', { ...login(), cost: 4 }, 'COST_ABOVE_BURST'],
      ['a negative cost', { ...login(), cost: -1 }, 'COST_INVALID'],
      ['a broken cost', { ...login(), cost: 1.5 }, 'COST_INVALID'],
      ['an unknown limit', { limit: 'Logouts', id: 'ann' }, 'LIMIT_UNKNOWN'],
      ['an id of the wrong form', { limit: 'NewFoosPerIPAddress', id: 'ann' }, 'ID_INVALID'],
      ['the same bucket twice', { charges: [login(), login()] }, 'BUCKET_TWICE'],
      ['an operation id with a space', { ...login(), operationId: 'a b' }, 'OPERATION_ID_INVALID'],
      [
        'an operation id without end',
        { ...login(), operationId: 'a'.repeat(257) },
        'OPERATION_ID_INVALID',
      ],
    ] as const

    for (const [what, request, code] of cases) {
      test(`${what}: ${code}`, async () => {
        const { limiter, store } = gate()
        await expect(limiter.spend(request)).rejects.toMatchObject({ name: 'HeadgateError', code })
        expect(await everything(store)).toEqual([])
      })
    }

    test('one bad charge spoils the batch', async () => {
      const { limiter, store } = gate()
      const batch = { charges: [login(), { limit: 'Nope', id: '1' }] }
      await expect(limiter.spend(batch)).rejects.toMatchObject({ code: 'LIMIT_UNKNOWN' })
      expect(await everything(store)).toEqual([])
    })

    test('a spend leg has no place in a check', async () => {
      const { limiter } = gate()
      const request = { ...login(), mode: 'spend' as const }
      await expect(limiter.check(request)).rejects.toMatchObject({ code: 'MODE_UNSUPPORTED' })
    })
  })

  describe('an operation id', () => {
    const once = { ...login(), operationId: 'op-1' }

    test('makes a repeated spend change nothing, and repeats the first answer', async () => {
      const { limiter } = gate()
      const first = await limiter.spend(once)
      await limiter.spend(login())
      const again = await limiter.spend(once)
      expect(again).toEqual({ ...first, replayed: true })
      expect((await limiter.check({ ...login(), cost: 0 })).remaining).toBe(1)
    })

    test('sent a hundred times at once is charged once', async () => {
      const { limiter } = gate()
      const answers = await Promise.all(Array.from({ length: 100 }, () => limiter.spend(once)))
      expect(answers.filter((answer) => answer.replayed === undefined)).toHaveLength(1)
      expect((await limiter.check({ ...login(), cost: 0 })).remaining).toBe(2)
    })

    test('is not spent by a refusal: asking again is a new question', async () => {
      const { limiter, clock } = gate()
      await limiter.spend({ ...login(), cost: 3 })
      expect((await limiter.spend(once)).allowed).toBe(false)
      clock.advance(minutes(20))
      expect(await limiter.spend(once)).toMatchObject({ allowed: true })
    })

    test('names one question only', async () => {
      const { limiter } = gate()
      await limiter.spend(once)
      await expect(limiter.spend({ ...once, cost: 2 })).rejects.toMatchObject({
        code: 'OPERATION_ID_REUSED',
      })
    })

    test('belongs to its scope and its verb', async () => {
      const { limiter } = gate()
      await limiter.spend(once, { scope: 'a' })
      const elsewhere = await limiter.spend({ ...once, cost: 2 }, { scope: 'b' })
      expect(elsewhere).toMatchObject({ allowed: true })
      expect(await limiter.reset(once, { scope: 'a' })).toMatchObject({ remaining: 3 })
    })

    test('is remembered for a day', async () => {
      const { limiter, clock } = gate()
      await limiter.spend(once)
      clock.advance(span(days(1) - 1))
      expect((await limiter.spend(once)).replayed).toBe(true)
      clock.advance(span(1))
      expect((await limiter.spend(once)).replayed).toBeUndefined()
    })

    test('is the oldest to be forgotten when a scope has remembered its fill', async () => {
      const { limiter } = gate(LIMITS, { perScope: 2 })
      const op = (n: number) => ({ ...mail(`${n}`), operationId: `op-${n}` })
      for (const n of [1, 2, 3]) await limiter.spend(op(n))
      expect((await limiter.spend(op(2))).replayed).toBe(true)
      expect((await limiter.spend(op(3))).replayed).toBe(true)
      expect((await limiter.spend(op(1))).replayed).toBeUndefined()
    })

    test('that was forgotten and used again is not forgotten with its former self', async () => {
      const { limiter, clock } = gate(LIMITS, { perScope: 3 })
      const op = (n: number) => ({ ...mail(`${n}`), operationId: `op-${n}` })
      await limiter.spend(op(1))
      clock.advance(days(1))
      await limiter.spend(op(1))
      await limiter.spend(op(2))
      await limiter.spend(op(3))
      expect((await limiter.spend(op(1))).replayed).toBe(true)
    })
  })

  describe('a refund by operation id', () => {
    const order = { ...login(), cost: 2, operationId: 'order-7' }

    test('gives back what the operation charged', async () => {
      const { limiter } = gate()
      await limiter.spend(order)
      expect(await limiter.refund({ operationId: 'order-7' })).toMatchObject({
        allowed: true,
        remaining: 3,
      })
    })

    test('gives back less what time forgave', async () => {
      const { limiter, clock } = gate()
      await limiter.spend(order)
      clock.advance(minutes(20))
      await limiter.spend({ ...login(), cost: 2 })
      expect(await limiter.refund({ operationId: 'order-7' })).toMatchObject({ remaining: 1 })
    })

    test('happens once, however often it is asked for', async () => {
      const { limiter } = gate()
      await limiter.spend(order)
      await limiter.spend(login())
      const first = await limiter.refund({ operationId: 'order-7' })
      expect(await limiter.refund({ operationId: 'order-7' })).toEqual({ ...first, replayed: true })
      expect((await limiter.check({ ...login(), cost: 0 })).remaining).toBe(2)
    })

    test('can name some of the charges, and no more than was charged', async () => {
      const { limiter } = gate()
      await limiter.spend({ charges: [{ ...login(), cost: 2 }, mail()], operationId: 'order-8' })
      const greedy = { charges: [{ ...login(), cost: 3 }], operationId: 'order-8' }
      await expect(limiter.refund(greedy)).rejects.toMatchObject({ code: 'OPERATION_CHARGES' })
      const foreign = { charges: [login('bob')], operationId: 'order-8' }
      await expect(limiter.refund(foreign)).rejects.toMatchObject({ code: 'OPERATION_CHARGES' })
      await limiter.refund({ charges: [login()], operationId: 'order-8' })
      expect((await limiter.check({ ...login(), cost: 0 })).remaining).toBe(2)
      expect((await limiter.check({ ...mail(), cost: 0 })).remaining).toBe(4)
    })

    test('gives back only what was charged: not a check, not a try that did not fit', async () => {
      const { limiter } = gate()
      await limiter.spend({ ...mail(), cost: 5 })
      await limiter.spend({
        charges: [login(), { ...login('bob'), mode: 'check' }, { ...mail(), mode: 'try' }],
        operationId: 'order-9',
      })
      const { charges } = await limiter.refund({ operationId: 'order-9' })
      expect(charges.map((charge) => charge.bucket)).toEqual(['Logins:ann'])
    })

    test('finds its bucket again where the id is a hash', async () => {
      const { limiter } = gate(
        `${LIMITS}CertificatesPerFQDNSet: { burst: 5, count: 5, period: 1h }`,
      )
      const set = { limit: 'CertificatesPerFQDNSet', id: 'example.com,example.org' }
      await limiter.spend({ ...set, operationId: 'cert-1' })
      expect(await limiter.refund({ operationId: 'cert-1' })).toMatchObject({ remaining: 5 })
    })

    test('of an operation that nobody remembers is a mistake', async () => {
      const { limiter } = gate()
      await expect(limiter.refund({ operationId: 'gone' })).rejects.toMatchObject({
        code: 'OPERATION_UNKNOWN',
      })
    })
  })

  test('a changed catalog is felt at the next call', async () => {
    const { limiter, change } = gate()
    await limiter.spend({ ...login(), cost: 3 })
    change('Logins: { id: opaque, burst: 30, count: 30, period: 1m }')
    expect(await limiter.spend(login())).toMatchObject({ allowed: false, retryIn: seconds(2) })
  })

  test('every answer is told to whoever observes', async () => {
    const { limiter, events } = gate()
    await limiter.spend(login())
    await limiter.check(login())
    expect(events).toMatchObject([
      { kind: 'answer', verb: 'spend', answer: { allowed: true } },
      { kind: 'answer', verb: 'check', answer: { allowed: true } },
    ])
  })
})
