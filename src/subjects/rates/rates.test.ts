import { describe, expect, onTestFinished, test } from 'vitest'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import type { Store } from '../../core/store.ts'
import { after, type Clock, days, hours, type Span } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { sqlite } from '../../stores/sqlite/index.ts'
import { fakeClock, pretendedCluster, restlessStore } from '../../testing/index.ts'
import { createRates } from './rates.ts'

const PROVIDER = 'did:web:example.com'
const ADA = { issuer: 'did:key:zAda', chain: ['bafyproof'] }

const BACKENDS: readonly (readonly [string, (clock: Clock) => Store])[] = [
  ['memory', (clock) => memory({ clock })],
  ['a cluster', (clock) => pretendedCluster(memory({ clock }))],
  ['sqlite', (clock) => sqlite({ path: scratchFile(), clock })],
]

const idOf = (result: { readonly ok?: { readonly id: string } | undefined }): string => {
  if (result.ok === undefined) throw new Error('expected a rate')
  return result.ok.id
}

describe.each(BACKENDS)('%s', (_, openStore) => {
  const open = () => {
    const clock = fakeClock()
    const store = restlessStore(openStore(clock), Math.random)
    onTestFinished(() => store.close())
    return { clock, store, rates: createRates({ store, provider: PROVIDER }) }
  }

  describe('adding and listing', () => {
    test('a rate is kept as it was given, with when, by whom and why', async () => {
      const { rates, clock } = open()
      const id = idOf(await rates.add({ subject: 'Example.COM', rate: 1.5, reason: 'spam' }, ADA))
      expect(await rates.list('Example.COM')).toEqual([
        { id, subject: 'Example.COM', rate: 1.5, reason: 'spam', at: clock(), by: ADA },
      ])
    })

    test('several rates on one subject live side by side, equal ones too', async () => {
      const { rates } = open()
      for (const rate of [0, 0, 2]) await rates.add({ subject: 'a.test', rate }, ADA)
      const listed = await rates.list('a.test')
      expect(listed.map(({ rate }) => rate)).toEqual([0, 0, 2])
      expect(new Set(listed.map(({ id }) => id)).size).toBe(3)
    })

    test('a list is of the very subject in any spelling, and of nothing wider', async () => {
      const { rates } = open()
      await rates.add({ subject: 'https://A.test:443/', rate: 0 }, ADA)
      await rates.add({ subject: 'x.a.test', rate: 1 }, ADA)
      const listed = await rates.list('a.test.')
      expect(listed.map(({ subject }) => subject)).toEqual(['https://A.test:443/'])
      expect(await rates.list('y.x.a.test')).toEqual([])
    })

    test('providers do not see each other', async () => {
      const { rates, store } = open()
      const id = idOf(await rates.add({ subject: 'a.test', rate: 0 }, ADA))
      const other = createRates({ store, provider: 'did:web:other.example' })
      expect(await other.list('a.test')).toEqual([])
      expect((await other.remove([id], ADA)).error?.name).toBe('RateLimitsNotFound')
      expect(await rates.list('a.test')).toHaveLength(1)
    })

    test.each([Number.NaN, Number.POSITIVE_INFINITY])('%s is no rate', async (rate) => {
      await expect(open().rates.add({ subject: 'a.test', rate }, ADA)).rejects.toMatchObject({
        code: 'RATE_INVALID',
      })
    })

    test('the 101st rate of a subject is refused, in whatever spelling', async () => {
      const { rates } = open()
      for (let n = 0; n < 100; n++) await rates.add({ subject: 'a.test', rate: n }, ADA)
      const result = await rates.add({ subject: 'A.TEST', rate: 0 }, ADA)
      expect(result.error?.name).toBe('RateLimitsFull')
    })
  })

  describe('removing', () => {
    test('removes by id and leaves the others', async () => {
      const { rates } = open()
      const fraud = idOf(await rates.add({ subject: 'a.test', rate: 0, label: 'fraud' }, ADA))
      await rates.add({ subject: 'a.test', rate: 0, label: 'billing' }, ADA)
      expect((await rates.remove([fraud], ADA)).error).toBeUndefined()
      expect((await rates.list('a.test')).map(({ label }) => label)).toEqual(['billing'])
    })

    test('removing nothing leaves no trace in the history', async () => {
      const { rates } = open()
      expect((await rates.remove([], ADA)).ok).toEqual([])
      expect((await rates.history()).entries).toEqual([])
    })

    test('an id that is unknown, or removed already, is RateLimitsNotFound', async () => {
      const { rates } = open()
      const id = idOf(await rates.add({ subject: 'a.test', rate: 0 }, ADA))
      await rates.remove([id], ADA)
      expect((await rates.remove([id], ADA)).error?.name).toBe('RateLimitsNotFound')
      expect((await rates.remove(['nothing'], ADA)).error?.name).toBe('RateLimitsNotFound')
    })

    test('of several ids all go or none', async () => {
      const { rates } = open()
      const ids = [
        idOf(await rates.add({ subject: 'a.test', rate: 0 }, ADA)),
        idOf(await rates.add({ subject: 'A.test', rate: 0 }, ADA)),
        idOf(await rates.add({ subject: 'b.test', rate: 0 }, ADA)),
      ]
      expect((await rates.remove([...ids, 'nothing'], ADA)).error?.name).toBe('RateLimitsNotFound')
      expect((await rates.query()).rates).toHaveLength(3)
      expect((await rates.remove(ids, ADA)).error).toBeUndefined()
      expect((await rates.query()).rates).toEqual([])
    })
  })

  describe('expiry', () => {
    test('an expired rate is as if it had been removed', async () => {
      const { rates, clock } = open()
      const draft = { subject: 'a.test', rate: 0, expiresAt: after(clock(), hours(1)) }
      const id = idOf(await rates.add(draft, ADA))
      await rates.add({ subject: 'a.test', rate: 5 }, ADA)
      clock.advance(hours(1))
      expect((await rates.list('a.test')).map(({ rate }) => rate)).toEqual([5])
      expect((await rates.get(id)).error?.name).toBe('RateLimitsNotFound')
      expect((await rates.ratesFor(['a.test'])).map(({ rate }) => rate.rate)).toEqual([5])
    })

    test('a moment of the past is a mistake', async () => {
      const { rates, clock } = open()
      const draft = { subject: 'a.test', rate: 0, expiresAt: clock() }
      await expect(rates.add(draft, ADA)).rejects.toMatchObject({ code: 'RATE_EXPIRY_INVALID' })
      expect((await rates.history()).entries).toEqual([])
    })
  })

  describe('setting by label', () => {
    const block = { subject: 'a.test', rate: 0, label: 'fraud' }

    test('replaces what this label gave, and nothing else', async () => {
      const { rates } = open()
      await rates.add({ subject: 'a.test', rate: 7, label: 'billing' }, ADA)
      await rates.set({ ...block, rate: 5 }, ADA)
      const result = await rates.set({ ...block, rate: 3 }, ADA)
      expect(result.ok?.replaced.map(({ rate }) => rate)).toEqual([5])
      expect((await rates.list('a.test')).map(({ rate }) => rate)).toEqual([7, 3])
    })

    test('a block is loosened only by force', async () => {
      const { rates } = open()
      await rates.set(block, ADA)
      expect((await rates.set({ ...block, rate: 1 }, ADA)).error?.name).toBe('RateLimitLoosened')
      expect((await rates.list('a.test')).map(({ rate }) => rate)).toEqual([0])
      expect((await rates.set({ ...block, rate: 1 }, ADA, { force: true })).error).toBeUndefined()
      expect((await rates.list('a.test')).map(({ rate }) => rate)).toEqual([1])
    })

    test('a block that ends sooner is a looser block; one that ends later is not', async () => {
      const { rates, clock } = open()
      const until = (length: Span) => ({
        ...block,
        expiresAt: after(clock(), length),
      })
      await rates.set(until(days(2)), ADA)
      expect((await rates.set(until(days(1)), ADA)).error?.name).toBe('RateLimitLoosened')
      expect((await rates.set(until(days(3)), ADA)).error).toBeUndefined()
      expect((await rates.set(block, ADA)).error).toBeUndefined()
    })
  })

  describe('what applies to a subject', () => {
    test('rates of every spelling and every wider subject, with the form they were found under', async () => {
      const { rates } = open()
      await rates.add({ subject: 'A.test', rate: 3 }, ADA)
      await rates.add({ subject: 'did:mailto:x.a.test:Alice', rate: 0 }, ADA)
      await rates.add({ subject: 'b.test', rate: 0 }, ADA)
      const found = await rates.ratesFor(['alice@X.a.test'])
      expect(found.map(({ rate, form }) => [rate.rate, form])).toEqual([
        [0, 'mail:alice@x.a.test'],
        [3, 'name:a.test'],
      ])
    })

    test('ranges, domains below a name, and all mail of a domain', async () => {
      const { rates } = open()
      const subjects = ['198.51.100.0/24', '2001:db8::/32', '*.wild.test', '@at.test']
      for (const subject of subjects) await rates.add({ subject, rate: 0 }, ADA)
      const applying = async (subject: string) =>
        (await rates.ratesFor([subject])).map(({ rate }) => rate.subject)
      expect(await applying('198.51.100.7:443')).toEqual(['198.51.100.0/24'])
      expect(await applying('http://[2001:db8:1::5]/x')).toEqual(['2001:db8::/32'])
      expect(await applying('198.51.101.7')).toEqual([])
      expect(await applying('ann@a.b.wild.test')).toEqual(['*.wild.test'])
      expect(await applying('wild.test')).toEqual([])
      expect(await applying('X <ann@AT.test>')).toEqual(['@at.test'])
      expect(await applying('https://at.test/x')).toEqual([])
      expect(await rates.list('198.51.100.0/24')).toHaveLength(1)
    })

    test('costs one look for each length of a range that is in use, however many ranges there are', async () => {
      const { rates, store } = open()
      for (let n = 0; n < 40; n++) {
        await rates.add({ subject: `10.${n}.0.0/16`, rate: 0 }, ADA)
        await rates.add({ subject: `10.99.${n}.0/24`, rate: 0 }, ADA)
      }
      const seen = new Set<string>()
      const watched = createRates({
        provider: PROVIDER,
        store: {
          ...store,
          transact: (step, guess) =>
            store.transact((view) => {
              const read = (...keys: string[]) => {
                for (const key of keys) seen.add(key)
                return view.read(...keys)
              }
              return step({ ...view, now: view.now, read })
            }, guess),
        },
      })
      expect(await watched.ratesFor(['10.7.200.1'])).toHaveLength(1)
      // The lengths, the address, its /24 and its /16.
      expect(seen.size).toBe(4)
    })

    test('at most 32 subjects can be asked about at once', async () => {
      const subjects = Array.from({ length: 33 }, (_, n) => `s${n}`)
      await expect(open().rates.ratesFor(subjects)).rejects.toMatchObject({
        code: 'SUBJECTS_TOO_MANY',
      })
    })
  })

  describe('queries', () => {
    test('by prefix, label and time', async () => {
      const { rates, clock } = open()
      await rates.add({ subject: 'did:key:zA', rate: 1, label: 'x' }, ADA)
      clock.advance(hours(1))
      const later = clock()
      await rates.add({ subject: 'did:key:zB', rate: 2 }, ADA)
      await rates.add({ subject: 'a.test', rate: 3, label: 'x' }, ADA)
      const found = async (query: Parameters<typeof rates.query>[0]) =>
        (await rates.query(query)).rates.map(({ rate }) => rate).sort()
      expect(await found({ prefix: 'did:key:' })).toEqual([1, 2])
      expect(await found({ label: 'x' })).toEqual([1, 3])
      expect(await found({ since: later })).toEqual([2, 3])
      expect(await found({ until: later })).toEqual([1])
    })

    test('page by page, all are seen once', async () => {
      const { rates } = open()
      for (let n = 0; n < 25; n++) await rates.add({ subject: `${n}.test`, rate: n }, ADA)
      const seen: number[] = []
      let after: string | undefined
      do {
        const page = await rates.query({ after, limit: 10 })
        seen.push(...page.rates.map(({ rate }) => rate))
        after = page.next
      } while (after !== undefined)
      expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 25 }, (_, n) => n))
    })
  })

  test.each([
    ['no page', { limit: 0 }],
    ['a page of too many', { limit: 1_001 }],
    ['a beginning that no page had', { after: 'a\nb' }],
  ])('%s is a mistake', async (_, query) => {
    await expect(open().rates.query(query)).rejects.toMatchObject({ code: 'PAGE_INVALID' })
  })

  describe('history', () => {
    test('shows every change with who made it, and forgets none', async () => {
      const { rates } = open()
      const id = idOf(await rates.add({ subject: 'a.test', rate: 0 }, ADA))
      await rates.set({ subject: 'b.test', rate: 1, label: 'x' }, ADA)
      await rates.remove([id], { issuer: 'did:key:zBob', chain: [] })
      const { entries } = await rates.history()
      expect(entries.map(({ kind, by }) => [kind, by.issuer])).toEqual([
        ['add', 'did:key:zAda'],
        ['set', 'did:key:zAda'],
        ['remove', 'did:key:zBob'],
      ])
      const ofA = await rates.history({ subject: 'A.TEST' })
      expect(ofA.entries.map(({ kind }) => kind)).toEqual(['add', 'remove'])
    })

    test('begins only where a page of it can', async () => {
      await expect(open().rates.history({ after: -1 })).rejects.toMatchObject({
        code: 'PAGE_INVALID',
      })
    })

    test('goes on where the page before ended', async () => {
      const { rates } = open()
      for (let n = 0; n < 5; n++) await rates.add({ subject: `${n}.test`, rate: n }, ADA)
      const first = await rates.history({ limit: 3 })
      expect(first.entries).toHaveLength(3)
      const second = await rates.history({ after: first.next, limit: 3 })
      expect(second.entries.map(({ added }) => added[0]?.rate)).toEqual([3, 4])
      expect(second.next).toBeUndefined()
    })
  })
})
