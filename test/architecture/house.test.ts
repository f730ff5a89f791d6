/** The shape of the house: full folders, files with one reader, and words that mean two things. */
import { posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { imports, sources } from '../support/sources.ts'

const files = sources().filter(({ path }) => !path.endsWith('.d.ts'))
const isDoor = (path: string): boolean => /\/(?:index|main)\.ts$/.test(path)

const groupBy = <T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> => {
  const groups = new Map<string, T[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}

test('no folder holds more than 25 source files', () => {
  const folders = groupBy(files, ({ path }) => posix.dirname(path))
  const full = [...folders].filter(([, inside]) => inside.length > 25).map(([folder]) => folder)
  expect(full).toEqual([])
})

test('fewer than a fifth of the files have a single importer, doors not counted', () => {
  const readers = new Map<string, Set<string>>()
  for (const { from, to } of imports(files)) {
    if (from.endsWith('/index.ts')) continue
    readers.set(to, (readers.get(to) ?? new Set()).add(from))
  }
  const counted = files.filter(({ path }) => !isDoor(path))
  const lonely = counted.filter(({ path }) => readers.get(path)?.size === 1)
  expect(lonely.length / counted.length).toBeLessThan(0.2)
})

describe('one word, one thing', () => {
  const DECLARATION =
    /^export (?:declare )?(?:async )?(?:const|function|class|interface|type|enum) (\w+)/gm

  /** Name and reason. */
  const ALLOWED: Readonly<Record<string, string>> = {}

  test('no name is exported by two files', () => {
    const exported = files.flatMap(({ path, text }) => {
      const names = new Set([...text.matchAll(DECLARATION)].map(([, name = '']) => name))
      return [...names].map((name) => ({ name, path }))
    })
    expect(exported.length).toBeGreaterThan(500)
    const twice = [...groupBy(exported, ({ name }) => name)]
      .filter(([name, places]) => places.length > 1 && ALLOWED[name] === undefined)
      .map(([name, places]) => `${name}: ${places.map(({ path }) => path).join(', ')}`)
    expect(twice).toEqual([])
  })
})

test('no module imports itself through others, types aside', () => {
  const STATEMENT = /^(?:import|export) (?!type\b)(\{[^}]*\}|[^'{]*?)\s*from '(\.[^']+)'/gm
  const isTypesOnly = (names: string): boolean =>
    names.startsWith('{') &&
    names
      .slice(1, -1)
      .split(',')
      .every((name) => /^\s*(?:type\b.*)?$/.test(name))
  const uses = new Map(
    files.map(({ path, text }) => [
      path,
      [...text.matchAll(STATEMENT)]
        .filter(([, names = '']) => !isTypesOnly(names))
        .map(([, , to = '']) => posix.join(posix.dirname(path), to)),
    ]),
  )
  const reaches = (from: string, goal: string, seen = new Set<string>()): boolean =>
    (uses.get(from) ?? []).some((next) => {
      if (next === goal) return true
      if (seen.has(next)) return false
      seen.add(next)
      return reaches(next, goal, seen)
    })
  expect([...uses.keys()].filter((path) => reaches(path, path))).toEqual([])
})
