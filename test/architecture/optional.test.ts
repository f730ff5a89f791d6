/** What is off is not even loaded: the server and the command line reach it by `import()` alone. */
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { sources } from '../support/sources.ts'

const files = new Map(sources().map(({ path, text }) => [path, text]))

/** Only what runs: types leave nothing behind. */
const STATEMENT = /^(?:import|export) (?!type\b)[^'`;]*?from '([^']+)'/gm

/** Files of ours by their path, packages by their name. */
const reachable = (path: string, seen = new Set<string>()): ReadonlySet<string> => {
  if (seen.has(path)) return seen
  seen.add(path)
  for (const [, to = ''] of (files.get(path) ?? '').matchAll(STATEMENT)) {
    reachable(to.startsWith('.') ? posix.join(posix.dirname(path), to) : to, seen)
  }
  return seen
}

test.each(['src/cli/main.ts', 'src/cli/run-server.ts', 'src/server/index.ts'])(
  '%s loads nothing of UCAN by itself',
  (entry) => {
    const loaded = [...reachable(entry)]
    expect(loaded.length).toBeGreaterThan(20)
    expect(loaded.filter((path) => path.startsWith('src/subjects/'))).toEqual([])
  },
)

test('a command has loaded nothing but Node and files of ours when it starts to run', () => {
  const loaded = [...reachable('src/cli/main.ts')]
  expect(loaded.filter((path) => !/^(?:src\/|node:)/.test(path))).toEqual([])
})
