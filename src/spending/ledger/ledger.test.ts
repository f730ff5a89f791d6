/** The ledger: what happened, that it adds up, and what one plan used. */
import { describe, expect, test } from 'vitest'
import { everything } from '../../../test/support/everything.ts'
import { codeOf, type Desk, openDesk } from '../../../test/support/ledger-desk.ts'
import { days, hours, instant, seconds } from '../../core/time.ts'
import { keysOf } from '../keys.ts'
import type { LedgerEntry } from './entry.ts'
import { decodeEntry } from './entry-text.ts'
import type { ExportFormat } from './export.ts'

const KEYS = keysOf('0.0.2')

const ledgerOf = async ({ store }: Desk): Promise<readonly LedgerEntry[]> =>
  (await store.read(KEYS.ledger, 0, 10_000)).map(({ entry }) => decodeEntry(entry))

const linesOf = async ({ spending }: Desk, format: ExportFormat): Promise<readonly string[]> => {
  const lines: string[] = []
  for await (const line of spending.export(format)) lines.push(line)
  return lines
}

/** Some of everything, over two days. */
const busy = async (settings = {}): Promise<Desk> => {
  const plans = [{ id: 'alpha', ethAddresses: ['0xa1', '0xa2'], subscriptionType: 'EXTENDED' }]
  const desk = openDesk({ plans, ...settings })
  const { spending } = desk
  await spending.grant({ plan: 'alpha', amount: 50n, actor: 'ops', reason: 'launch, "day one"' })
  const { holdId = '' } = await spending.hold({
    from: '0xa1',
    ip: '10.0.0.1',
    estimate: 100n,
    operation: 'EthereumTransaction',
    operationId: 'tx-1',
    transactionId: '0.0.2@1767261600.000000001',
    caller: 'eth_sendRawTransaction',
    interactingEntity: '=0x00000000000000000000000000000000000003e9',
    requestId: 'req-1',
  })
  await spending.capture({ holdId, amount: 30n })
  await spending.settle({ holdId, amount: 120n })
  await spending.record({
    from: '0xc1',
    ip: '10.0.0.1',
    amount: 7n,
    operation: 'FileAppendTransaction',
  })
  await spending.record({ amount: 3n, mode: 'QUERY' })
  desk.clock.advance(days(1))
  await spending.record({ from: '0xa2', amount: 11n })
  await spending.hold({ from: '0xa1', estimate: 5n })
  return desk
}

describe('the ledger', () => {
  test('says who, what for, in which window and on whose behalf', async () => {
    const desk = await busy()
    const [, held, captured] = await ledgerOf(desk)
    expect(held).toMatchObject({
      seq: 2,
      kind: 'hold',
      at: 1_767_261_600_000_000,
      window: 1_767_225_600_000_000,
      party: {
        plan: 'alpha',
        tier: 'EXTENDED',
        member: '0xa1',
        operation: 'EthereumTransaction',
        mode: 'TRANSACTION',
      },
      moves: [{ from: 'available', to: 'held', amount: 100n }],
      operationId: 'tx-1',
      note: {
        transactionId: '0.0.2@1767261600.000000001',
        caller: 'eth_sendRawTransaction',
        requestId: 'req-1',
      },
    })
    expect(captured).toMatchObject({ kind: 'capture', hold: held?.hold })
  })

  test('puts into one pot what it takes from another, and numbers its entries without gaps', async () => {
    const entries = await ledgerOf(await busy())
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, i) => i + 1))
    expect(entries.map(({ kind, moves }) => [kind, ...moves.map(({ amount }) => amount)])).toEqual([
      ['grant', 50n],
      ['hold', 100n],
      ['capture', 30n],
      ['settle', 70n, 20n],
      ['capture', 7n],
      ['capture', 3n],
      ['capture', 11n],
      ['hold', 5n],
    ])
  })

  test('takes nothing for a refusal', async () => {
    const desk = openDesk()
    await desk.spending.hold({ from: '0xa1', estimate: 301n })
    expect(await ledgerOf(desk)).toEqual([])
    expect(await everything(desk.store)).toEqual([])
  })
})

describe('verification', () => {
  test('finds nothing where the balances are the sum of the ledger', async () => {
    const desk = await busy()
    const found = await desk.spending.verify()
    expect(found).toMatchObject({ entries: 8, findings: [] })
    expect(found.accounts).toBeGreaterThan(10)
  })

  test('names the balance that was tampered with, and by how much', async () => {
    const desk = await busy()
    const { startsAt } = await desk.spending.window()
    const key = KEYS.budget(startsAt, 'plan/alpha')
    await desk.store.transact(() => ({
      writes: [{ key, value: '10' }],
      appends: [],
      result: undefined,
    }))
    expect((await desk.spending.verify()).findings).toEqual([
      {
        kind: 'balance-drift',
        what: 'plan/alpha',
        window: startsAt,
        ledger: 'spent 11, 5 held until 1767348180000000',
        kept: 'spent 10',
      },
    ])
  })

  test('names a balance that no entry accounts for', async () => {
    const desk = await busy()
    const { startsAt } = await desk.spending.window()
    const key = KEYS.budget(startsAt, 'plan/nobody')
    await desk.store.transact(() => ({
      writes: [{ key, value: '4' }],
      appends: [],
      result: undefined,
    }))
    const drift = { what: 'plan/nobody', ledger: 'spent 0', kept: 'spent 4' }
    expect((await desk.spending.verify()).findings).toMatchObject([drift])
  })

  test('names it also in a window that ended long ago, by lists and without a scan', async () => {
    const desk = await busy()
    const { startsAt } = await desk.spending.window()
    await desk.store.transact(() => ({
      writes: [{ key: KEYS.budget(startsAt, 'member/0xnobody'), value: '4' }],
      appends: [],
      result: undefined,
    }))
    desk.clock.advance(days(40))
    await desk.spending.record({ from: '0xa1', amount: 1n })
    const scan = () => Promise.reject(new Error('a verification scans nothing'))
    Object.assign(desk.store, { scan })
    const drift = { what: 'member/0xnobody', window: startsAt, kept: 'spent 4' }
    expect((await desk.spending.verify()).findings).toMatchObject([drift])
  })

  test('names what the payer is said to have paid before its first entry', async () => {
    const desk = openDesk()
    await desk.store.transact(({ now }) => ({
      writes: [{ key: KEYS.budget(now, 'outflow'), value: '5' }],
      appends: [],
      result: undefined,
    }))
    const drift = { what: 'outflow', ledger: 'spent 0', kept: 'spent 5' }
    expect((await desk.spending.verify()).findings).toMatchObject([drift])
  })

  test('names entries that are gone', async () => {
    const desk = await busy()
    const third = (await desk.store.read(KEYS.ledger, 0, 3)).at(-1)
    await desk.store.trim(KEYS.ledger, (third?.position ?? 0) + 1)
    const found = await desk.spending.verify()
    expect(found.findings).toContainEqual(
      expect.objectContaining({ kind: 'entry-missing', what: 'entries 1 to 3' }),
    )
  })

  test('holds while money is being spent', async () => {
    const desk = openDesk({ total: 'unlimited' })
    const spent = Array.from({ length: 100 }, (_, i) =>
      desk.spending.record({ from: `0x${i}`, amount: 1n }),
    )
    const found = await Promise.all([desk.spending.verify(), desk.spending.verify(), ...spent])
    expect(found.slice(0, 2)).toMatchObject([{ findings: [] }, { findings: [] }])
    expect(await desk.spending.verify()).toMatchObject({ entries: 100, findings: [] })
  })
})

test('exported lines are JSON with money as text and times to the microsecond', async () => {
  const [, line = ''] = await linesOf(await busy(), 'jsonl')
  expect(JSON.parse(line)).toMatchObject({
    at: '2026-01-01T10:00:00.000000Z',
    window: '2026-01-01T00:00:00.000000Z',
    moves: [{ amount: '100' }],
    party: { family: 'ETHEREUM' },
  })
})

test('exported CSV has one row a move, quoted, and nothing that a spreadsheet would run', async () => {
  const [header = '', grant = '', hold = '', ...rows] = await linesOf(await busy(), 'csv')
  expect(header.split(',').slice(0, 8)).toEqual([
    'seq',
    'at',
    'window',
    'kind',
    'from',
    'to',
    'amount',
    'plan',
  ])
  expect(grant).toContain('"launch, ""day one"""')
  expect(hold).toContain(",'=0x00000000000000000000000000000000000003e9,")
  expect(rows).toHaveLength(7)
})

test('a report reads any number of operations', async () => {
  const { spending } = openDesk({ total: 'unlimited' })
  const operations = Array.from({ length: 1_100 }, (_, i) => `Operation${i}`)
  await Promise.all(operations.map((operation) => spending.record({ operation, amount: 1n })))
  const report = await spending.report()
  expect(Object.keys(report.byOperation)).toHaveLength(1_100)
  expect(report).toMatchObject({ total: 1_100n, byFamily: { HEDERA: 1_100n }, byTier: {} })
})

describe('usage and history', () => {
  test('show what a plan spent by window, day and month', async () => {
    const desk = await busy()
    desk.clock.set('2026-02-01T12:00:00Z')
    await desk.spending.record({ from: '0xa1', amount: 1n })
    expect(await desk.spending.usage('alpha')).toMatchObject({
      daily: { '2026-01-01': 120n, '2026-01-02': 11n, '2026-02-01': 1n },
      monthly: { '2026-01': 131n, '2026-02': 1n },
    })
  })

  test('show a window that only a late record was charged to', async () => {
    const { spending, clock } = openDesk()
    await spending.start()
    const earlier = instant(clock() - days(2))
    await spending.record({ from: '0xa1', amount: 5n, at: earlier })
    const { windows } = await spending.usage('basic:0xa1')
    expect(windows.map(({ spent }) => spent)).toEqual([5n])
    expect((await spending.verify()).findings).toEqual([])
  })

  test('leave what is told later than anything is remembered to the window of now', async () => {
    const { spending, clock } = openDesk({ rememberFor: days(2) })
    await spending.start()
    const { startsAt } = await spending.window()
    const late = { from: '0xa1', amount: 5n }
    await spending.record({ ...late, at: instant(clock() - days(2) + 1) })
    expect((await spending.report()).total).toBe(0n)
    await spending.record({ ...late, at: instant(clock() - days(2)) })
    const now = await spending.usage('basic:0xa1')
    expect(now.windows.at(-1)).toEqual({ window: startsAt, spent: 5n })
  })

  test('go back two months', async () => {
    const desk = await busy()
    desk.clock.advance(days(70))
    expect((await desk.spending.usage('alpha')).windows).toEqual([])
  })

  test('list a plan’s entries page by page', async () => {
    const { spending } = await busy()
    const first = await spending.history('alpha', { limit: 4 })
    const rest = await spending.history('alpha', { after: first.next, limit: 4 })
    expect([...first.entries, ...rest.entries].map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 7, 8])
    expect(rest.next).toBeUndefined()
  })
})

describe('compaction', () => {
  const policy = { compactAfter: days(10), rememberFor: days(2) }

  test('leaves a checkpoint in place of entries and balances of windows long ended', async () => {
    const desk = await busy(policy)
    const { startsAt } = await desk.spending.window()
    desk.clock.advance(days(12))
    await desk.spending.record({ from: '0xa1', amount: 2n })
    const before = await ledgerOf(desk)
    const done = await desk.spending.compact()
    expect(done.entries).toBe(8)
    expect(done.balances).toBeGreaterThan(10)
    const [kept, checkpoint, ...rest] = await ledgerOf(desk)
    expect([kept?.kind, checkpoint?.kind, rest]).toEqual(['capture', 'checkpoint', []])
    // The next entry carries the hash of the last that is gone: the checkpoint vouches for it.
    expect(checkpoint?.checkpoint).toMatchObject({ through: 8, hash: before[8]?.prev, spent: 141n })
    expect(await desk.store.range(KEYS.balances(startsAt), '', 10)).toEqual([])
    expect(await desk.spending.verify()).toMatchObject({ findings: [], compactedThrough: 8 })
    expect(await desk.spending.compact()).toEqual({ entries: 0, balances: 0 })
  })

  test('says what the windows came to, as their reports did', async () => {
    const desk = await busy(policy)
    const report = await desk.spending.report(instant(1_767_225_600_000_000))
    desk.clock.advance(days(12))
    await desk.spending.record({ from: '0xa1', amount: 2n })
    await desk.spending.compact()
    const sums = (await ledgerOf(desk)).at(-1)?.sums ?? []
    const sumOf = (budget: string) =>
      sums.find((sum) => sum.window === report.window && sum.budget === budget)?.spent
    expect(sumOf('total')).toBe(report.total)
    for (const [operation, spent] of Object.entries(report.byOperation)) {
      expect(sumOf(`operation/${operation}`)).toBe(spent)
    }
  })

  test('keeps for good who created, switched, linked and granted', async () => {
    const desk = await busy(policy)
    const { spending, clock } = desk
    await spending.createPlan({ id: 'beta', tier: 'BASIC', actor: 'ann' })
    await spending.deactivatePlan('beta', { actor: 'bob' })
    clock.advance(days(12))
    await spending.record({ from: '0xa1', amount: 2n })
    await spending.compact()
    clock.advance(days(12))
    await spending.record({ from: '0xa1', amount: 2n })
    await spending.compact()
    const actors = (await spending.history('beta')).entries.map(({ note }) => note?.actor)
    expect(actors).toEqual(['ann', 'bob'])
    const newest = await spending.history('alpha', { order: 'newest' })
    expect(newest.entries.map(({ kind }) => kind)).toEqual(['capture', 'grant'])
    expect(newest.entries.at(-1)?.note?.actor).toBe('ops')
    expect(await spending.verify()).toMatchObject({ findings: [] })
  })

  test('that ended between the checkpoint and the trim counts nothing twice', async () => {
    const desk = await busy(policy)
    desk.clock.advance(days(12))
    const { store } = desk
    const { trim } = store
    const fail = (_: string, before: number) =>
      before === 0 ? Promise.resolve() : Promise.reject(new Error('the power went'))
    Object.assign(store, { trim: fail })
    await expect(desk.spending.compact()).rejects.toThrow('the power went')
    expect((await ledgerOf(desk)).map(({ kind }) => kind)).toContain('checkpoint')
    expect(await desk.spending.verify()).toMatchObject({ findings: [] })
    Object.assign(store, { trim })
    await desk.spending.compact()
    expect(await desk.spending.verify()).toMatchObject({ findings: [] })
    expect((await ledgerOf(desk)).every(({ kind }) => kind === 'checkpoint')).toBe(true)
  })

  test('by several at once, under the eyes of a verification, is done once', async () => {
    const desk = await busy(policy)
    desk.clock.advance(days(12))
    const { spending } = desk
    const [found, ...done] = await Promise.all([
      spending.verify(),
      spending.compact(),
      spending.compact(),
    ])
    expect(done.map(({ entries }) => entries).toSorted()).toEqual([0, 8])
    expect(found.findings).toEqual([])
    expect(await spending.verify()).toMatchObject({ findings: [] })
  })

  test('does nothing without a policy', async () => {
    const desk = await busy()
    desk.clock.advance(days(1_000))
    expect(await desk.spending.compact()).toEqual({ entries: 0, balances: 0 })
  })

  test('waits until no hold can settle any more', async () => {
    const desk = await busy({ compactAfter: hours(1), holdFor: seconds(10) })
    expect(await codeOf(desk.spending.compact())).toBe('COMPACTION_TOO_SOON')
  })
})
