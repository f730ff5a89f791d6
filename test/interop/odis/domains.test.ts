/** The published clients of the ODIS domain API, unmodified, against `headgate odis signer` in both conducts. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Conduct } from '../../../src/secrets/index.ts'
import { keygen, startSigner } from '../../support/odis-process.ts'
import { defined, none, stage } from '../../support/odis-samples.ts'
import type { Served } from '../../support/serve.ts'
import { install } from '../install.ts'
import type * as Clients from './clients.js'

let clients: typeof Clients

beforeAll(async () => {
  install('odis/')
  clients = await import('./clients.js')
}, 600_000)

const PIN = Buffer.from('123456')

/** Long enough that three requests come within it. */
const DELAY_SECONDS = 4

describe.each<Conduct>(['cip40', 'celo'])('headgate odis signer --conduct %s', (conduct) => {
  let folder: string
  let publicKey: string
  let served: Served

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-'))
    publicKey = keygen(folder, '--new-secret')
    served = await startSigner(folder, '--conduct', conduct)
  })
  afterAll(async () => {
    await served.child.kill('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  })

  /** A wallet with a domain of its own, whose PIN it blinds and hardens. */
  const scene = (salt: object) => {
    const signer = clients.walletOf('11'.repeat(32))
    const domain = {
      name: 'ODIS Sequential Delay Domain',
      version: '1',
      stages: [stage(0, 2), stage(DELAY_SECONDS, 1)],
      address: defined(signer.address),
      salt,
    }
    const who = { url: served.url, publicKey, signer, domain }
    const blind = (message: Buffer) => {
      const query = clients.blindFor(publicKey, domain, message)
      return { query, blinded: query.blindedMessage.toString('base64') }
    }
    const pin = blind(PIN)
    const sign = (nonce: number, more: Partial<Clients.Sending> = {}) =>
      clients.send('sign', { ...who, blinded: pin.blinded, nonce, ...more })
    /** As verified by the client; the same blinding is sent unless told. */
    const harden = async (nonce: number, { query, blinded } = pin) => {
      const { signature = '' } = await sign(nonce, { blinded })
      return query.unblindResponse(Buffer.from(signature, 'base64')).toString('hex')
    }
    return { who, blind, sign, harden }
  }

  test('blind, sign, unblind and verify: the same PIN hardens alike, whatever the blinding', async () => {
    const { blind, harden } = scene(defined('pin'))
    const first = await harden(0)
    expect(first).toMatch(/^[0-9a-f]{64}$/)
    expect(await harden(1, blind(PIN))).toBe(first)
  })

  test('another domain gives another result, also one without salt', async () => {
    const salts = [defined('one'), defined('other'), none('')]
    const results = await Promise.all(salts.map((salt) => scene(salt).harden(0)))
    expect(new Set(results).size).toBe(3)
  })

  test('the limit is reached, the status counts, and after waiting there is one more', async () => {
    const { who, sign, harden } = scene(defined('waiting'))
    const first = await harden(0)
    await harden(1)
    await expect(sign(2)).rejects.toThrow(clients.errors['ODIS_RATE_LIMIT_ERROR'])
    const { status } = await clients.send('quotaStatus', who)
    expect(status).toEqual({
      counter: 2,
      disabled: false,
      timer: expect.any(Number),
      now: expect.any(Number),
    })
    await pause((DELAY_SECONDS + 1) * 1_000)
    expect(await harden(2)).toBe(first)
    await expect(sign(3)).rejects.toThrow(clients.errors['ODIS_RATE_LIMIT_ERROR'])
  })

  test('a disabled domain answers no more', async () => {
    const { who, sign } = scene(defined('disabled'))
    await sign(0)
    expect(await clients.send('disable', who)).toMatchObject({ status: { disabled: true } })
    const told = conduct === 'celo' ? 'ODIS_RATE_LIMIT_ERROR' : 'ODIS_QUOTA_ERROR'
    await expect(sign(1)).rejects.toThrow(clients.errors[told])
    const { status } = await clients.send('quotaStatus', who)
    expect(status).toMatchObject({ disabled: true, counter: 1 })
  })

  test('a wrong signature and a used nonce are not authorised', async () => {
    const { blind, sign } = scene(defined('wrong'))
    const stranger = clients.walletOf('22'.repeat(32))
    await expect(sign(0, { signer: stranger })).rejects.toThrow(clients.errors['ODIS_AUTH_ERROR'])
    await sign(0)
    const { blinded } = blind(Buffer.from('1'))
    await expect(sign(0, { blinded })).rejects.toThrow(clients.errors['ODIS_AUTH_ERROR'])
  })

  test('an exact retry is answered once more and free, but not by the deployed order', async () => {
    const { who, harden } = scene(defined('retry'))
    const first = await harden(0)
    if (conduct === 'celo') {
      await expect(harden(0)).rejects.toThrow(clients.errors['ODIS_AUTH_ERROR'])
    } else {
      expect(await harden(0)).toBe(first)
    }
    expect((await clients.send('quotaStatus', who)).status?.counter).toBe(1)
  })

  test('an unknown key version is a mistake of the client, and a known one is honoured', async () => {
    const { sign } = scene(defined('version'))
    const unknown = sign(0, { keyVersion: '7' })
    await expect(unknown).rejects.toThrow(clients.errors['ODIS_INPUT_ERROR'])
    expect(await sign(0, { keyVersion: '1' })).toMatchObject({ success: true })
  })
})
