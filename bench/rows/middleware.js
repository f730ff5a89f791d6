/** Gates inside frameworks, beside the limiter that each framework's users take. */
import {
  installedBy,
  linesOf,
  linkHeadgate,
  packHeadgate,
  startApp,
} from '../contenders/middleware.js'
import { CONNECTIONS, openLoad } from '../load.js'
import { packageVersion } from '../provide.js'
import { scratchFolder } from '../scratch-folder.js'

const FRAMEWORKS = [
  { framework: 'express', title: 'Express 5', peer: 'express-rate-limit' },
  { framework: 'fastify', title: 'Fastify 5', peer: '@fastify/rate-limit' },
  { framework: 'hono', title: 'Hono 4 on Node', peer: 'hono-rate-limiter' },
]

let load

/** What each limiter adds to an app, by the name of its app. */
const notes = new Map()

export const prepare = (say) => {
  load = openLoad(say)
  linkHeadgate()
  const folder = scratchFolder()
  const tarball = packHeadgate(folder.path)
  for (const { framework, peer } of FRAMEWORKS) {
    say(`  installing ${peer} and headgate beside ${framework}, to weigh them`)
    notes.set(`${framework}-peer`, weigh(framework, 'peer', peer))
    notes.set(`${framework}-headgate`, weigh(framework, 'headgate', tarball))
  }
  folder.remove()
}

const weigh = (framework, app, limiter) => {
  const lines = linesOf(`${framework}-${app}`) - linesOf(`${framework}-bare`)
  const { bytes, packages } = installedBy(framework, limiter)
  return `${lines} lines; ${(bytes / 1e6).toFixed(2)} MB in ${packages} packages`
}

export const peers = () =>
  [
    load.name,
    ...FRAMEWORKS.flatMap(({ framework, peer }) => [framework, peer]).map(
      (name) => `${name} ${packageVersion(name)}`,
    ),
  ].join(', ')

const overHttp = (name, app) => {
  let server
  return {
    name,
    prepare: async () => {
      server = await startApp(app)
      await expectHeaders(server.url, app)
    },
    run: () => load.rate(server.url, [{ method: 'GET', path: '/' }], server.folder),
    note: () => notes.get(app) ?? '',
    dispose: async () => server?.stop(),
  }
}

/** An app that does not count measures nothing, and so does one that counts though it should not. */
const expectHeaders = async (url, app) => {
  const { headers } = await fetch(url)
  const counts = [...headers.keys()].some((name) => /^(?:x-)?ratelimit/.test(name))
  if (counts !== app.endsWith('-bare')) return
  throw new Error(`${app}: ${counts ? 'has' : 'lacks'} the headers of a limiter`)
}

export const tables = FRAMEWORKS.map(({ framework, title, peer }) => ({
  title: `Middleware in ${title}`,
  conditions: `Loopback, ${CONNECTIONS} connections kept alive, one thread of load, one client address, all
allowed, 2 s a round; each app is one process and answers five bytes. Both limiters count in memory by
the client's address and write the headers that they write by default: Headgate two, the peers three or
four. The lines are those that the limiter adds to the app, its import among them; the megabytes and
packages are what it adds to an installation that has the framework.`,
  command: 'npm run bench -- middleware',
  base: peer,
  variants: [
    overHttp('no limiter', `${framework}-bare`),
    overHttp(peer, `${framework}-peer`),
    overHttp('Headgate', `${framework}-headgate`),
  ],
}))
