/** Imports point one way, core/ is pure, and each driver has one room. */
import { describe, expect, test } from 'vitest'
import { imports, sources } from '../support/sources.ts'

/** What each room may see of the others. A room that is not listed may not exist. */
const PILLARS = ['requests', 'spending', 'subjects', 'secrets']
const SHARED = ['core', 'documents', 'net', 'lib']
const SEES: Readonly<Record<string, readonly string[]>> = {
  core: [],
  documents: ['core'],
  net: ['core'],
  lib: ['core'],
  stores: ['core', 'lib'],
  testing: ['core'],
  ...Object.fromEntries(PILLARS.map((pillar) => [pillar, SHARED])),
  // Of the stores only the one in memory, as the default: middleware.test.ts.
  middleware: [...SHARED, 'requests', 'stores'],
  server: [...SHARED, 'stores', ...PILLARS],
  cli: [...SHARED, 'stores', ...PILLARS, 'server'],
  bin: ['core'],
  // The door `headgate`.
  'index.ts': ['core', 'requests', 'stores'],
}

/** Each outside package, and the only rooms that may know it, as a pattern. */
const DRIVERS: Readonly<Record<string, string>> = {
  yaml: 'src/documents/',
  'ipaddr.js': 'src/net/',
  tldts: 'src/(?:requests/acme|subjects/rates)/',
  '@photostructure/sqlite': 'src/stores/sqlite/',
  ioredis: 'src/stores/redis/',
  pg: 'src/stores/postgres/',
  fastify: 'src/(?:server/|middleware/fastify.ts)',
  hono: 'src/middleware/hono.ts',
  '@fastify/swagger': 'src/server/',
  '@fastify/type-provider-typebox': 'src/server/',
  typebox: 'src/server/',
  'prom-client': 'src/server/',
  pino: 'src/server/',
  '@ucanto/client': 'src/subjects/ucan/',
  '@ucanto/core': 'src/subjects/ucan/',
  '@ucanto/interface': 'src/subjects/ucan/',
  '@ucanto/principal': 'src/subjects/ucan/',
  '@ucanto/server': 'src/subjects/ucan/',
  '@ucanto/transport': 'src/subjects/ucan/',
  '@ucanto/validator': 'src/subjects/ucan/',
  '@ipld/dag-ucan': 'src/subjects/ucan/',
  multiformats: 'src/subjects/ucan/',
  '@celo/poprf': 'src/secrets/poprf/',
  '@noble/curves': 'src/secrets/',
  '@noble/hashes': 'src/(?:secrets/|lib/digest.ts)',
  secp256k1: 'src/secrets/eip712/',
}

/** `@noble/curves/abstract/modular.js` is of `@noble/curves`. */
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

const files = sources()
const all = imports(files)
const room = (path: string): string => path.split('/')[1] ?? ''
const inside = all.filter(({ to }) => to.startsWith('src/'))
const outside = all.filter(({ to }) => !to.startsWith('src/'))

test('there is something to look at', () => {
  expect(files.length).toBeGreaterThan(50)
  expect(inside.length).toBeGreaterThan(100)
})

test('every room is known', () => {
  expect([...new Set(files.map(({ path }) => room(path)))].sort()).toEqual(Object.keys(SEES).sort())
})

test('imports point one way', () => {
  const wrong = inside.filter(({ from, to }) => {
    const [here, there] = [room(from), room(to)]
    return here !== there && !(SEES[here] ?? []).includes(there)
  })
  expect(wrong).toEqual([])
})

/** Of the server, all that the command line knows: the API and what opens, serves and signs. */
const SERVER_DOORS = ['index', 'api', 'local', 'signer'].map((name) => `src/server/${name}.ts`)

test('the command line goes through the doors of the server', () => {
  const known = inside.filter(({ from, to }) => room(from) === 'cli' && room(to) === 'server')
  expect(known.length).toBeGreaterThan(5)
  expect(known.filter(({ to }) => !SERVER_DOORS.includes(to))).toEqual([])
})

test('outside packages are known only in their own room', () => {
  const packages = outside.filter(({ to }) => !to.startsWith('node:'))
  const wrong = packages.filter(
    ({ from, to }) => !new RegExp(`^${DRIVERS[packageOf(to)] ?? 'nowhere'}`).test(from),
  )
  expect(wrong).toEqual([])
})

describe('core/', () => {
  const core = files.filter(({ path }) => room(path) === 'core')

  test('imports nothing outside itself, so that it runs in browsers too', () => {
    expect(imports(core).filter(({ to }) => !to.startsWith('src/core/'))).toEqual([])
  })

  test('reads no clock, no chance and no environment', () => {
    const impure = /\b(Date|performance|Math\.random|crypto|process|globalThis|setTimeout)\b[.(]/
    expect(core.filter(({ text }) => impure.test(text)).map(({ path }) => path)).toEqual([])
  })
})

test('only lib/clock.ts reads the time that decisions are made by', () => {
  const clocks = files.filter(({ text }) =>
    /Date\.now\(|new Date\(\)|performance\.now\(/.test(text),
  )
  const rooms = [
    'core',
    'documents',
    'net',
    'lib',
    'requests',
    'spending',
    'stores',
    'subjects',
    'testing',
  ]
  const deciding = clocks.map(({ path }) => path).filter((path) => rooms.includes(room(path)))
  expect(deciding).toEqual(['src/lib/clock.ts'])
})
