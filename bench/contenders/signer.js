/** `headgate odis signer` with a new single key, and clients of it who sign their requests. */
import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { keccak_256 } from '@noble/hashes/sha3.js'
import secp256k1 from 'secp256k1'
import { domainHash, signingHash } from '../../dist/secrets/domains/index.js'
import { evaluateHere, generateKey } from '../../dist/secrets/index.js'
import { blind } from '../../dist/secrets/poprf/index.js'
import { startServer } from '../daemon.js'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** Long enough for a hundred evaluations on two processors. */
const MEASURE_MS = 3_000

/** More than any measurement uses up. */
const PREPARED = 600

/** Enough that no thread waits for a client. */
const CLIENTS = 8

const none = (value) => ({ defined: false, value })
const some = (value) => ({ defined: true, value })

const wallet = createHash('sha256').update('bench').digest()
const point = secp256k1.publicKeyCreate(wallet, false).slice(1)
const address = `0x${Buffer.from(keccak_256(point)).subarray(12).toString('hex')}`
const blindedMessage = Buffer.from(blind(randomBytes(8)).blindedMessage).toString('base64')

const TYPES = { sign: 'DomainRestrictedSignatureRequest', quotaStatus: 'DomainQuotaStatusRequest' }

/** The deployed domain; each salt is a domain of its own. */
const domainOf = (salt) => {
  const more = { resetTimer: none(false), batchSize: some(2), repetitions: none(0) }
  const stages = [{ delay: 0, ...more }]
  const name = 'ODIS Sequential Delay Domain'
  return { name, version: '1', stages, address: some(address), salt: some(salt) }
}

/** A request as a wallet sends it, signed. */
export const signedRequest = (endpoint, salt) => {
  const options = { signature: none(''), nonce: endpoint === 'sign' ? some(0) : none(0) }
  const message = endpoint === 'sign' ? { blindedMessage } : {}
  const unsigned = {
    type: TYPES[endpoint],
    domain: domainOf(salt),
    options,
    ...message,
    sessionID: none(''),
  }
  const { signature, recid } = secp256k1.ecdsaSign(signingHash(endpoint, unsigned), wallet)
  const text = `0x${Buffer.from([...signature, recid + 27]).toString('hex')}`
  return JSON.stringify({ ...unsigned, options: { ...options, signature: some(text) } })
}

export const startSigner = (...more) => {
  const argsFor = ({ folder, port }) => {
    const keys = ['--keys', join(folder, 'keys')]
    const secret = ['--key-secret', `file:${join(folder, 'secret')}`]
    execFileSync(process.execPath, [MAIN, 'odis', 'keygen', ...keys, ...secret, '--new-secret'])
    const store = ['--store', `sqlite:${join(folder, 'signer.db')}`, '--log-level', 'warn']
    return [MAIN, 'odis', 'signer', '--port', `${port}`, ...keys, ...secret, ...store, ...more]
  }
  return startServer(process.execPath, argsFor, '/readyz')
}

/** One evaluation after another on one thread, and nothing else. */
export const bareEvaluation = async ({ engine }) => {
  const evaluator = await evaluateHere(engine)
  const key = generateKey()
  const tag = domainHash(domainOf('bare'))
  const message = Buffer.from(blindedMessage, 'base64')
  return {
    measure: async () => {
      const start = performance.now()
      let count = 0
      while (performance.now() - start < MEASURE_MS) {
        await evaluator.evaluate(key, tag, Uint8Array.from(message))
        count += 1
      }
      return (count / (performance.now() - start)) * 1_000
    },
    close: () => evaluator.close(),
  }
}

/** Fresh domains, every request signed, verified, evaluated and charged on the disk before its answer. */
export const signing = async ({ engine }) => {
  const flags = ['--engine', engine, '--workers', '2', '--limit-per-address', 'none']
  const signer = await startSigner(...flags)
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  let salt = 0
  return {
    measure: async () => {
      const bodies = Array.from({ length: PREPARED }, () => signedRequest('sign', `${salt++}`))
      const start = performance.now()
      let signed = 0
      const client = async () => {
        while (performance.now() - start < MEASURE_MS) {
          const status = await post(signer.url, bodies.pop(), { agent })
          if (status !== 200) throw new Error(`expected 200, got ${status}`)
          signed += 1
        }
      }
      await Promise.all(Array.from({ length: CLIENTS }, client))
      return (signed / (performance.now() - start)) * 1_000
    },
    close: async () => {
      agent.destroy()
      await signer.stop()
    },
  }
}

/** One client that signs in turn, by its median; beside it, perhaps, another who sends garbage. */
export const patience = async ({ garbage }) => {
  const signer = await startSigner('--workers', '2', '--limit-per-address', '600/1m')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const other = new Agent({ keepAlive: true, maxSockets: 64, localAddress: '127.0.0.2' })
  let salt = 0
  let dropped = 0
  const pester = async (until) => {
    const gap = 1_000 / garbage
    const body = signedRequest('sign', 'garbage').replace('"0x', '"0xff')
    for (let due = performance.now(); due < until; due += gap) {
      await setTimeout(Math.max(0, due - performance.now()))
      post(signer.url, body, { agent: other }).then((status) => {
        if (status === 429) dropped += 1
      })
    }
  }
  return {
    measure: async () => {
      const end = performance.now() + MEASURE_MS
      const pestering = garbage === 0 ? undefined : pester(end)
      const took = []
      while (performance.now() < end) {
        const body = signedRequest('sign', `${salt++}`)
        const start = performance.now()
        const status = await post(signer.url, body, { agent })
        if (status !== 200) throw new Error(`expected 200, got ${status}`)
        took.push(performance.now() - start)
      }
      await pestering
      return 1_000 / took.sort((a, b) => a - b)[Math.floor(took.length / 2)]
    },
    note: () => (garbage === 0 ? '' : `${dropped} of the garbage dropped by its address`),
    close: async () => {
      agent.destroy()
      other.destroy()
      await signer.stop()
    },
  }
}

const post = (url, body, { agent }) =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length }
    const sent = request(`${url}/domain/sign`, { method: 'POST', agent, headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
    sent.on('error', reject).end(body)
  })
