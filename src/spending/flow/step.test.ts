/** What a step does with the store: each key read, decoded and encoded once, whatever the verb. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { plansOf, SETTINGS } from '../../../test/support/ledger-desk.ts'
import type * as budget from '../../core/budget.ts'
import { answer, type Key, type Store, type Value } from '../../core/store.ts'
import { days } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import type * as spendingDoor from '../index.ts'

// Files share their modules, so spending is loaded anew with a codec that records its calls, and
// forgotten again: the next file loads its own.
const CODEC = '../../core/budget.ts'
let decodeBudget: typeof budget.decodeBudget
let encodeBudget: typeof budget.encodeBudget
let createSpending: typeof spendingDoor.createSpending

beforeAll(async () => {
  vi.resetModules()
  vi.doMock(CODEC, { spy: true })
  ;({ decodeBudget, encodeBudget } = await import('../../core/budget.ts'))
  ;({ createSpending } = await import('../index.ts'))
})

afterAll(() => {
  vi.doUnmock(CODEC)
  vi.resetModules()
})

interface Touched {
  readonly key: Key
  readonly value: Value
}

/** What one step did. Texts are listed once for each time that they were used. */
interface Traffic {
  readonly read: readonly Key[]
  readonly found: readonly Touched[]
  readonly written: readonly Touched[]
  readonly entries: readonly Value[]
  readonly decoded: { readonly budgets: readonly Value[]; readonly json: readonly Value[] }
  readonly encoded: { readonly budgets: readonly Value[]; readonly json: readonly Value[] }
}

/** A store that watches one step at a time, from its first read to its commit. */
function watched(inner: Store) {
  let traffic: Traffic | undefined
  const store: Store = {
    ...inner,
    transact: (step) =>
      inner.transact((view) => {
        const [read, found]: [Key[], Touched[]] = [[], []]
        const budgets = { decode: vi.mocked(decodeBudget), encode: vi.mocked(encodeBudget) }
        const json = { decode: vi.spyOn(JSON, 'parse'), encode: vi.spyOn(JSON, 'stringify') }
        const spies = [budgets.decode, budgets.encode, json.decode, json.encode]
        for (const spy of spies) spy.mockClear()
        const commit = step({
          now: view.now,
          read: (...keys) => {
            const values = view.read(...keys)
            for (const [i, key] of keys.entries()) {
              read.push(key)
              const value = values[i]
              if (value !== undefined) found.push({ key, value })
            }
            return values
          },
        })
        traffic = {
          read,
          found,
          written: commit.writes.map(({ key, value = '' }) => ({ key, value })),
          entries: commit.appends.map(({ entry }) => entry),
          decoded: {
            budgets: budgets.decode.mock.calls.map(([text]) => text),
            json: json.decode.mock.calls.map(([text]) => text),
          },
          encoded: {
            budgets: budgets.encode.mock.results.map(({ value }) => value),
            json: json.encode.mock.results.map(({ value }) => value),
          },
        }
        json.decode.mockRestore()
        json.encode.mockRestore()
        return commit
      }),
  }
  const of = async (call: () => Promise<unknown>): Promise<Traffic> => {
    traffic = undefined
    await call()
    if (traffic === undefined) throw new Error('no step was run')
    return traffic
  }
  return { store, of }
}

const isBudget = ({ key }: Touched): boolean => /\/window\/\d+#(?!terms\/)|\/outflow$/.test(key)

/** The JSON in a value: all of it, or the line after the digest and the end of a remembered answer. */
const jsonIn = ({ value }: Touched): readonly Value[] => {
  const json = /^(?:\S+ (?:\d+|-) )?([{[][^\n]*)/.exec(value)?.[1]
  return json === undefined ? [] : [json]
}

const jsonOf = (touched: readonly Touched[]): readonly Value[] =>
  touched.filter((each) => !isBudget(each)).flatMap(jsonIn)

const budgetsIn = (touched: readonly Touched[]): readonly Value[] =>
  touched.filter(isBudget).map(({ value }) => value)

const sorted = (texts: readonly string[]): readonly string[] => texts.toSorted()

function expectOnce(traffic: Traffic): void {
  const { read, found, written, entries, decoded, encoded } = traffic
  expect(sorted(read)).toEqual(sorted([...new Set(read)]))
  expect(sorted(decoded.budgets)).toEqual(sorted(budgetsIn(found)))
  expect(sorted(decoded.json)).toEqual(sorted(jsonOf(found)))
  expect(written.map(({ key }) => key)).toEqual([...new Set(written.map(({ key }) => key))])
  expect(sorted(encoded.budgets)).toEqual(sorted(budgetsIn(written)))
  expect(sorted(encoded.json)).toEqual(sorted([...jsonOf(written), ...entries]))
}

const WHO = { ip: '10.0.0.1', operation: 'FileAppend' } as const

/** A payer for whom every kind of key is there: links, a kept plan, grants, rollover, a reading. */
async function busyPayer(from: string) {
  const clock = fakeClock('2026-01-01T10:00:00Z')
  const inner = memory({ clock })
  const settings = {
    ...SETTINGS,
    total: 10_000n,
    linkIp: true,
    ipCeiling: 5_000n,
    rollover: { sharePerMille: 500 },
    categories: new Map([['FileAppend', 9_000n]]),
  }
  const plans = plansOf({ id: 'alpha', ethAddresses: ['0xa1'], subscriptionType: 'EXTENDED' })
  const options = { settings: () => settings, plans: () => plans }
  const before = createSpending({ store: inner, ...options })
  await before.createPlan({ id: 'made', tier: 'EXTENDED' })
  await before.link({ plan: 'made', address: '0xc1' })
  await before.grant({ plan: 'made', amount: 40n })
  for (const day of [1, 2]) {
    await before.pushBalance(900n)
    for (const each of ['0xa1', '0xb1', '0xc1']) {
      await before.record({ ...WHO, from: each, amount: 5n })
      await before.hold({ ...WHO, from: each, estimate: 5n })
    }
    if (day === 1) clock.advance(days(1))
  }
  const { store, of } = watched(inner)
  const spending = createSpending({ store, ...options })
  const who = { ...WHO, from }
  let holdId = ''
  const first = await of(async () => {
    holdId = (await spending.hold({ ...who, estimate: 20n })).holdId ?? ''
  })
  expectOnce(first)
  return { spending, of, who, holdId }
}

describe.each([
  ['a configured plan', '0xa1'],
  ['a plan of its own', '0xb1'],
  ['a plan kept in the store', '0xc1'],
  ['a plan of its own, since a moment', '0xd1'],
])('on behalf of a caller with %s', (_, from) => {
  test('a check reads and decodes each key once, and encodes nothing', async () => {
    const { spending, of, who } = await busyPayer(from)
    const traffic = await of(() => spending.check({ ...who, estimate: 20n }))
    expect(traffic.read.length).toBeGreaterThan(8)
    expect(traffic.written).toEqual([])
    expectOnce(traffic)
  })

  test('a hold reads, decodes and encodes each key once, granted, refused and replayed', async () => {
    const { spending, of, who } = await busyPayer(from)
    const ask = { ...who, estimate: 20n, operationId: `hold-${from}` }
    expectOnce(await of(() => spending.hold({ ...who, estimate: 20n })))
    const granted = await of(() => spending.hold(ask))
    expect(granted.written.length).toBeGreaterThan(6)
    expectOnce(granted)
    const refused = await of(() => spending.hold({ ...who, estimate: 20_000n }))
    expect(refused.written).toEqual([])
    expectOnce(refused)
    const replayed = await of(() => spending.hold(ask))
    expect([replayed.written, replayed.read.length]).toEqual([[], 2])
    expectOnce(replayed)
  })

  test('a capture reads, decodes and encodes each key once', async () => {
    const { spending, of, holdId } = await busyPayer(from)
    expectOnce(await of(() => spending.capture({ holdId, amount: 5n, operationId: 'c' })))
    expectOnce(await of(() => spending.capture({ holdId, amount: 5n, operationId: 'c' })))
    expectOnce(await of(() => spending.capture({ holdId, amount: 500n })))
  })

  test('a settlement reads, decodes and encodes each key once, and again when it is replayed', async () => {
    const { spending, of, holdId } = await busyPayer(from)
    const settled = await of(() => spending.settle({ holdId, amount: 15n }))
    expect(settled.written.length).toBeGreaterThan(8)
    expectOnce(settled)
    expectOnce(await of(() => spending.settle({ holdId, amount: 15n })))
  })

  test('a release reads, decodes and encodes each key once', async () => {
    const { spending, of, holdId } = await busyPayer(from)
    expectOnce(await of(() => spending.release({ holdId })))
  })

  test('a record reads, decodes and encodes each key once, also where it draws from a grant', async () => {
    const { spending, of, who } = await busyPayer(from)
    expectOnce(await of(() => spending.record({ ...who, amount: 5n, operationId: 'r' })))
    expectOnce(await of(() => spending.record({ ...who, amount: 1_000n })))
  })

  test('a grant reads, decodes and encodes each key once', async () => {
    const { spending, of } = await busyPayer(from)
    expectOnce(await of(() => spending.grant({ plan: `basic:${from}`, amount: 5n })))
  })
})

describe('the watch itself', () => {
  const key = 'spending/{p}/outflow'

  const watching = async (step: (read: () => Value) => void): Promise<Traffic> => {
    const inner = memory()
    await inner.transact(() => ({ ...answer(undefined), writes: [{ key, value: '7' }] }))
    const { store, of } = watched(inner)
    return of(() =>
      store.transact((view) => {
        step(() => view.read(key)[0] ?? '')
        return answer(undefined)
      }),
    )
  }

  test('finds nothing wrong where a key is read and decoded once', async () => {
    expectOnce(await watching((read) => decodeBudget(read())))
  })

  test.each<[string, (read: () => Value) => void]>([
    ['a key that is read twice', (read) => void [read(), decodeBudget(read())]],
    [
      'a value that is decoded twice',
      (read) => {
        const value = read()
        for (const text of [value, value]) decodeBudget(text)
      },
    ],
    ['a value that is encoded and not written', (read) => encodeBudget(decodeBudget(read()))],
    [
      'a record that is written as JSON and dropped',
      (read) => JSON.stringify(decodeBudget(read()).held),
    ],
  ])('reports %s', async (_, step) => {
    const traffic = await watching(step)
    expect(() => expectOnce(traffic)).toThrow()
  })
})
