import { describe, expect, test } from 'vitest'
import { HeadgateError } from './errors.ts'
import { checkOperationId, MAX_OPERATION_ID, type Operation, once, recall } from './once.ts'
import { answer, type Commit, type Value, type View } from './store.ts'
import { instant } from './time.ts'

const NOW = instant(1_000)

/** A store of its own, a counter that the operations raise, and how often one really ran. */
const world = () => {
  const values = new Map<string, Value>()
  let ran = 0
  const view: View = { now: NOW, read: (...keys) => keys.map((key) => values.get(key)) }
  const operation = (key: string, extra: Partial<Operation<number>> = {}): Operation<number> => ({
    key,
    digest: 'asked-this',
    counts: (result) => result > 0,
    encode: String,
    decode: Number,
    reused: () => new HeadgateError({ code: 'REUSED', thing: key, rule: 'once' }),
    ...extra,
  })
  const run = (of: Operation<number>, result = 1) => {
    const made = once(
      view,
      of,
      (): Commit<number> => {
        ran++
        return { writes: [{ key: 'charged', value: String(ran) }], appends: [], result }
      },
      (kept) => answer(kept),
    )
    for (const { key, value } of made.writes) {
      if (value === undefined) values.delete(key)
      else values.set(key, value)
    }
    return made
  }
  return { values, view, operation, run, ran: () => ran }
}

describe('an operation', () => {
  test('runs once: a retry gets the answer it got, and changes nothing', () => {
    const { operation, run, ran } = world()
    expect(run(operation('a'), 7).result).toBe(7)
    const again = run(operation('a'), 8)
    expect(again.result).toBe(7)
    expect(again.writes).toEqual([])
    expect(ran()).toBe(1)
  })

  test('is forgotten from its time on, though the store still shows it', () => {
    const { operation, run, ran, view } = world()
    run(operation('a', { expiresAt: instant(NOW + 1) }))
    expect(recall(view, 'a')).toBe('1')
    run(operation('a', { expiresAt: instant(NOW) }))
    expect(ran()).toBe(1)
    run(operation('b', { expiresAt: NOW }))
    expect(recall(view, 'b')).toBeUndefined()
    expect(run(operation('b', { digest: 'asked-that' }), 9).result).toBe(9)
    expect(ran()).toBe(3)
  })

  test('is kept in the commit that did it, until its time', () => {
    const { operation, run } = world()
    const { writes } = run(operation('a', { expiresAt: instant(5_000) }))
    expect(writes).toEqual([
      { key: 'charged', value: '1' },
      { key: 'a', value: 'asked-this 5000 1', expiresAt: 5_000 },
    ])
  })

  test('that was refused is not kept: asking again is a new question', () => {
    const { operation, run, ran } = world()
    expect(run(operation('a'), 0).writes).toHaveLength(1)
    run(operation('a'), 1)
    expect(ran()).toBe(2)
  })

  test('of a known key with another question is a mistake, and changes nothing', () => {
    const { operation, run, ran } = world()
    run(operation('a'))
    expect(() => run(operation('a', { digest: 'asked-that' }))).toThrow('a: once')
    expect(ran()).toBe(1)
  })

  test('can be looked up without its question', () => {
    const { view, operation, run } = world()
    run(operation('a'), 7)
    expect(recall(view, 'a')).toBe('7')
    expect(recall(view, 'b')).toBeUndefined()
  })
})

describe('an answer that a shard lists', () => {
  const until = instant(5_000)
  const shard = (entry: string) => ({ key: 'shard', most: 2, entry, keyOf: (of: string) => of })

  test('takes the place of the oldest when the shard is full', () => {
    const { values, operation, run, ran } = world()
    for (const key of ['a', 'b', 'c']) run(operation(key, { expiresAt: until, shard: shard(key) }))
    expect([...values.keys()].filter((key) => key.length === 1)).toEqual(['b', 'c'])
    run(operation('c', { expiresAt: until, shard: shard('c') }))
    expect(ran()).toBe(3)
  })

  test('reads no answer but its own: what must be read is known beforehand', () => {
    const { view, values, operation } = world()
    const read: string[] = []
    const watch = (keys: readonly string[]) => {
      read.push(...keys)
      return view.read(...keys)
    }
    const watched: View = { ...view, read: (...keys) => watch(keys) }
    values.set('shard', '2 20 5000 a,10,5000 b,10,5000')
    const asked = operation('c', { expiresAt: until, shard: shard('c') })
    const made = once(watched, asked, () => answer(1), answer)
    expect(made.writes).toContainEqual({ key: 'a' })
    expect(read).toEqual(['c', 'shard'])
  })

  test('ends by itself: a list of answers for ever would never shrink', () => {
    const { operation, run } = world()
    expect(() => run(operation('a', { shard: shard('a') }))).toThrow('assertion failed')
  })
})

describe('an operation id', () => {
  test('is printable ASCII without spaces, of a bounded length', () => {
    for (const id of ['x', 'x'.repeat(MAX_OPERATION_ID), '0.0.902@1684375868.230217103/EXEC']) {
      expect(checkOperationId(id)).toBe(id)
    }
  })

  test.each(['', 'a b', 'ä', '\n', 'x'.repeat(MAX_OPERATION_ID + 1)])('cannot be %j', (id) => {
    expect(() => checkOperationId(id)).toThrow('must be 1 to 256 printable ASCII characters')
  })
})

test('a kept answer that was not written here is a bug to stop at', () => {
  const { view, values, operation, run } = world()
  values.set('a', 'garbage')
  expect(() => run(operation('a'))).toThrow('assertion failed')
  expect(() => recall(view, 'a')).toThrow('assertion failed')
})
