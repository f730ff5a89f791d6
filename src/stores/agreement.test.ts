import fc from 'fast-check'
import { expect, test } from 'vitest'
import { times } from '../../test/support/counts.ts'
import { everything } from '../../test/support/everything.ts'
import { scratchFileToRemove } from '../../test/support/scratch-file.ts'
import type { Store } from '../core/store.ts'
import { after, type Span, span } from '../core/time.ts'
import { type FakeClock, fakeClock } from '../testing/index.ts'
import { memory } from './memory/index.ts'
import { sqlite } from './sqlite/index.ts'

interface Draft {
  readonly key: string
  readonly value: string | undefined
  readonly lives: Span | undefined
  readonly index: string | undefined
}

interface Call {
  readonly drafts: readonly Draft[]
  readonly entries: readonly string[]
  readonly fails: boolean
}

/** Some calls of one moment, then some time, and at times a trim. */
interface Moment {
  readonly calls: readonly Call[]
  readonly wait: Span
  readonly trim: number
}

const KEYS = ['a', 'b', 'ab', 'é', '\uffee', '🚰', '{a}']

const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const key = fc.constantFrom(...KEYS)
const length = fc.integer({ min: 1, max: 20 }).map(span)

const draft: fc.Arbitrary<Draft> = fc.record({
  key,
  value: some(fc.constantFrom('', '1', '水', '\n')),
  lives: some(length),
  index: some(fc.constantFrom('i', 'j')),
})

const call: fc.Arbitrary<Call> = fc.record({
  drafts: fc.uniqueArray(draft, { selector: (one) => one.key, maxLength: 4 }),
  entries: fc.array(key, { maxLength: 3 }),
  fails: fc.boolean(),
})

const moment: fc.Arbitrary<Moment> = fc.record({
  calls: fc.array(call, { maxLength: 4 }),
  wait: length,
  trim: fc.nat(12),
})

/** What has expired may be forgotten sooner or later, which would be no disagreement. */
const NEVER = () => span(0)

test('memory and SQLite answer every history alike, positions and order included', async () => {
  const property = fc.asyncProperty(fc.array(moment, { maxLength: 12 }), async (history) => {
    const { path, remove } = scratchFileToRemove()
    const inMemory = await answers((clock) => memory({ clock, uptime: NEVER }), history)
    const onDisk = await answers((clock) => sqlite({ path, clock, uptime: NEVER }), history)
    remove()
    expect(onDisk).toEqual(inMemory)
  })
  await fc.assert(property, { numRuns: times(30, 500) })
})

async function answers(
  open: (clock: FakeClock) => Store,
  history: readonly Moment[],
): Promise<unknown[]> {
  const clock = fakeClock()
  const store = open(clock)
  const seen: unknown[] = []
  for (const { calls, wait, trim } of history) {
    seen.push(await Promise.allSettled(calls.map((one) => run(store, one))))
    clock.advance(wait)
    await store.trim('s', trim)
    seen.push(await store.read('s', 0, 100), await everything(store))
    seen.push(await store.range('i', 'a', 2), await store.range('j', '', 100))
  }
  await store.close()
  return seen
}

/** Plans the drafts and answers what the step saw before them. */
const run = (store: Store, { drafts, entries, fails }: Call): Promise<unknown> =>
  store.transact((view) => {
    const result = view.read(...KEYS)
    if (fails) throw new Error('on purpose')
    const writes = drafts.map(({ key, value, lives, index }) => ({
      key,
      ...(value === undefined ? {} : { value }),
      ...(lives === undefined ? {} : { expiresAt: after(view.now, lives) }),
      ...(index === undefined ? {} : { index }),
    }))
    return { writes, appends: entries.map((entry) => ({ stream: 's', entry })), result }
  })
