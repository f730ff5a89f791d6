/** What is off is not even loaded: the server and the command line reach it by `import()` alone. */
import { expect, test } from 'vitest'
import { reachable } from '../support/sources.ts'

test.each(['src/cli/main.ts', 'src/cli/serve.ts', 'src/server/index.ts'])(
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

test.each([
  'src/server/local.ts',
  'src/server/requests/routes.ts',
  'src/server/spending/open.ts',
  'src/server/spending/routes.ts',
  'src/server/spending/plan-routes.ts',
])(
  '%s, for a command that opens the store itself, loads no HTTP server, schema, metrics or log',
  (entry) => {
    const loaded = [...reachable(entry)]
    expect(loaded.length).toBeGreaterThan(15)
    const packages = loaded.filter((path) => !/^(?:src\/|node:)/.test(path))
    expect(packages.filter((name) => /fastify|typebox|prom-client|pino/.test(name))).toEqual([])
  },
)
