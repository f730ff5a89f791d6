/** An export, verified without its store. */
import { describe, expect, test } from 'vitest'
import { compactAtFirstRead, openDesk } from '../../../test/support/ledger-desk.ts'
import { days } from '../../core/time.ts'
import { parseTimestamp } from '../../lib/moments.ts'
import { readMoney } from '../money-json.ts'
import type { LedgerEntry } from './entry.ts'
import { encodeEntry, hashOfEntry } from './entry-text.ts'
import { verifyExport } from './verify-export.ts'

const desk = async (compacted = false) => {
  const { spending, clock } = openDesk({ compactAfter: days(10), rememberFor: days(2) })
  await spending.createPlan({ id: 'beta', tier: 'BASIC', actor: 'ann' })
  for (const amount of [1n, 2n, 3n]) await spending.record({ from: '0xa1', amount })
  const { head: early } = await spending.verify()
  clock.advance(days(12))
  const { holdId = '' } = await spending.hold({ from: '0xa1', estimate: 9n, actor: 'relay' })
  await spending.settle({ holdId, amount: 7n })
  if (compacted) await spending.compact()
  const lines: string[] = []
  for await (const line of spending.export('jsonl')) lines.push(line)
  return { lines, early, head: (await spending.verify()).head }
}

/** A line as a forger leaves it: with the hash that it has now. */
const rehashed = (line: string): string => {
  const { at, window, hash, ...rest } = readMoney<LedgerEntry & { at: string; hash: string }>(line)
  const times = { at: parseTimestamp(at), window: parseTimestamp(String(window)) }
  const { party } = rest
  const entry = { ...rest, ...times, ...(party && { party: { ...party, family: undefined } }) }
  return line.replace(hash, hashOfEntry(encodeEntry(entry as unknown as LedgerEntry)))
}

const lineWith = (line: string, tier: string): string => rehashed(line.replaceAll('BASIC', tier))

const kinds = async (...given: Parameters<typeof verifyExport>) =>
  (await verifyExport(...given)).findings.map(({ kind, line }) => [kind, line])

describe('an export', () => {
  test('that nobody touched holds, and an anchor in it too', async () => {
    const { lines, early, head } = await desk()
    expect(await verifyExport(lines, early)).toMatchObject({
      findings: [],
      anchor: 'holds',
      compactedThrough: 0,
      head: { number: head.number, hash: head.hash },
    })
  })

  test('of a compacted ledger holds: a checkpoint vouches for what is gone', async () => {
    const { lines, early } = await desk(true)
    const found = await verifyExport(lines, early)
    expect(found).toMatchObject({ findings: [], compactedThrough: 4, anchor: 'holds' })
    expect(await verifyExport(lines, { ...early, number: 2, hash: 'x' })).toMatchObject({
      findings: [],
      anchor: 'compacted',
    })
  })

  test('of a compacted ledger tells by the checkpoint that a line of an operator was edited, cut or slipped in', async () => {
    const { lines, head } = await desk(true)
    const [first = '', ...rest] = lines
    const told = lineWith(first, 'EXTENDED')
    expect(await verifyExport([told, ...rest], head)).toMatchObject({
      findings: [{ kind: 'edited', line: 1 }],
      anchor: 'holds',
    })
    expect(await kinds(rest, head)).toEqual([['cut', 1]])
    const invented = first.replace('"seq":1', '"seq":3')
    expect(await kinds([first, rehashed(invented), ...rest], head)).toEqual([['edited', 2]])
  })

  test('of a ledger that was compacted meanwhile has every line of an operator, once', async () => {
    const { spending, clock, store } = openDesk({ compactAfter: days(10), rememberFor: days(2) })
    for (const id of ['beta', 'gamma']) {
      await spending.createPlan({ id, tier: 'BASIC' })
      await spending.record({ from: '0xa1', amount: 1n })
    }
    clock.advance(days(12))
    await spending.record({ from: '0xa1', amount: 1n })
    const lines: string[] = []
    compactAtFirstRead(store, spending)
    for await (const line of spending.export('jsonl')) lines.push(line)
    expect(lines.filter((line) => line.includes('plan created'))).toHaveLength(2)
    expect((await verifyExport(lines)).findings).toEqual([])
  })

  test('tells an edit, a cut, a swap and a line that is none', async () => {
    const { lines } = await desk()
    const [a = '', b = '', c = '', ...rest] = lines
    expect(await kinds([a, b.replace('"amount":"1"', '"amount":"8"'), c, ...rest])).toEqual([
      ['edited', 2],
      ['edited', 3],
    ])
    expect(await kinds([a, c, ...rest])).toEqual([['cut', 2]])
    expect((await kinds([a, c, b, ...rest])).length).toBeGreaterThan(0)
    expect(await kinds([a, 'nonsense', c, ...rest])).toContainEqual(['edited', 2])
  })

  test('tells by its anchor that its tail was cut, or its chain made anew', async () => {
    const { lines, head } = await desk()
    const shorter = await verifyExport(lines.slice(0, -1), head)
    expect(shorter).toMatchObject({ anchor: 'broken', findings: [{ kind: 'cut' }] })
    const other = await verifyExport(lines, { ...head, hash: 'x' })
    expect(other).toMatchObject({ anchor: 'broken', findings: [{ kind: 're-chained' }] })
  })
})
