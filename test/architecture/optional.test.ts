/** What is off is not even loaded: the server and the command line reach it by `import()` alone. */
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { sources } from '../support/sources.ts'

const files = new Map(sources().map(({ path, text }) => [path, text]))

/** Only what runs: types leave nothing behind. */
const STATEMENT = /^(?:import|export) (?!type\b)[^'`;]*?from '(\.[^']+)'/gm

const reachable = (path: string, seen = new Set<string>()): ReadonlySet<string> => {
  const text = files.get(path)
  if (text === undefined || seen.has(path)) return seen
  seen.add(path)
  for (const [, to = ''] of text.matchAll(STATEMENT)) {
    reachable(posix.join(posix.dirname(path), to), seen)
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
