/** The signer: what it adds to the arithmetic, quota statuses beside a bare route, and patience under garbage. */
import { readFileSync } from 'node:fs'
import { startFastify } from '../contenders/fastify.js'
import { signedRequest, startSigner } from '../contenders/signer.js'
import { inChild } from '../in-child.js'
import { CONNECTIONS, openLoad } from '../load.js'

const url = new URL('../contenders/signer.js', import.meta.url)
const LIBRARY = '@celo/poprf'
const file = new URL(`../../node_modules/${LIBRARY}/package.json`, import.meta.url)

/** Each a domain of its own. */
const DOMAINS = 1_000

let load

export const prepare = (say) => {
  load = openLoad(say)
}

export const peers = () =>
  `${LIBRARY} ${JSON.parse(readFileSync(file, 'utf8')).version}, ${load.name}`

const BARE = 'one bare evaluation after another, one thread'
const ROUTE = 'a bare Fastify route'
const ALONE = 'alone'

const overHttp = (name, start, requests) => {
  let server
  return {
    name,
    prepare: async () => {
      server = await start()
    },
    run: () => load.rate(server.url, requests(), server.folder),
    dispose: async () => server?.stop(),
  }
}

const statuses = () =>
  Array.from({ length: DOMAINS }, (_, n) => ({
    method: 'POST',
    path: '/domain/quotaStatus',
    body: signedRequest('quotaStatus', `${n}`),
  }))

const spends = () =>
  Array.from({ length: DOMAINS }, (_, n) => ({
    method: 'POST',
    path: '/spend',
    body: JSON.stringify({ limit: 'bench', id: `${n}` }),
  }))

const noLimits = () => startSigner('--limit-per-address', 'none', '--limit-in-all', 'none')

export const tables = [
  {
    title: 'Signing, on two worker threads',
    conditions: `The ratio is evaluations a second times the seconds of one bare evaluation: 2 would be two
processors that do nothing else. Over HTTP with 8 clients in the measuring process, a fresh deployed
domain for each request, signature verified, SQLite durable before the answer, 3 s a round.`,
    command: 'npm run bench -- odis',
    base: BARE,
    variants: [
      inChild(BARE, { url, contender: 'bareEvaluation', options: { engine: 'wasm' } }),
      inChild('headgate odis signer', { url, contender: 'signing', options: { engine: 'wasm' } }),
      inChild('headgate odis signer --engine typescript', {
        url,
        contender: 'signing',
        options: { engine: 'typescript' },
      }),
    ],
  },
  {
    title: 'Quota statuses of a signer',
    conditions: `Loopback, ${CONNECTIONS} connections kept alive, 1,000 deployed domains, every request signed and
verified, outer limits off, 2 s a round. The deployed signer was seen to answer 80 to 100 a second on
two processors. The bare route reads and checks JSON and decides nothing.`,
    command: 'npm run bench -- odis',
    base: ROUTE,
    variants: [
      overHttp(ROUTE, startFastify, spends),
      overHttp('headgate odis signer, POST /domain/quotaStatus', noLimits, statuses),
    ],
  },
  {
    title: 'A valid request beside garbage',
    conditions: `One client signs in turn; the rate is one over its median latency. Garbage is a request whose
signature is wrong, from another address of this machine; outer limits are on, 600 a minute for each
address. 3 s a round.`,
    command: 'npm run bench -- odis',
    base: ALONE,
    variants: [
      inChild(ALONE, { url, contender: 'patience', options: { garbage: 0 } }),
      inChild('beside 300 garbage requests a second', {
        url,
        contender: 'patience',
        options: { garbage: 300 },
      }),
    ],
  },
]
