import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countContent, type StoreRecord } from './records.ts'

const record: fc.Arbitrary<StoreRecord> = fc.oneof(
  fc.record({
    kind: fc.constant('item' as const),
    key: fc.string(),
    value: fc.string(),
    expiry: fc.nat(),
  }),
  fc.record({
    kind: fc.constant('entry' as const),
    stream: fc.constantFrom('s', 't'),
    position: fc.nat(),
    entry: fc.string(),
  }),
)

const summaryOf = (records: readonly StoreRecord[]) => {
  const count = countContent()
  for (const one of records) count.add(one)
  return count.summary()
}

test('the same records come to the same, in any order, and twice or once', () => {
  const twoOrders = fc
    .array(record, { maxLength: 60 })
    .chain((records) =>
      fc.tuple(
        fc.constant(records),
        fc.shuffledSubarray([...records, ...records], { minLength: records.length * 2 }),
      ),
    )
  fc.assert(
    fc.property(twoOrders, ([once, twice]) => {
      expect(summaryOf(twice)).toEqual(summaryOf(once))
    }),
  )
})

test('what is lost, added or changed comes to something else', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(record, { minLength: 1, selector: (one) => JSON.stringify(one) }),
      (records) => {
        const [first, ...rest] = records
        const { content } = summaryOf(records)
        expect(summaryOf(rest).content).not.toBe(content)
        const changed = first?.kind === 'item' ? { ...first, value: `${first.value}!` } : undefined
        if (changed) expect(summaryOf([changed, ...rest]).content).not.toBe(content)
      },
    ),
  )
})

test('a stream of which nothing is left counts, and so does its last position', () => {
  const endingAt = (last: number) => summaryOf([{ kind: 'stream', stream: 's', last }])
  expect(endingAt(9)).toMatchObject({ streams: 1, entries: 0 })
  expect(endingAt(9).content).not.toBe(endingAt(8).content)
})

test('many records are counted one by one', () => {
  const items = Array.from({ length: 20_000 }, (_, i) => ({
    kind: 'item' as const,
    key: `k${i}`,
    value: '',
  }))
  expect(summaryOf([...items, ...items])).toMatchObject({ keys: 20_000, streams: 0, entries: 0 })
})
