import { expect, test } from 'vitest'
import { instant } from '../../core/time.ts'
import type { LedgerEntry } from './entry.ts'
import { decodeEntry, encodeEntry, hashOfEntry } from './entry-text.ts'

const ENTRY: LedgerEntry = {
  seq: 7,
  at: instant(1_767_261_600_000_001),
  prev: hashOfEntry('before'),
  planPrev: 3,
  kind: 'capture',
  window: instant(1_767_225_600_000_000),
  party: {
    plan: 'alpha',
    tier: 'EXTENDED',
    member: '0xa1',
    operation: 'FileAppend',
    mode: 'QUERY',
  },
  moves: [
    { from: 'held', to: 'spent', amount: 10n ** 20n },
    { from: 'available', to: 'spent', amount: 1n },
  ],
  hold: 'h.1',
  expiresAt: instant(1_767_261_700_000_000),
  operationId: 'op-1',
  note: { actor: 'relay' },
  flags: ['overage'],
  draws: [{ grant: 'g', amount: 5n }],
  owed: 2n,
}

test('an entry comes back as it was, from one text only', () => {
  const text = encodeEntry(ENTRY)
  expect(decodeEntry(text)).toEqual(ENTRY)
  expect(encodeEntry(decodeEntry(text))).toBe(text)
})

test('what can be told from the rest is not written: a plan of one’s own, the usual tier and mode', () => {
  const party = {
    plan: 'basic:0xb1',
    tier: 'BASIC',
    member: '0xb1',
    operation: 'X',
    mode: 'TRANSACTION',
  } as const
  const text = encodeEntry({ ...ENTRY, party })
  expect(text).toContain('"y":{"m":"0xb1","o":"X"}')
  expect(decodeEntry(text).party).toEqual(party)
  const nobody = { operation: 'X', mode: 'TRANSACTION' } as const
  expect(decodeEntry(encodeEntry({ ...ENTRY, party: nobody })).party).toEqual(nobody)
})

test('a text with a pot that is none is no entry', () => {
  expect(() => decodeEntry(encodeEntry(ENTRY).replace('hs1', 'xs1'))).toThrow('no pot')
})
