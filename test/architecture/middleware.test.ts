/** Gates run wherever requests do: they load no framework, no driver and nothing of Node. */
import { expect, test } from 'vitest'
import { imports, reachable, sources } from '../support/sources.ts'

const middleware = sources('src/middleware')

const DOORS = ['express', 'fastify', 'hono', 'koa', 'fetch'].map(
  (door) => `src/middleware/${door}.ts`,
)

test.each(DOORS)('%s loads files of ours and two packages that need no Node', (door) => {
  const loaded = [...reachable(door)]
  expect(loaded.length).toBeGreaterThan(20)
  const packages = loaded.filter((path) => !path.startsWith('src/'))
  expect(packages.sort()).toEqual(['@noble/hashes/sha2.js', 'ipaddr.js'])
})

test('of the stores a gate knows only the one in memory', () => {
  const stores = imports(middleware).filter(({ to }) => to.startsWith('src/stores/'))
  expect([...new Set(stores.map(({ to }) => to))]).toEqual(['src/stores/memory/index.ts'])
})

test('of a framework a door knows the types alone', () => {
  const outside = imports(middleware).filter(({ to }) => !to.startsWith('src/'))
  expect(outside.map(({ to }) => to).sort()).toEqual(['fastify', 'hono'])
  for (const { from, to } of outside) expect([...reachable(from)]).not.toContain(to)
})
