// Counts the files that five requests walk through, by V8's coverage of one warm call on a real server.
//
//   npm run walks -- [NAME …]
//
// A file counts if one of its functions runs between the request and its answer. What a timer runs
// meanwhile does not: only what is there each time counts.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { signedRequest } from '../bench/contenders/signer.js'
import { createRatesClient, parseIdentity } from '../dist/subjects/index.js'

const MAIN = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const SIGNER = fileURLToPath(new URL('./walks/signer.js', import.meta.url))
const PROBE = new URL('./walks/probe.js', import.meta.url).href

/** Until a call was made this often it is cold: modules load, connections and statements are made. */
const WARM = 3

/** It is measured until so many times in a row left no file out that was there before. On a busy machine some timer is always due. */
const STEADY = 6

const LIMITS = `
limits:
  Orders: { id: opaque, burst: 1000, count: 1000, period: 1h }
`

const OVERRIDE = (id) => `
overrides:
  - Orders: { burst: 1, count: 1, period: 1h, ids: [ { id: ${id}, comment: on probation } ] }
`

const SPENDING = `
spending:
  payer: 0.0.2
  total: 1000000
  tiers: { BASIC: 100000, EXTENDED: 100000, PRIVILEGED: 100000 }
  allowMemory: true
`

/**
 * Each starts a server and answers one step of the walk, which is told how often it was taken
 * before, and what its answer must be. Requests walk on to the disk; money and PINs end at a store in
 * memory, since from there all go the same way.
 */
const WALKS = {
  spend: async (folder) => {
    const server = await serve(folder, LIMITS, SQLITE)
    const step = (n) => server.post('/v1/spend', { limit: 'Orders', id: `id-${n}` })
    return { server, step, expect: ({ allowed }) => allowed === true }
  },
  /** The request of an id that its override allows no more. */
  override: async (folder) => {
    const server = await serve(folder, `${LIMITS}${OVERRIDE('ann')}`, SQLITE)
    const step = () => server.post('/v1/spend', { limit: 'Orders', id: 'ann' })
    await step()
    return { server, step, expect: ({ allowed }) => allowed === false }
  },
  block: async (folder) => {
    const server = await serve(folder, `${LIMITS}subjects: {}`, SQLITE)
    const key = parseIdentity(readFileSync(join(folder, 'store', 'headgate.db.key'), 'utf8'))
    await createRatesClient({ url: `${server.url}/ucan`, key }).add({ subject: 'a.test', rate: 0 })
    const step = () =>
      server.post('/v1/spend', { limit: 'Orders', id: 'ann', subjects: ['ann@a.test'] })
    while ((await step()).allowed) await setTimeout(20)
    return { server, step, expect: ({ allowed }) => allowed === false }
  },
  hold: async (folder) => {
    const server = await serve(folder, SPENDING)
    const step = async () => {
      const { holdId } = await server.post('/v1/spending/hold', { from: '0xa1', estimate: '90' })
      return server.post('/v1/spending/settle', { holdId, amount: '60' })
    }
    return { server, step, expect: ({ charged }) => charged === '60' }
  },
  /** Behind the signer's own door: its server around it, with limits of its own, is not counted. */
  pin: async () => {
    const server = await start([SIGNER])
    const step = (n) => server.ask({ endpoint: 'sign', body: signedRequest('sign', `walk ${n}`) })
    return { server, step, expect: ({ success }) => success === true }
  },
}

export const WALK_NAMES = Object.keys(WALKS)

/** The files of src/ that a walk passes through, sorted. */
export const walk = async (name) => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-walk-'))
  const { server, step, expect } = await WALKS[name](folder)
  try {
    const check = async (n) => {
      const answer = await step(n)
      if (!expect(answer)) throw new Error(`${name}: unexpected answer ${JSON.stringify(answer)}`)
    }
    for (let n = 0; n < WARM; n++) await check(n)
    let common
    let steady = 0
    for (let n = WARM; steady < STEADY; n++) {
      await server.mark()
      await check(n)
      const files = new Set(await server.mark())
      const left = common === undefined ? files : new Set([...common].filter((f) => files.has(f)))
      steady = left.size === common?.size ? steady + 1 : 0
      common = left
    }
    return [...common].map((file) => `src/${file.replace(/\.js$/, '.ts')}`).sort()
  } finally {
    await server.end()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** In a folder of its own: what is written beside the configuration is looked at by the server. */
const SQLITE = (folder) => {
  mkdirSync(join(folder, 'store'))
  return `sqlite:${join(folder, 'store', 'headgate.db')}`
}

const serve = async (folder, config, storeIn = () => 'memory:') => {
  const file = join(folder, 'headgate.yml')
  writeFileSync(file, config)
  const words = ['serve', '--config', file, '--store', storeIn(folder), '--port', '0', '--json']
  return start([MAIN, ...words])
}

/** A process with the probe in it; resolves when it has printed its first JSON. */
const start = async (words) => {
  const child = spawn(process.execPath, ['--import', PROBE, ...words], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const ended = once(child, 'exit')
  const { url } = await announcement(child)
  return {
    url,
    mark: async () => {
      child.send({ mark: true })
      const [{ files }] = await once(child, 'message')
      return files
    },
    ask: async (question) => {
      child.send(question)
      const [{ answer }] = await once(child, 'message')
      return answer
    },
    post: async (path, body) => {
      const reply = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return reply.json()
    },
    end: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

const announcement = (child) =>
  new Promise((resolve, reject) => {
    let text = ''
    let log = ''
    child.stderr.on('data', (data) => {
      log += data
    })
    child.stdout.on('data', (data) => {
      text += data
      try {
        resolve(JSON.parse(text))
      } catch {
        // Not whole yet.
      }
    })
    child.once('exit', () => reject(new Error(log)))
  })

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const named = process.argv.slice(2)
  for (const name of named.length > 0 ? named : WALK_NAMES) {
    const files = await walk(name)
    console.log(`${name}: ${files.length} files\n${files.map((file) => `  ${file}`).join('\n')}\n`)
  }
}
