/** The published clients of the ODIS domain API, unmodified, over HTTP, in both conducts. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seconds } from '../../../src/core/index.ts'
import { type Conduct, createSigner } from '../../../src/secrets/index.ts'
import { publicKeyOf } from '../../../src/secrets/poprf/index.ts'
import { evaluateHere } from '../../../src/secrets/poprf/pool/index.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import { fakeClock } from '../../../src/testing/index.ts'
import { listenSigner } from '../../support/odis-http.ts'
import { defined, none, stage } from '../../support/odis-requests.ts'
import { vectors } from '../../support/vectors.ts'
import type * as Clients from './clients.js'

let clients: typeof Clients

beforeAll(async () => {
  const install = fileURLToPath(new URL('../install.js', import.meta.url))
  execFileSync(process.execPath, [install, 'odis'], { stdio: 'inherit' })
  clients = await import('./clients.js')
}, 600_000)

const { single } = vectors<{ single: { privateKey: string }[] }>('odis/poprf.json')
const privateKey = Uint8Array.from(Buffer.from(single[0]?.privateKey ?? '', 'hex'))
const publicKey = Buffer.from(publicKeyOf(privateKey)).toString('base64')
const PIN = Buffer.from('123456')

describe.each<Conduct>(['cip40', 'celo'])('a signer that answers as %s', (conduct) => {
  const clock = fakeClock()
  let http: Awaited<ReturnType<typeof listenSigner>>

  beforeAll(async () => {
    const signer = createSigner({
      store: memoryStore({ clock }),
      evaluator: await evaluateHere('wasm'),
      keys: {
        current: 1,
        find: (version) => (version === 1 ? { kind: 'single', secret: privateKey } : undefined),
      },
      conduct,
      version: '0.0.0-test',
    })
    http = await listenSigner(signer)
  })
  afterAll(() => http.close())

  const scene = (salt: string) => {
    const signer = clients.walletOf('11'.repeat(32))
    const domain = {
      name: 'ODIS Sequential Delay Domain',
      version: '1',
      stages: [stage(0, 2), stage(60, 1)],
      address: defined(signer.address),
      salt: defined(salt),
    }
    const who = { url: http.url, publicKey, signer, domain }
    const query = clients.blindFor(publicKey, domain, PIN)
    const blinded = query.blindedMessage.toString('base64')
    const sign = (nonce: number, more: Partial<Clients.Sending> = {}) =>
      clients.send('sign', { ...who, blinded, nonce, ...more })
    return { who, query, sign, domain }
  }
  const unblinded = (query: Clients.BlindedQuery, answer: Clients.DomainAnswer): string =>
    query.unblindResponse(Buffer.from(answer.signature ?? '', 'base64')).toString('hex')

  test('blind, sign, unblind and verify: the same PIN hardens alike, whatever the blinding', async () => {
    const { who, query, sign, domain } = scene('pin')
    const first = unblinded(query, await sign(0))
    const again = clients.blindFor(publicKey, domain, PIN)
    const blinded = again.blindedMessage.toString('base64')
    const second = await clients.send('sign', { ...who, blinded, nonce: 1 })
    expect(second).toMatchObject({ success: true, status: { counter: 2, disabled: false } })
    expect(unblinded(again, second)).toBe(first)
    expect(first).toMatch(/^[0-9a-f]{64}$/)
  })

  test('another domain gives another result', async () => {
    const [one, other] = [scene('one'), scene('other')]
    const first = unblinded(one.query, await one.sign(0))
    expect(unblinded(other.query, await other.sign(0))).not.toBe(first)
  })

  test('the quota status counts attempts', async () => {
    const { who, sign } = scene('status')
    await sign(0)
    const answer = await clients.send('quotaStatus', who)
    const now = Math.floor(clock() / 1_000_000)
    expect(answer.status).toEqual({ counter: 1, timer: now, disabled: false, now })
  })

  test('the rate limit is reached, and after waiting there is one more', async () => {
    const { query, sign } = scene('waiting')
    await sign(0)
    await sign(1)
    await expect(sign(2)).rejects.toThrow(clients.errors['ODIS_RATE_LIMIT_ERROR'])
    clock.advance(seconds(60))
    expect(unblinded(query, await sign(2))).toMatch(/^[0-9a-f]{64}$/)
    clock.advance(seconds(86_400))
    await expect(sign(3)).rejects.toThrow(clients.errors['ODIS_RATE_LIMIT_ERROR'])
  })

  test('a disabled domain answers no more', async () => {
    const { who, sign } = scene('disabled')
    await sign(0)
    expect(await clients.send('disable', who)).toMatchObject({ status: { disabled: true } })
    const told = conduct === 'celo' ? 'ODIS_RATE_LIMIT_ERROR' : 'ODIS_QUOTA_ERROR'
    await expect(sign(1)).rejects.toThrow(clients.errors[told])
    const status = await clients.send('quotaStatus', who)
    expect(status.status).toMatchObject({ disabled: true, counter: 1 })
  })

  test('a wrong signature and a used nonce are not authorised', async () => {
    const { sign } = scene('wrong')
    const stranger = clients.walletOf('22'.repeat(32))
    await expect(sign(0, { signer: stranger })).rejects.toThrow(clients.errors['ODIS_AUTH_ERROR'])
    await sign(0)
    const { blindedMessage } = clients.blindFor(publicKey, scene('wrong').domain, Buffer.from('1'))
    const other = { blinded: blindedMessage.toString('base64') }
    await expect(sign(0, other)).rejects.toThrow(clients.errors['ODIS_AUTH_ERROR'])
  })

  test('an exact retry is answered once more and free, but not by the deployed order', async () => {
    const { who, query, sign } = scene('retry')
    const first = unblinded(query, await sign(0))
    if (conduct === 'celo') {
      await expect(sign(0)).rejects.toThrow(clients.errors['ODIS_AUTH_ERROR'])
    } else {
      expect(unblinded(query, await sign(0))).toBe(first)
    }
    expect((await clients.send('quotaStatus', who)).status?.counter).toBe(1)
  })

  test('an unknown key version is a mistake of the client, and a known one is honoured', async () => {
    const { sign } = scene('version')
    const unknown = sign(0, { keyVersion: '7' })
    await expect(unknown).rejects.toThrow(clients.errors['ODIS_INPUT_ERROR'])
    expect(await sign(0, { keyVersion: '1' })).toMatchObject({ success: true })
  })

  test('a domain without salt has the hash that the library gives it', async () => {
    const { domain } = scene('x')
    const plain = { ...domain, salt: none('') }
    const query = clients.blindFor(publicKey, plain, PIN)
    const blinded = query.blindedMessage.toString('base64')
    const who = { url: http.url, publicKey, signer: clients.walletOf('11'.repeat(32)) }
    const answer = await clients.send('sign', { ...who, domain: plain, nonce: 0, blinded })
    expect(unblinded(query, answer)).toMatch(/^[0-9a-f]{64}$/)
  })
})
