import { expect, test } from 'vitest'
import { trueOrFalse, wholeNumberIn } from './reader.ts'
import { afterReload, changedNames, keptValues } from './restart.ts'
import { complete, settingsTable } from './table.ts'

const count = wholeNumberIn({ min: 0, max: 9 })

const TABLE = settingsTable({
  fixed: { reader: count, default: 1, sentence: '' },
  free: { reader: count, default: 1, reloads: true, sentence: '' },
  absent: { reader: count, sentence: '' },
  flagOnly: { reader: trueOrFalse, default: false, flag: 'only', inFile: false, sentence: '' },
  whole: {
    section: {
      a: { reader: count, default: 1, sentence: '' },
      b: { reader: count, default: 1, sentence: '' },
    },
  },
  mixed: {
    section: {
      fixed: { reader: count, default: 1, sentence: '' },
      free: { reader: count, default: 1, reloads: true, sentence: '' },
    },
  },
})

const running = complete(TABLE)

const waiting = (given: Parameters<typeof complete<typeof TABLE>>[1]) =>
  changedNames(keptValues(TABLE, running), keptValues(TABLE, complete(TABLE, given)))

test('settings need a restart unless a reload changes them', () => {
  expect(waiting({})).toEqual([])
  expect(waiting({ free: 2 })).toEqual([])
  expect(waiting({ fixed: 2, absent: 2 })).toEqual(['fixed', 'absent'])
  expect(waiting({ flagOnly: true })).toEqual([])
})

test('a section that needs a restart is named as one, and otherwise by its keys', () => {
  expect(waiting({ whole: { a: 2, b: 2 } })).toEqual(['whole'])
  expect(waiting({ mixed: { fixed: 2, free: 2 } })).toEqual(['mixed.fixed'])
  expect([...keptValues(TABLE, running, 'shop.').keys()]).toContain('shop.mixed.fixed')
})

test('a name that only one of them has is no change', () => {
  expect(changedNames(new Map([['gone', 1]]), new Map([['new', 1]]))).toEqual([])
})

test('values are compared by what they hold', () => {
  const kept = (value: unknown) => new Map([['it', value]])
  const money = (limit: bigint) => new Map([['file', limit]])
  expect(changedNames(kept(money(1n)), kept(money(1n)))).toEqual([])
  expect(changedNames(kept(money(1n)), kept(money(2n)))).toEqual(['it'])
  expect(changedNames(kept({ a: 1, b: 2 }), kept({ b: 2, a: 1 }))).toEqual([])
})

test('after a reload the kept ones are those of the start, the others the newest', () => {
  const next = complete(TABLE, {
    fixed: 2,
    free: 2,
    absent: 2,
    whole: { a: 2 },
    mixed: { fixed: 2, free: 2 },
  })
  expect(afterReload(TABLE, running, next)).toEqual({
    ...running,
    free: 2,
    mixed: { fixed: 1, free: 2 },
  })
})
