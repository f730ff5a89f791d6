import { describe, expect, onTestFinished, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { type Desk, openDesk } from '../../../test/support/ledger-desk.ts'
import { openSpending } from '../../../test/support/open-spending.ts'
import { answer } from '../../core/store.ts'
import { type Instant, instant, millis, seconds } from '../../core/time.ts'
import { keysOf } from '../keys.ts'
import { decodeEntry } from '../ledger/entry-text.ts'
import { readStream } from '../ledger/pages.ts'
import { startBalancePoll } from './balance.ts'

const until = async (holds: () => boolean | Promise<boolean>) => {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve))
}

test('a balance that was read binds the next admission', async () => {
  const spending = openSpending()
  const now = (await spending.pushBalance(0n)).at
  const asked: string[] = []
  const poll = startBalancePoll({
    mirrorNode: {
      balance: async (account) => {
        asked.push(account)
        return { account, amount: 150n, at: instant(now + 1) }
      },
    },
    account: '0.0.2',
    every: seconds(60),
    spending,
    onFault: () => {},
  })
  onTestFinished(() => poll.stop())
  await until(async () => (await spending.check({ estimate: 150n })).allowed)
  expect((await spending.check({ estimate: 151n })).reason).toBe('OPERATOR_BALANCE')
  expect(asked).toEqual(['0.0.2'])
})

describe('a reading that is told late', () => {
  const opened = () =>
    openDesk({ total: 100_000n, tiers: UNLIMITED, start: '2026-01-01T12:00:00Z' })
  const pay = (desk: Desk, amount: bigint) => desk.spending.record({ from: '0xa1', amount })
  const room = async ({ spending }: Desk, estimate: bigint) =>
    (await spending.check({ from: '0xa1', estimate })).reason

  test('counts what was spent since it was read', async () => {
    const desk = opened()
    const readAt = desk.clock()
    desk.clock.advance(seconds(30))
    await pay(desk, 900n)
    desk.clock.advance(seconds(30))
    await desk.spending.pushBalance(1_000n, readAt)
    expect(await room(desk, 900n)).toBe('OPERATOR_BALANCE')
    expect(await room(desk, 101n)).toBe('OPERATOR_BALANCE')
    expect(await room(desk, 100n)).toBeNull()
  })

  test('does not count what was spent a moment before it was read', async () => {
    const desk = opened()
    await pay(desk, 900n)
    desk.clock.advance(seconds(5))
    const readAt = desk.clock()
    desk.clock.advance(seconds(5))
    await pay(desk, 70n)
    await desk.spending.pushBalance(100n, readAt)
    expect(await room(desk, 31n)).toBe('OPERATOR_BALANCE')
    expect(await room(desk, 30n)).toBeNull()
  })

  test('never finds more than there is, whenever it was read', async () => {
    const desk = opened()
    const history: { at: Instant; paid: bigint }[] = []
    let paid = 0n
    for (let i = 0; i < times(120, 900); i++) {
      history.push({ at: desk.clock(), paid })
      await pay(desk, 1n)
      paid += 1n
      desk.clock.advance(millis(500 + (i % 7) * 700))
    }
    const lenient = []
    for (const { at, paid: then } of history.slice(-times(90, 200))) {
      await desk.spending.pushBalance(10_000n, at)
      const left = 10_000n - (paid - then)
      if ((await room(desk, left + 1n)) === null) lenient.push(at)
    }
    expect(lenient).toEqual([])
  })

  test('is exact to half of its age, with few marks kept', async () => {
    const desk = opened()
    for (let i = 0; i < 150; i++) {
      await pay(desk, 1n)
      desk.clock.advance(seconds(4))
    }
    const [marks = ''] = await desk.store.transact(({ read }) =>
      answer(read(keysOf(desk.settings.payer).marks)),
    )
    expect(marks.split(' ').length).toBeLessThan(40)
    for (const age of [400, 100, 20, 4]) {
      await desk.spending.pushBalance(10_000n, instant(desk.clock() - seconds(age)))
      // One in four seconds was paid since, and at most half as many again are taken for paid since.
      expect(await room(desk, 10_000n - BigInt(Math.ceil((age * 3) / 8) + 1))).toBeNull()
    }
  })

  test('is an entry, with what the payer had paid by then', async () => {
    const desk = opened()
    await pay(desk, 40n)
    await desk.spending.pushBalance(1_000n)
    const entries = []
    const { ledger } = keysOf(desk.settings.payer)
    for await (const { entry } of readStream(desk.store, ledger)) entries.push(decodeEntry(entry))
    expect(entries.at(-1)).toMatchObject({
      kind: 'reading',
      reading: { amount: 1_000n, at: desk.clock(), spentThen: 40n },
    })
  })
})

const UNLIMITED = { BASIC: 'unlimited', EXTENDED: 0n, PRIVILEGED: 0n } as const
