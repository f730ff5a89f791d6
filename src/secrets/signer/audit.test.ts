import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mistakeOfPromise } from '../../../test/support/mistake-of-promise.ts'
import type { Store } from '../../core/store.ts'
import { instant, seconds } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock } from '../../testing/index.ts'
import { type AuditEvent, type AuditPage, audit, isAuditCursor, readAudit } from './audit.ts'
import { SHARDS, secretName } from './shards.ts'

const note = (store: Store, event: AuditEvent): Promise<void> =>
  store.transact(({ now }) => ({ writes: [], appends: [audit(now, event)], result: undefined }))

const signed = (shard: string, name: string): AuditEvent => ({
  event: 'signed',
  record: secretName(shard, 'domain', name),
  keyVersion: 1,
})

const open = () => {
  const clock = fakeClock('2024-01-01T00:00:00Z')
  return { clock, store: memory({ clock }) }
}

const namesIn = ({ entries }: AuditPage) => entries.map(({ record }) => record.split('/').at(-1))

const pagesOf = async (store: Store, limit: number) => {
  const pages = []
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page: AuditPage = await readAudit(store, after, limit)
    pages.push(namesIn(page))
    after = page.next
  }
  return pages
}

test('entries come back as they were, oldest first, with their place and time', async () => {
  const { store } = open()
  await note(store, signed('a', '1'))
  await note(store, { event: 'disabled', record: secretName('a', 'domain', '1') })
  const { entries, next } = await readAudit(store, '', 10)
  const at = instant(Date.UTC(2024, 0, 1) * 1_000)
  expect(entries).toEqual([
    { place: 'a-1', at, event: 'signed', record: 'secrets/{a}/domain/1', keyVersion: 1 },
    { place: 'a-2', at, event: 'disabled', record: 'secrets/{a}/domain/1' },
  ])
  expect(next).toBeUndefined()
})

test('an entry lies in the stream beside the record that it speaks of', () => {
  for (const shard of SHARDS) {
    expect(audit(instant(1), signed(shard, 'x')).stream).toBe(`secrets/{${shard}}/audit`)
  }
})

test('pages meet, by time over all shards: none is left out, none comes twice, and the last says that it is the last', async () => {
  const { clock, store } = open()
  for (const [i, shard] of [...'fa0fa0'].entries()) {
    await note(store, signed(shard, `${i}`))
    clock.advance(seconds(1))
  }
  expect(await pagesOf(store, 2)).toEqual([
    ['0', '1'],
    ['2', '3'],
    ['4', '5'],
  ])
  expect(await pagesOf(store, 6)).toHaveLength(1)
})

test('who comes back with the end of the last page sees what was written since, and nothing else', async () => {
  const { clock, store } = open()
  await note(store, signed('f', 'before'))
  const { end, next } = await readAudit(store, '', 10)
  expect(next).toBeUndefined()
  clock.advance(seconds(1))
  await note(store, signed('0', 'since'))
  expect(namesIn(await readAudit(store, end, 10))).toEqual(['since'])
})

test('an entry that lands behind what was read comes in the next page', async () => {
  const { clock, store } = open()
  await note(store, signed('0', '1'))
  await note(store, signed('0', '2'))
  const { end } = await readAudit(store, '', 1)
  const early = instant(clock() - seconds(60))
  await store.transact(() => ({
    writes: [],
    appends: [audit(early, signed('1', 'late'))],
    result: undefined,
  }))
  expect(namesIn(await readAudit(store, end, 10))).toEqual(['late', '2'])
})

test('whatever is written to which shard and however it is paged, all of it is shown once, each shard in its order', async () => {
  const acts = fc.array(fc.record({ shard: fc.nat(15), wait: fc.nat(2) }), { maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(acts, fc.integer({ min: 1, max: 20 }), async (all, limit) => {
      const { clock, store } = open()
      for (const [i, { shard, wait }] of all.entries()) {
        clock.advance(seconds(wait))
        await note(store, signed(SHARDS[shard] ?? '', `${i}`))
      }
      const shown = (await pagesOf(store, limit)).flat().map(Number)
      const waited = all.map((_, i) => all.slice(0, i + 1).reduce((sum, { wait }) => sum + wait, 0))
      const expected = all
        .map((_, i) => i)
        .sort(
          (one, other) =>
            (waited[one] ?? 0) - (waited[other] ?? 0) ||
            (all[one]?.shard ?? 0) - (all[other]?.shard ?? 0) ||
            one - other,
        )
      expect(shown).toEqual(expected)
    }),
    { numRuns: 50 },
  )
})

test('a page reads each shard once, and again only one that fills most of it', async () => {
  const { clock, store } = open()
  let reads = 0
  const counting: Store = {
    ...store,
    read: (...page) => {
      reads += 1
      return store.read(...page)
    },
  }
  for (let i = 0; i < 320; i++) {
    await note(store, signed(SHARDS[i % 16] ?? '', `${i}`))
    clock.advance(seconds(1))
  }
  await readAudit(counting, '', 100)
  expect(reads).toBe(SHARDS.length)
  const { end } = await readAudit(store, '', 320)
  for (let i = 0; i < 100; i++) await note(store, signed('0', `${i}`))
  reads = 0
  await readAudit(counting, end, 100)
  expect(reads).toBeLessThanOrEqual(SHARDS.length + 7)
})

test('where nothing was done there is one empty page', async () => {
  expect(await readAudit(memory(), '', 10)).toEqual({ entries: [], end: '.'.repeat(15) })
})

test('a cursor is one that a page gave', async () => {
  const { store } = open()
  await note(store, signed('7', '1'))
  const { end } = await readAudit(store, '', 10)
  expect([end, isAuditCursor(end), isAuditCursor('')]).toEqual([
    `${'.'.repeat(7)}1${'.'.repeat(8)}`,
    true,
    true,
  ])
  for (const text of ['1', 'x', `${end}.`, end.replace('1', '-1'), end.replace('1', '0')]) {
    expect(isAuditCursor(text), text).toBe(false)
    expect(await mistakeOfPromise(readAudit(store, text, 1))).toMatchObject({
      code: 'AUDIT_PAGE_INVALID',
    })
  }
  expect(isAuditCursor(end.replace('1', 'z'.repeat(11)))).toBe(false)
})
