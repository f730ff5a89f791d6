/** Messages about holds come in any order, late, and more than once; money moves once. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { codeOf, type Desk, openDesk } from '../../../test/support/ledger-desk.ts'

type Message =
  | {
      readonly kind: 'capture'
      readonly hold: number
      readonly amount: bigint
      readonly id: string
    }
  | { readonly kind: 'settle'; readonly hold: number; readonly amount: bigint | undefined }
  | { readonly kind: 'record'; readonly from: string; readonly amount: bigint; readonly id: string }

const HOLDERS = ['0xa1', '0xa2', '0xb1']
const amount = fc.bigInt({ min: 0n, max: 120n })

const messages = fc
  .record({
    captures: fc.array(fc.record({ hold: fc.nat(2), amount }), { maxLength: 6 }),
    settles: fc.tuple(
      ...HOLDERS.map(() =>
        fc.option(fc.record({ amount: fc.option(amount, { nil: undefined }) }), { nil: undefined }),
      ),
    ),
    records: fc.array(fc.record({ from: fc.constantFrom(...HOLDERS), amount }), { maxLength: 3 }),
  })
  .map(({ captures, settles, records }): readonly Message[] => [
    ...captures.map((each, i) => ({ kind: 'capture', id: `c${i}`, ...each }) as const),
    ...records.map((each, i) => ({ kind: 'record', id: `r${i}`, ...each }) as const),
    ...settles.flatMap((each, hold) =>
      each === undefined ? [] : [{ kind: 'settle', hold, amount: each.amount } as const],
    ),
  ])

const sent = messages.chain((all) =>
  fc.record({
    all: fc.constant(all),
    order: fc.array(fc.nat(Math.max(0, all.length - 1)), { maxLength: 2 * all.length }),
  }),
)

test('any order and multiplicity of captures, settlements and records gives the same balances', async () => {
  await fc.assert(
    fc.asyncProperty(sent, async ({ all, order }) => {
      const repeated = all.length === 0 ? [] : order.map((i) => all[i % all.length])
      const jumbled = [...repeated, ...all.toReversed(), ...repeated]
      const once = await balancesAfter(all)
      expect(await balancesAfter(jumbled.filter((each) => each !== undefined))).toEqual(once)
    }),
    { numRuns: times(20, 500) },
  )
})

async function balancesAfter(all: readonly Message[]) {
  const desk = openDesk({ total: 10_000n })
  const holds = await Promise.all(
    HOLDERS.map((from) => desk.spending.hold({ from, estimate: 100n })),
  )
  for (const each of all)
    await send(
      desk,
      holds.map(({ holdId = '' }) => holdId),
      each,
    )
  const plans = await Promise.all(HOLDERS.map((from) => desk.spending.standing({ from })))
  expect((await desk.spending.verify()).findings).toEqual([])
  await desk.store.close()
  return plans
}

async function send({ spending }: Desk, holds: readonly string[], each: Message): Promise<void> {
  switch (each.kind) {
    case 'capture': {
      const holdId = holds[each.hold] ?? ''
      await spending.capture({ holdId, amount: each.amount, operationId: each.id })
      return
    }
    case 'settle':
      await spending.settle({ holdId: holds[each.hold] ?? '', amount: each.amount })
      return
    case 'record':
      await spending.record({ from: each.from, amount: each.amount, operationId: each.id })
      return
    default:
      each satisfies never
  }
}

describe('an operation id', () => {
  test('answers again what it answered first, though the balances have moved on', async () => {
    const { spending } = openDesk()
    const ask = { from: '0xa1', amount: 100n, operationId: 'tx-1/TRANSACTION' }
    const first = await spending.record(ask)
    await spending.record({ from: '0xa1', amount: 5n })
    expect(await spending.record(ask)).toEqual({ ...first, replayed: true })
    expect((await spending.standing({ from: '0xa1' })).plan?.spent).toBe(105n)
  })

  test('names one question: another under the same id is a mistake', async () => {
    const { spending } = openDesk()
    const held = await spending.hold({ from: '0xa1', estimate: 10n, operationId: 'one' })
    const { holdId = '' } = held
    await spending.capture({ holdId, amount: 1n, operationId: 'one' })
    await spending.record({ from: '0xa1', amount: 1n, operationId: 'one' })
    const again = [
      spending.hold({ from: '0xa1', estimate: 11n, operationId: 'one' }),
      spending.capture({ holdId, amount: 2n, operationId: 'one' }),
      spending.record({ from: '0xa2', amount: 1n, operationId: 'one' }),
    ]
    expect(await Promise.all(again.map(codeOf))).toEqual([
      'HOLD_CONFLICT',
      'OPERATION_ID_REUSED',
      'OPERATION_ID_REUSED',
    ])
  })

  test('of a refused hold is free: asking again is a new question', async () => {
    const { spending } = openDesk()
    const other = await spending.hold({ from: '0xa1', estimate: 300n })
    const ask = { from: '0xa1', estimate: 300n, operationId: 'mine' }
    expect((await spending.hold(ask)).allowed).toBe(false)
    await spending.release({ holdId: other.holdId ?? '' })
    expect(await spending.hold(ask)).toMatchObject({ allowed: true })
  })

  test.each(['', 'two words', 'ü', 'x'.repeat(257)])('is not %j', async (operationId) => {
    const { spending } = openDesk()
    expect(await codeOf(spending.record({ amount: 1n, operationId }))).toBe('OPERATION_ID_INVALID')
  })
})
