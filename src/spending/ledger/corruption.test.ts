/** What somebody with write access to the file could do, and what verify calls it. */
import { describe, expect, test } from 'vitest'
import { type Desk, openDesk } from '../../../test/support/ledger-desk.ts'
import type { Store } from '../../core/store.ts'
import { days, instant } from '../../core/time.ts'
import { openDatabaseFile } from '../../stores/sqlite/driver.ts'
import { sqlite } from '../../stores/sqlite/index.ts'
import { keysOf } from '../keys.ts'
import { createSpending } from '../spending.ts'
import type { LedgerEntry } from './entry.ts'
import { decodeEntry, encodeEntry, hashOfEntry } from './entry-text.ts'
import type { FindingKind, Verification } from './finding.ts'
import type { Anchor } from './walk.ts'

const KEYS = keysOf('0.0.2')
const POLICY = { compactAfter: days(10), rememberFor: days(2) }

/** Two weeks of some of everything; the first days are compacted. */
const busy = async (): Promise<Desk> => {
  const plans = [{ id: 'alpha', ethAddresses: ['0xa1', '0xa2'], subscriptionType: 'EXTENDED' }]
  const desk = openDesk({ plans, ...POLICY, rollover: { sharePerMille: 500 } })
  const { spending, clock } = desk
  await spending.createPlan({ id: 'beta', tier: 'BASIC', actor: 'ann' })
  await spending.createPlan({ id: 'omega', tier: 'BASIC', actor: 'ann' })
  await spending.link({ plan: 'omega', address: '0xb0', actor: 'ann' })
  await spending.record({ from: '0xa1', amount: 40n })
  clock.advance(days(12))
  await spending.record({ from: '0xa1', amount: 2n })
  await spending.compact()
  await spending.grant({ plan: 'alpha', amount: 50n, actor: 'ops', reason: 'launch' })
  const { holdId = '' } = await spending.hold({ from: '0xa1', estimate: 100n, actor: 'relay' })
  await spending.capture({ holdId, amount: 30n })
  await spending.settle({ holdId, amount: 120n })
  await spending.hold({ from: '0xa2', estimate: 7n })
  await spending.link({ plan: 'beta', address: '0xb1', actor: 'ann' })
  await spending.link({ plan: 'beta', address: '0xb2', actor: 'ann' })
  await spending.unlink({ plan: 'beta', address: '0xb2', actor: 'ann' })
  await spending.grant({ plan: 'omega', amount: 5n, operationId: 'give-1' })
  await spending.record({ from: '0xb1', amount: 11n })
  await spending.pushBalance(5_000n)
  await spending.changePlan({ plan: 'beta', limit: 200n, actor: 'ann', reason: 'asked for more' })
  const { grantId } = await spending.grant({ plan: 'beta', amount: 60n, actor: 'ann' })
  await spending.voidGrant({ plan: 'beta', grant: grantId, reason: 'a slip', actor: 'ann' })
  await spending.createPlan({ id: 'delta', tier: 'BASIC', actor: 'ann' })
  await spending.retirePlan({ plan: 'delta', actor: 'ann' })
  await spending.record({ from: '0xc1', amount: 20n, operationId: 'api-1' })
  await spending.reverse({ of: 'api-1', amount: 5n, reason: 'refunded' })
  const stream = { from: '0xd1', estimate: 30n, operationId: 'tx-9' }
  const { holdId: tx9 = '' } = await spending.hold(stream)
  await spending.capture({ holdId: tx9, amount: 10n, operationId: 'tx-9', operation: 'FileAppend' })
  await spending.settle({ holdId: tx9, amount: 25n })
  await spending.reverse({ of: 'tx-9', amount: 10n, reason: 'both' })
  await spending.reverse({ of: 'tx-9', amount: 4n, reason: 'both' })
  return desk
}

/** The file without the store, in the hands of whoever can write to it. */
const tamper = (path: string) => {
  const db = openDatabaseFile(path, { timeout: 1_000, defensive: true })
  const run = (sql: string, ...values: readonly (string | number | null)[]): void =>
    void db.prepare(sql).run(...values)
  const rows = (): { readonly position: number; readonly entry: LedgerEntry }[] =>
    db
      .prepare('SELECT position, entry FROM entries WHERE stream = ? ORDER BY position')
      .all(KEYS.ledger)
      .map((row) => {
        const { position, entry }: Partial<Record<string, unknown>> = { ...Object(row) }
        return { position: Number(position), entry: decodeEntry(String(entry)) }
      })
  const entries = (): LedgerEntry[] => rows().map(({ entry }) => entry)
  const placeOf = (seq: number) => rows().find(({ entry }) => entry.seq === seq)?.position ?? 0
  const replace = (entry: LedgerEntry): void =>
    run('UPDATE entries SET entry = ? WHERE position = ?', encodeEntry(entry), placeOf(entry.seq))
  const only = (sql: string, ...values: readonly string[]): string =>
    String(Object.values({ ...Object(db.prepare(sql).get(...values)) })[0])
  const value = (key: string): string => only('SELECT value FROM items WHERE key = ?', key)
  return {
    close: () => db.close(),
    run,
    only,
    entries,
    replace,
    value,
    last: (kind?: LedgerEntry['kind']): LedgerEntry => {
      const found = entries().findLast((entry) => kind === undefined || entry.kind === kind)
      if (found === undefined) throw new Error(`no entry ${kind}`)
      return found
    },
    remove: (seq: number) => run('DELETE FROM entries WHERE position = ?', placeOf(seq)),
    append: (stream: string, text: string) =>
      run(
        'INSERT INTO entries SELECT ?, max(position) + 1, ? FROM entries WHERE stream = ?',
        ...[stream, text, stream],
      ),
    put: (key: string, text: string) =>
      run('REPLACE INTO items (key, value) VALUES (?, ?)', key, text),
    forget: (key: string) => run('DELETE FROM items WHERE key = ?', key),
    /** Hashes everything anew from an entry on, as a forger would, and puts the head right. */
    rechain: (): void => {
      let prev = ''
      for (const [i, entry] of entries().entries()) {
        const next = { ...entry, prev: i === 0 ? entry.prev : prev }
        replace(next)
        prev = hashOfEntry(encodeEntry(next))
      }
      const calendar = JSON.parse(value(KEYS.calendar))
      const text = JSON.stringify({ ...calendar, entries: entries().at(-1)?.seq, head: prev })
      run('UPDATE items SET value = ? WHERE key = ?', text, KEYS.calendar)
    },
  }
}

type Tamper = ReturnType<typeof tamper>

const verifyAfter = async (forge: (file: Tamper, desk: Desk) => void, anchored = false) => {
  const desk = await busy()
  const before = await desk.spending.verify()
  expect(before.findings).toEqual([])
  await desk.store.close()
  const file = tamper(desk.path)
  forge(file, desk)
  file.close()
  const store = sqlite({ path: desk.path, clock: desk.clock })
  const spending = createSpending({
    store,
    settings: () => desk.settings,
    plans: () => desk.plans,
  })
  const anchor: Anchor | undefined = anchored ? before.head : undefined
  const found = await spending.verify(anchor)
  await store.close()
  return found
}

const kindsIn = ({ findings }: Verification): readonly FindingKind[] => [
  ...new Set(findings.map(({ kind }) => kind)),
]

const planBalance = (file: Tamper): string =>
  file.only("SELECT key FROM items WHERE key LIKE '%#plan/alpha'")

const CORRUPTIONS: readonly (readonly [string, FindingKind, (file: Tamper, desk: Desk) => void])[] =
  [
    ['the last entry deleted', 'entry-missing', (file) => file.remove(file.last().seq)],
    [
      'the last entry deleted, and the count lowered with it',
      'head-differs',
      (file) => {
        const { seq } = file.last()
        file.remove(seq)
        const calendar = JSON.parse(file.value(KEYS.calendar))
        file.put(KEYS.calendar, JSON.stringify({ ...calendar, entries: seq - 1 }))
      },
    ],
    [
      'an entry in the middle deleted',
      'entry-missing',
      (file) => file.remove(file.last('hold').seq),
    ],
    [
      'the grant entered twice',
      'entry-repeated',
      (file) => file.append(KEYS.ledger, encodeEntry(file.last('grant'))),
    ],
    [
      'the first entry, which the checkpoint vouches for, edited',
      'chain-broken',
      (file) => {
        const [first = file.last()] = file.entries()
        file.replace({ ...first, detail: 'x' })
      },
    ],
    [
      'an actor edited',
      'chain-broken',
      (file) => file.replace({ ...file.last('grant'), note: { actor: 'mallory' } }),
    ],
    [
      'a pot edited',
      'chain-broken',
      (file) => {
        const entry = file.last('hold')
        const moves = entry.moves.map((move) => ({ ...move, to: 'spent' as const }))
        file.replace({ ...entry, moves })
      },
    ],
    [
      'an amount edited',
      'chain-broken',
      (file) => {
        const entry = file.entries().find(({ kind, hold }) => kind === 'capture' && hold)
        if (entry === undefined) throw new Error('no capture')
        file.replace({ ...entry, moves: entry.moves.map((move) => ({ ...move, amount: 1n })) })
      },
    ],
    [
      'the last entry edited',
      'head-differs',
      (file) => file.replace({ ...file.last(), detail: 'nothing to see' }),
    ],
    [
      'an entry overwritten with noise',
      'entry-unreadable',
      (file) =>
        file.run(
          'UPDATE entries SET entry = ? WHERE position = (SELECT max(position) FROM entries)',
          '{"n":',
        ),
    ],
    [
      'the count of entries lowered',
      'head-differs',
      (file) => {
        const calendar = JSON.parse(file.value(KEYS.calendar))
        file.put(KEYS.calendar, JSON.stringify({ ...calendar, entries: calendar.entries - 1 }))
      },
    ],
    [
      'the count and the head taken back together',
      'head-differs',
      (file) => {
        const [calendar, last] = [JSON.parse(file.value(KEYS.calendar)), file.last()]
        const back = { ...calendar, entries: last.seq - 1, head: last.prev }
        file.put(KEYS.calendar, JSON.stringify(back))
      },
    ],
    ['a balance lowered', 'balance-drift', (file) => file.put(planBalance(file), '1')],
    ['a balance deleted', 'balance-drift', (file) => file.forget(planBalance(file))],
    [
      'a balance invented',
      'balance-drift',
      (file) => file.put(planBalance(file).replace('alpha', 'nobody'), '4'),
    ],
    [
      'what the payer ever spent lowered',
      'balance-drift',
      (file) => file.put(KEYS.budget(instant(0), 'outflow'), '1'),
    ],
    [
      'the checkpoint in force edited',
      'checkpoint-differs',
      (file) => {
        const kept = JSON.parse(file.value(KEYS.compacted))
        file.put(KEYS.compacted, JSON.stringify({ ...kept, before: kept.before + 1 }))
      },
    ],
    [
      'the window that the checkpoint in force tells, edited',
      'checkpoint-differs',
      (file) => {
        const { calendar, ...kept } = JSON.parse(file.value(KEYS.compacted))
        const moved = { ...calendar, origin: calendar.origin + 1 }
        file.put(KEYS.compacted, JSON.stringify({ ...kept, calendar: moved }))
      },
    ],
    [
      'an entry that outlived a compaction edited',
      'archive-broken',
      (file) =>
        file.run(
          "UPDATE entries SET entry = replace(entry, 'ann', 'eve') WHERE stream = ?",
          KEYS.archive,
        ),
    ],
    [
      'an entry slipped in among those that outlived a compaction',
      'archive-broken',
      (file) => file.append(KEYS.archive, encodeEntry(file.last('grant'))),
    ],
    [
      'the pointer to a plan’s newest entry moved',
      'trail-drift',
      (file) => file.put(KEYS.trail('alpha'), '1'),
    ],
  ]

const edited = (file: Tamper, key: string, edit: (kept: string) => string): void => {
  const kept = file.value(key)
  const next = edit(kept)
  if (next === kept) throw new Error(`${key} was not edited: ${kept}`)
  file.put(key, next)
}

const keyLike = (file: Tamper, pattern: string): string =>
  file.only(`SELECT key FROM items WHERE key LIKE '${pattern}' ORDER BY key DESC`)

const keyLikeValue = (file: Tamper, pattern: string): string =>
  file.only(`SELECT key FROM items WHERE value LIKE '${pattern}'`)

const openHold = (file: Tamper): string => keyLikeValue(file, '%["7","7"%')

const MORE: typeof CORRUPTIONS = [
  [
    'a grant’s amount times 1,800',
    'grant-drift',
    (file) => edited(file, KEYS.funds('alpha'), (kept) => kept.replace('"50"', '"90000"')),
  ],
  [
    'a grant’s spending forgotten',
    'grant-drift',
    (file) =>
      edited(file, KEYS.funds('alpha'), (kept) => kept.replace('"spent":"0"', '"spent":"9"')),
  ],
  [
    'a grant invented for a plan without any',
    'grant-drift',
    (file) => {
      const grant = { id: 'x', amount: '9', priority: 0, spent: '0', held: [] }
      file.put(KEYS.funds('gamma'), JSON.stringify({ grants: [grant] }))
    },
  ],
  ['the grants of a plan deleted', 'grant-drift', (file) => file.forget(KEYS.funds('alpha'))],
  [
    'a rollover raised',
    'rollover-drift',
    (file) =>
      edited(file, keyLike(file, '%#terms/alpha'), (kept) =>
        kept.replace(/"carried":"\d+"/, '"carried":"999"'),
      ),
  ],
  [
    'a rollover invented for a plan that was not charged',
    'rollover-drift',
    (file) => {
      const key = keyLike(file, '%#terms/alpha').replace('alpha', 'gamma')
      const granted = { spent: '0', held: [] }
      file.put(key, JSON.stringify({ limit: '1', carried: '9', passed: '0', owed: '0', granted }))
    },
  ],
  [
    'the amount of a hold edited',
    'hold-drift',
    (file) => edited(file, openHold(file), (kept) => kept.replaceAll('"7"', '"700"')),
  ],
  [
    'a hold given to another plan',
    'hold-drift',
    (file) => edited(file, openHold(file), (kept) => kept.replaceAll('alpha', 'beta')),
  ],
  ['an open hold deleted', 'hold-drift', (file) => file.forget(openHold(file))],
  [
    'a reading of the balance raised',
    'reading-drift',
    (file) => edited(file, KEYS.reading, (kept) => kept.replace('5000', '9000')),
  ],
  ['a reading deleted', 'reading-drift', (file) => file.forget(KEYS.reading)],
  [
    'the limit of a created plan raised',
    'plan-drift',
    (file) => edited(file, KEYS.plan('beta'), (kept) => kept.replace('"200"', '"99999"')),
  ],
  [
    'a plan invented',
    'plan-drift',
    (file) => file.put(KEYS.plan('eve'), file.value(KEYS.plan('beta')).replace('"beta"', '"eve"')),
  ],
  ['a created plan deleted', 'plan-drift', (file) => file.forget(KEYS.plan('beta'))],
  [
    'a plan deleted whose creation was compacted',
    'plan-drift',
    (file) => file.forget(KEYS.plan('omega')),
  ],
  [
    'a retired plan taken back into service',
    'plan-drift',
    (file) => edited(file, KEYS.plan('delta'), (kept) => kept.replace(/,"retiredAt":\d+/, '')),
  ],
  [
    'a grant brought back that was voided',
    'grant-drift',
    (file) => {
      const { grant: id } = file.last('void')
      const grant = { id, amount: '60', priority: 0, spent: '0', held: [], actor: 'ann' }
      file.put(KEYS.funds('beta'), JSON.stringify({ grants: [grant] }))
    },
  ],
  [
    'who gave a grant edited where it is kept',
    'grant-drift',
    (file) => edited(file, KEYS.funds('alpha'), (kept) => kept.replace('"ops"', '"eve"')),
  ],
  [
    'an open hold taken off the list',
    'hold-drift',
    (file) => file.forget(keyLike(file, `${KEYS.openHolds}#%`)),
  ],
  [
    'a hold listed as open that was settled',
    'hold-drift',
    (file) => {
      const { hold: id = '', expiresAt = instant(0) } = file.last('settle')
      file.put(KEYS.openHold({ id, expiresAt }), '')
    },
  ],
  [
    'the number of plans that spent anything raised',
    'balance-drift',
    (file) => file.put(keyLike(file, '%#plans/EXTENDED'), '7'),
  ],
  [
    'what was taken back of a booking forgotten',
    'booking-drift',
    (file) => edited(file, KEYS.operation('record', 'api-1'), (kept) => kept.replace('~5 ', '')),
  ],
  [
    'what was taken back of a capture lowered',
    'booking-drift',
    (file) => edited(file, KEYS.operation('capture', 'tx-9'), (kept) => kept.replace('~10', '~1')),
  ],
  [
    'what was taken back of a settlement lowered',
    'hold-drift',
    (file) =>
      edited(file, keyLikeValue(file, '%"r":"4"%'), (kept) => kept.replace('"r":"4"', '"r":"1"')),
  ],
  [
    'a booking raised, so that more of it can be taken back',
    'booking-drift',
    (file) =>
      edited(file, KEYS.operation('record', 'api-1'), (kept) => kept.replace('"20"', '"900"')),
  ],
  [
    'a booking given to another plan',
    'booking-drift',
    (file) =>
      edited(file, KEYS.operation('record', 'api-1'), (kept) => kept.replace('0xc1', '0xc2')),
  ],
  ['a member linked to a plan', 'link-drift', (file) => file.put(KEYS.link('0xbad'), 'made beta')],
  [
    'a member linked to another plan',
    'link-drift',
    (file) => file.put(KEYS.link('0xb1'), 'made omega'),
  ],
  ['a link deleted', 'link-drift', (file) => file.forget(KEYS.link('0xb1'))],
  [
    'a link that an operator made told to be automatic',
    'link-drift',
    (file) => file.put(KEYS.link('0xb1'), 'automatic beta'),
  ],
  ['a link brought back', 'link-drift', (file) => file.put(KEYS.link('0xb2'), 'made beta')],
  [
    'a member taken off the list of its plan',
    'link-drift',
    (file) => file.forget(KEYS.linked('beta', '0xb1')),
  ],
  [
    'a link deleted whose making was compacted',
    'link-drift',
    (file) => file.forget(KEYS.link('0xb0')),
  ],
  ...['origin', 'seen', 'compacted'].map(
    (field) =>
      [
        `${field} of the calendar moved`,
        'calendar-drift',
        (file: Tamper) => {
          const calendar = JSON.parse(file.value(KEYS.calendar))
          file.put(KEYS.calendar, JSON.stringify({ ...calendar, [field]: calendar[field] + 1 }))
        },
      ] as const,
  ),
  ...['window', 'previous'].flatMap((name) =>
    ['startsAt', 'endsAt'].map(
      (field) =>
        [
          `${field} of the ${name} moved`,
          'calendar-drift',
          (file: Tamper) => {
            const calendar = JSON.parse(file.value(KEYS.calendar))
            const window = { ...calendar[name], [field]: calendar[name][field] + 1 }
            file.put(KEYS.calendar, JSON.stringify({ ...calendar, [name]: window }))
          },
        ] as const,
    ),
  ),
  [
    'a window taken off the list, and a balance in it invented',
    'balance-drift',
    (file) => {
      const key = planBalance(file)
      file.put(key.replace('alpha', 'nobody'), '4')
      file.forget(keyLike(file, `${KEYS.windows}#%`))
    },
  ],
  [
    'the operation id of a grant forgotten',
    'booking-drift',
    (file) => file.forget(KEYS.operation('grant', 'give-1')),
  ],
  [
    'an operation id given to another hold',
    'booking-drift',
    (file) =>
      edited(file, KEYS.operation('hold', 'tx-9'), (kept) => kept.replace(/\.[\w-]+~/, '.x~')),
  ],
]

describe('planted in the file, verify finds and names', () => {
  test.each([...CORRUPTIONS, ...MORE])('%s: %s', async (_, kind, forge) => {
    expect(kindsIn(await verifyAfter(forge))).toContain(kind)
  })
})

describe('used after it was planted, it is still found:', () => {
  const put = (store: Store, key: string, value: string | undefined) =>
    store.transact(() => ({
      writes: [value === undefined ? { key } : { key, value }],
      appends: [],
      result: undefined,
    }))
  const keptUnder = (store: Store, key: string) =>
    store.transact(({ read }) => ({ writes: [], appends: [], result: read(key)[0] ?? '' }))

  test('a booking that was never made, taken back', async () => {
    const { spending, store } = openDesk()
    await spending.record({ from: '0xa1', amount: 300n })
    await spending.record({ from: '0xa1', amount: 1n, operationId: 'real' })
    const kept = await keptUnder(store, KEYS.operation('record', 'real'))
    await put(store, KEYS.operation('record', 'forged'), kept.replace('"a":"1"', '"a":"300"'))
    await spending.reverse({ of: 'forged', reason: 'x' })
    expect(kindsIn(await spending.verify())).toEqual(['booking-drift'])
  })

  test.each(['settle', 'capture', 'release', 'reverse'] as const)(
    'a hold that was never made, by %s',
    async (verb) => {
      const { spending, store } = openDesk()
      const ask = { from: '0xa1', estimate: 10n, operationId: 'tx-1' }
      const { holdId = '' } = await spending.hold(ask)
      const [id = ''] = holdId.split('~')
      if (verb === 'reverse') await spending.settle({ holdId, amount: 10n })
      const kept = await keptUnder(store, KEYS.hold(id))
      await put(store, KEYS.hold('f.x'), kept.replaceAll('0xa1', '0xa2'))
      if (verb === 'settle') await spending.settle({ holdId: 'f.x', amount: 10n })
      if (verb === 'capture') await spending.capture({ holdId: 'f.x', amount: 10n })
      if (verb === 'release') await spending.release({ holdId: 'f.x' })
      if (verb === 'reverse') {
        const answer = await keptUnder(store, KEYS.operation('hold', 'tx-1'))
        await put(store, KEYS.operation('hold', 'tx-2'), answer.replace(id, 'f.x'))
        await spending.reverse({ of: 'tx-2', reason: 'x' })
      }
      expect(kindsIn(await spending.verify())).toContain('hold-drift')
    },
  )

  test('the operation id of a grant, forgotten, and given again', async () => {
    const { spending, store, clock } = openDesk()
    const ask = { plan: 'basic:0xa1', amount: 10n, operationId: 'g' }
    await spending.grant(ask)
    clock.advance(days(8))
    // By then it is forgotten.
    await spending.grant(ask)
    expect((await spending.verify()).findings).toEqual([])
    await put(store, KEYS.operation('grant', 'g'), undefined)
    await spending.grant(ask)
    expect(kindsIn(await spending.verify())).toEqual(['booking-drift'])
  })

  test('a window that was moved', async () => {
    const { spending, store } = openDesk()
    await spending.record({ from: '0xa1', amount: 300n })
    const calendar = JSON.parse(await keptUnder(store, KEYS.calendar))
    const window = { ...calendar.window, startsAt: calendar.window.startsAt + 1 }
    await put(store, KEYS.calendar, JSON.stringify({ ...calendar, window }))
    await spending.hold({ from: '0xa1', estimate: 300n })
    expect(kindsIn(await spending.verify())).toContain('calendar-drift')
  })
})

describe('with an anchor', () => {
  test('a file that is as it was holds', async () => {
    expect(await verifyAfter(() => {}, true)).toMatchObject({ findings: [], anchor: 'holds' })
  })

  test('a tail that was cut without a trace is missed', async () => {
    const cut = (file: Tamper) => {
      file.remove(file.last().seq)
      file.rechain()
    }
    const found = await verifyAfter(cut, true)
    expect([found.anchor, kindsIn(found)]).toEqual([
      'broken',
      expect.arrayContaining(['anchor-missing']),
    ])
  })

  test('a chain that was made anew is told from an edit', async () => {
    const forge = (file: Tamper) => {
      file.replace({ ...file.last('hold'), note: { actor: 'mallory' } })
      file.rechain()
    }
    expect(await verifyAfter(forge)).toMatchObject({ findings: [] })
    const found = await verifyAfter(forge, true)
    expect([found.anchor, kindsIn(found)]).toEqual(['broken', ['anchor-differs']])
  })
})
