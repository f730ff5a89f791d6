import { describe, expect, test } from 'vitest'
import { mistakeOfPromise } from '../../test/support/mistake-of-promise.ts'
import { StoreError } from '../core/errors.ts'
import type { Store } from '../core/store.ts'
import { minutes } from '../core/time.ts'
import { memory } from '../stores/memory/index.ts'
import { fakeClock } from '../testing/index.ts'
import { nothingPaid, SponsorError } from './sponsor.ts'
import { spending, type TypedSpendingOptions } from './typed-spending.ts'

const open = (options: Partial<TypedSpendingOptions> = {}) => {
  const clock = fakeClock('2024-01-01T12:00:00Z')
  const plain = memory({ clock })
  let down = false
  const transact: Store['transact'] = async (step, guess) => {
    if (down) throw new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'it', rule: 'is down' })
    return plain.transact(step, guess)
  }
  const store = { ...plain, transact }
  const tiers = { BASIC: 300n }
  const open = () => spending({ store, total: 1_000n, tiers, ...options })
  const fail = (is: boolean): void => {
    down = is
  }
  return { money: open(), open, clock, fail }
}

/** Work that counts how often it ran. */
const work = (fee: bigint | (() => bigint)) => {
  let runs = 0
  const run = async () => {
    runs += 1
    return typeof fee === 'bigint' ? fee : fee()
  }
  return { run, runs: () => runs }
}

const ask = { from: '0xB1', estimate: 200n, operationId: 'tx-1' }

const left = async (money: ReturnType<typeof spending>) => {
  const { plan } = await money.standing({ from: '0xB1' })
  return { spent: plan?.spent, held: plan?.held }
}

describe('sponsor', () => {
  test('holds the estimate while the work runs, and settles at its fee', async () => {
    const { money } = open()
    const paid = await money.sponsor(ask, async () => {
      expect(await left(money)).toEqual({ spent: 0n, held: 200n })
      return 150n
    })
    expect(paid).toMatchObject({ allowed: true, fee: 150n, charged: 150n, released: 50n })
    expect(await left(money)).toEqual({ spent: 150n, held: 0n })
    expect((await money.verify()).findings).toEqual([])
  })

  test('charges more than the estimate if it cost more', async () => {
    const { money } = open()
    const paid = await money.sponsor(ask, async () => 450n)
    expect(paid).toMatchObject({ allowed: true, fee: 450n, charged: 450n, overage: 250n })
    expect(await left(money)).toEqual({ spent: 450n, held: 0n })
  })

  test('returns the refusal, and does not run the work', async () => {
    const { money } = open()
    const { run, runs } = work(1n)
    const refused = await money.sponsor({ ...ask, estimate: 301n }, run)
    expect(refused).toMatchObject({ allowed: false, reason: 'PLAN_LIMIT' })
    expect(runs()).toBe(0)
  })

  test('runs the work and counts nothing where spending is off', async () => {
    const { money } = open({ total: 0n })
    expect(await money.sponsor(ask, async () => 7n)).toMatchObject({
      allowed: true,
      fee: 7n,
      charged: 0n,
    })
    const cause = new Error('not signed')
    const failed = money.sponsor(ask, async () => {
      throw nothingPaid(cause)
    })
    await expect(failed).rejects.toBe(cause)
  })

  test('leaves the hold to expire if the work throws: it may have paid', async () => {
    const { money, clock } = open()
    const lost = money.sponsor(ask, async () => {
      throw new Error('no answer')
    })
    await expect(lost).rejects.toThrow('no answer')
    expect(await left(money)).toEqual({ spent: 0n, held: 200n })
    clock.advance(minutes(3))
    expect(await left(money)).toEqual({ spent: 0n, held: 0n })
  })

  test('gives the hold back if nothing was paid, and throws the error itself', async () => {
    const { money } = open()
    const cause = new TypeError('not signed')
    const failed = money.sponsor(ask, async () => {
      throw nothingPaid(cause)
    })
    await expect(failed).rejects.toBe(cause)
    expect(await left(money)).toEqual({ spent: 0n, held: 0n })
  })

  test('leaves the hold if the fee cannot be read', async () => {
    const { money } = open()
    const mistake = await mistakeOfPromise(money.sponsor(ask, async () => -1n))
    expect(mistake.code).toBe('AMOUNT_INVALID')
    expect(await left(money)).toEqual({ spent: 0n, held: 200n })
  })
})

describe('the same operation id again', () => {
  test('after success gets the first result, from another process too', async () => {
    const { money, open: openAgain } = open()
    const { run, runs } = work(150n)
    await money.sponsor(ask, run)
    for (const each of [money, openAgain()]) {
      expect(await each.sponsor(ask, run)).toMatchObject({
        allowed: true,
        fee: 150n,
        charged: 0n,
        replayed: true,
      })
    }
    expect(runs()).toBe(1)
    expect(await left(money)).toEqual({ spent: 150n, held: 0n })
  })

  test('while the work runs waits for it, in the same process', async () => {
    const { money } = open()
    const { run, runs } = work(150n)
    const both = await Promise.all([money.sponsor(ask, run), money.sponsor(ask, run)])
    expect(both).toMatchObject([{ fee: 150n }, { fee: 150n, replayed: true }])
    expect(runs()).toBe(1)
  })

  test('after a run that paid nothing runs the work again, under a new hold', async () => {
    const { money } = open()
    let failures = 2
    const { run, runs } = work(() => {
      if (failures-- > 0) throw nothingPaid(new Error('busy'))
      return 150n
    })
    await expect(money.sponsor(ask, run)).rejects.toThrow('busy')
    await expect(money.sponsor(ask, run)).rejects.toThrow('busy')
    expect(await money.sponsor(ask, run)).toMatchObject({ allowed: true, charged: 150n })
    expect(await money.sponsor(ask, run)).toMatchObject({ fee: 150n, replayed: true })
    expect(runs()).toBe(3)
    expect(await left(money)).toEqual({ spent: 150n, held: 0n })
  })

  test('after work that failed too often is a mistake', async () => {
    const { money } = open()
    const fail = async () => {
      throw nothingPaid(new Error('busy'))
    }
    for (let i = 0; i < 16; i++) await expect(money.sponsor(ask, fail)).rejects.toThrow('busy')
    expect((await mistakeOfPromise(money.sponsor(ask, fail))).code).toBe('HOLD_CLOSED')
  })

  describe('after a run that did not say how it ended', () => {
    const lost = async () => {
      const opened = open()
      const failed = opened.money.sponsor(ask, async () => {
        throw new Error('no answer')
      })
      await expect(failed).rejects.toThrow('no answer')
      return opened
    }

    test('does not run it again, and names the hold to settle or release', async () => {
      const { money } = await lost()
      const { run, runs } = work(150n)
      const error = await money.sponsor(ask, run).catch((found: unknown) => found)
      expect(error).toBeInstanceOf(SponsorError)
      expect(error).toMatchObject({ code: 'PAYMENT_UNKNOWN', fee: undefined })
      expect(runs()).toBe(0)
      const { holdId } = error instanceof SponsorError ? error : { holdId: '' }
      await money.settle({ holdId, amount: 120n })
      expect(await money.sponsor(ask, run)).toMatchObject({ fee: 120n, replayed: true })
    })

    test('runs it again if it is idempotent, also when the hold has expired', async () => {
      const { money, clock } = await lost()
      clock.advance(minutes(5))
      const paid = await money.sponsor({ ...ask, idempotent: true }, async () => 150n)
      expect(paid).toMatchObject({ allowed: true, charged: 150n, late: true })
      expect(await left(money)).toEqual({ spent: 150n, held: 0n })
    })
  })

  test('in other words is a mistake', async () => {
    const { money } = open()
    await money.sponsor(ask, async () => 1n)
    const other = money.sponsor({ ...ask, estimate: 100n }, async () => 1n)
    expect((await mistakeOfPromise(other)).code).toBe('HOLD_CONFLICT')
  })
})

describe('while the store is down', () => {
  test('refuses, and does not run the work', async () => {
    const { money, fail } = open()
    fail(true)
    const { run, runs } = work(1n)
    expect(await money.sponsor(ask, run)).toMatchObject({ reason: 'STORE_UNAVAILABLE' })
    expect(runs()).toBe(0)
  })

  test('says what was paid and not settled; the same operation id settles it without more work', async () => {
    const { money, fail } = open()
    const { run, runs } = work(() => {
      fail(true)
      return 150n
    })
    const error = await money.sponsor(ask, run).catch((found: unknown) => found)
    expect(error).toMatchObject({ code: 'PAYMENT_UNSETTLED', fee: 150n })
    fail(false)
    expect(await money.sponsor(ask, run)).toMatchObject({
      fee: 150n,
      charged: 150n,
      replayed: true,
    })
    expect(runs()).toBe(1)
    expect(await left(money)).toEqual({ spent: 150n, held: 0n })
  })

  test('a hold that cannot be given back expires, and the error is thrown all the same', async () => {
    const { money, fail } = open()
    const failed = money.sponsor(ask, async () => {
      fail(true)
      throw nothingPaid(new Error('not signed'))
    })
    await expect(failed).rejects.toThrow('not signed')
    fail(false)
    expect(await left(money)).toEqual({ spent: 0n, held: 200n })
  })
})

describe('ids that callers choose', () => {
  test('never meet the ids of retries', async () => {
    const { money } = open()
    await money.sponsor({ ...ask, operationId: 'x/2' }, async () => 70n)
    const failing = money.sponsor({ ...ask, operationId: 'x' }, async () => {
      throw nothingPaid(new Error('no key'))
    })
    await expect(failing).rejects.toThrow('no key')
    expect(await money.sponsor({ ...ask, operationId: 'x' }, async () => 60n)).toMatchObject({
      fee: 60n,
    })
  })

  test('may be as long as ids can be, also for a retry', async () => {
    const { money } = open()
    const long = { ...ask, operationId: 'x'.repeat(256) }
    const failing = money.sponsor(long, async () => {
      throw nothingPaid(new Error('no key'))
    })
    await expect(failing).rejects.toThrow('no key')
    expect(await money.sponsor(long, async () => 60n)).toMatchObject({ fee: 60n })
  })
})

test('calls that resume one operation at once run its work once, and charge once', async () => {
  const { money } = open()
  const again = { ...ask, idempotent: true }
  const lost = money.sponsor(again, async () => Promise.reject(new Error('lost')))
  await expect(lost).rejects.toThrow('lost')
  let runs = 0
  const answers = await Promise.all(
    [1, 2, 3, 4, 5].map(() =>
      money.sponsor(again, async () => {
        runs++
        await new Promise((resolve) => setImmediate(resolve))
        return 50n
      }),
    ),
  )
  expect(runs).toBe(1)
  const charged = answers.map((answer) => (answer.allowed ? answer.charged : 0n))
  expect(charged.reduce((sum, amount) => sum + amount, 0n)).toBe(50n)
})

test('a misspelt field is an error before anything is held: a retry without its id would pay again', async () => {
  const { money } = open()
  const slip: typeof ask = JSON.parse('{"from":"0xB1","operationid":"tx-1"}')
  const { runs, run } = (() => {
    let count = 0
    return { runs: () => count, run: async () => BigInt(++count) }
  })()
  expect(await mistakeOfPromise(money.sponsor(slip, run))).toMatchObject({
    code: 'FIELD_UNKNOWN',
    finding: '"operationid" (did you mean operationId?)',
  })
  expect(runs()).toBe(0)
})
