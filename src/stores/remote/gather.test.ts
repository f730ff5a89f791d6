import { expect, test } from 'vitest'
import type { Commit, Key, View } from '../../core/store.ts'
import { instant } from '../../core/time.ts'
import { type Call, gather, groups, MAX_WAITING } from './gather.ts'

const NOW = instant(1)

interface Plan {
  readonly reads?: readonly Key[]
  readonly writes?: readonly Key[]
  readonly guess?: readonly Key[]
  readonly losses?: number
  readonly throws?: boolean
}

/** Writes its own number under each key that it writes. */
const calls = (...plans: readonly Plan[]) => {
  const shown: string[] = []
  const ended: number[] = []
  const all = plans.map(
    ({ reads = [], writes = [], guess = [], losses = 0, throws = false }, i): Call => ({
      guess,
      since: 0,
      losses,
      enter: (view: View) => {
        shown.push(`${i}: ${view.read(...reads).join()}`)
        if (throws) throw new Error('on purpose')
        const commit: Commit<number> = {
          writes: writes.map((key) => ({ key, value: String(i) })),
          appends: [{ stream: 's', entry: String(i) }],
          result: i,
        }
        return { commit, end: () => ended.push(i) }
      },
      reject: () => ended.push(-i),
    }),
  )
  return { all, shown, ended }
}

const keys = (part: { expected: ReadonlyMap<Key, unknown> }): Key[] => [...part.expected.keys()]

test('calls that share no key are parts of their own', () => {
  const { all } = calls({ reads: ['a'], writes: ['a'] }, { reads: ['b'], writes: ['b'] })
  const parts = gather(all, NOW, () => undefined)
  expect(parts.map(keys)).toEqual([['a'], ['b']])
  expect(parts.map(({ calls: own }) => own.length)).toEqual([1, 1])
})

test('calls that share one are one part, joined through third ones too', () => {
  const { all } = calls({ reads: ['a'] }, { reads: ['b'] }, { reads: ['c'] }, { reads: ['a', 'b'] })
  const parts = gather(all, NOW, () => undefined)
  expect(parts.map(keys)).toEqual([['a', 'b'], ['c']])
})

test('a call that shares a key with one that was joined belongs with it', () => {
  const { all } = calls(
    { reads: ['a'] },
    { reads: ['b', 'c'] },
    { reads: ['a', 'b'] },
    { reads: ['c'] },
  )
  expect(gather(all, NOW, () => undefined)).toHaveLength(1)
})

test('a later call sees what an earlier one writes, and only what came from the server is compared', () => {
  const { all, shown } = calls({ writes: ['a'] }, { reads: ['a'], writes: ['a'] })
  const [part] = gather(all, NOW, () => 'old')
  expect(shown).toEqual(['0: ', '1: 0'])
  expect(part?.expected.size).toBe(0)
  expect(part?.writes).toEqual([{ key: 'a', value: '1' }])
})

test('what was read is compared with what was guessed it holds, though it was then written', () => {
  const { all } = calls({ reads: ['a'], writes: ['a'] }, { reads: ['a'], writes: ['a'] })
  const [part] = gather(all, NOW, () => 'old')
  expect([...(part?.expected ?? [])]).toEqual([['a', 'old']])
})

test('entries keep the order of their calls', () => {
  const { all } = calls({ reads: ['b'] }, { reads: ['a'] }, { reads: ['a', 'b'] })
  const [part] = gather(all, NOW, () => undefined)
  expect(part?.appends.map(({ entry }) => entry)).toEqual(['0', '1', '2'])
})

test('what was guessed and not read is named apart', () => {
  const { all } = calls({ reads: ['a'], guess: ['a', 'b'] })
  const [part] = gather(all, NOW, () => undefined)
  expect(part?.guessed).toEqual(['b'])
})

test('a step that threw writes nothing, and is told so with its part', () => {
  const { all, ended } = calls({ reads: ['a'] }, { reads: ['a'], writes: ['a'], throws: true })
  const [part] = gather(all, NOW, () => undefined)
  expect(part?.writes).toEqual([])
  expect(ended).toEqual([])
  part?.end()
  expect(ended).toEqual([0, -1])
})

test('a part claims its keys once a call in it has lost four times', () => {
  for (const [losses, claims] of [[3, false] as const, [4, true] as const]) {
    const { all } = calls({ reads: ['a'], losses }, { reads: ['a'] })
    expect(gather(all, NOW, () => undefined)[0]?.claims).toBe(claims)
  }
})

/** Each group waits until it is let go. */
const held = () => {
  const served: number[][] = []
  const waiting: (() => void)[] = []
  const queue = groups<number>(async (calls) => {
    served.push([...calls])
    await new Promise<void>((resolve) => waiting.push(resolve))
  })
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const next = async () => {
    await turn()
    waiting.shift()?.()
    await turn()
    await turn()
  }
  return { queue, served, next, turn }
}

test('one group is under way at a time, and the next gathers meanwhile', async () => {
  const { queue, served, next, turn } = held()
  queue.push(1)
  queue.push(2)
  await turn()
  for (const call of [3, 4, 5]) queue.push(call)
  expect(served).toEqual([[1, 2]])
  await next()
  expect(served).toEqual([
    [1, 2],
    [3, 4, 5],
  ])
  await next()
  await queue.drained()
})

test('what must go again goes before what came later', async () => {
  const { queue, served, next, turn } = held()
  queue.push(1)
  await turn()
  queue.push(2)
  queue.again([1])
  await next()
  expect(served[1]).toEqual([1, 2])
  await next()
  await queue.drained()
})

test('drained waits for what goes again after a pause', async () => {
  const served: number[][] = []
  const queue = groups<number>(async (calls) => {
    served.push([...calls])
    if (served.length === 1) queue.again(calls, 1)
  })
  queue.push(1)
  await queue.drained()
  expect(served).toEqual([[1], [1]])
})

test('a group is bounded, and the rest is the next one', async () => {
  const { queue, served, next } = held()
  for (let i = 0; i < 300; i++) queue.push(i)
  await next()
  await next()
  expect(served.map(({ length }) => length)).toEqual([256, 44])
  await queue.drained()
})

test('what waits for its pause to end counts as well', async () => {
  const queue = groups<number>(async () => {})
  queue.again(
    Array.from({ length: MAX_WAITING }, (_, i) => i),
    1,
  )
  expect(queue.push(0)).toBe(false)
  await queue.drained()
})

test('beyond its bound it takes no more', () => {
  const { queue } = held()
  for (let i = 0; i < MAX_WAITING; i++) expect(queue.push(i)).toBe(true)
  expect(queue.push(0)).toBe(false)
})
