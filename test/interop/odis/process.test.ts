/** The published clients of the ODIS domain API, unmodified, against `headgate odis signer` as it runs. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Conduct } from '../../../src/secrets/index.ts'
import { keygen, startSigner } from '../../support/odis-process.ts'
import { defined, stage } from '../../support/odis-requests.ts'
import type { Served } from '../../support/serve.ts'
import type * as Clients from './clients.js'

let clients: typeof Clients

beforeAll(async () => {
  const install = fileURLToPath(new URL('../install.js', import.meta.url))
  execFileSync(process.execPath, [install, 'odis'], { stdio: 'inherit' })
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

  const scene = (salt: string) => {
    const signer = clients.walletOf('11'.repeat(32))
    const domain = {
      name: 'ODIS Sequential Delay Domain',
      version: '1',
      stages: [stage(0, 2), stage(DELAY_SECONDS, 1)],
      address: defined(signer.address),
      salt: defined(salt),
    }
    const who = { url: served.url, publicKey, signer, domain }
    const query = clients.blindFor(publicKey, domain, PIN)
    const blinded = query.blindedMessage.toString('base64')
    const sign = (nonce: number, more: Partial<Clients.Sending> = {}) =>
      clients.send('sign', { ...who, blinded, nonce, ...more })
    const harden = async (nonce: number) => {
      const { signature = '' } = await sign(nonce)
      return query.unblindResponse(Buffer.from(signature, 'base64')).toString('hex')
    }
    return { who, sign, harden }
  }

  test('blind, sign, unblind and verify; the limit reached; once more after waiting', async () => {
    const { who, sign, harden } = scene('waiting')
    const first = await harden(0)
    expect(first).toMatch(/^[0-9a-f]{64}$/)
    expect(await harden(1)).toBe(first)
    await expect(sign(2)).rejects.toThrow(clients.errors['ODIS_RATE_LIMIT_ERROR'])
    expect((await clients.send('quotaStatus', who)).status).toMatchObject({ counter: 2 })
    await pause((DELAY_SECONDS + 1) * 1_000)
    expect(await harden(2)).toBe(first)
    await expect(sign(3)).rejects.toThrow(clients.errors['ODIS_RATE_LIMIT_ERROR'])
  })

  test('a disabled domain answers no more', async () => {
    const { who, sign } = scene('disabled')
    await sign(0)
    expect(await clients.send('disable', who)).toMatchObject({ status: { disabled: true } })
    const told = conduct === 'celo' ? 'ODIS_RATE_LIMIT_ERROR' : 'ODIS_QUOTA_ERROR'
    await expect(sign(1)).rejects.toThrow(clients.errors[told])
  })

  test('a wrong signature, a used nonce and an unknown key version are refused', async () => {
    const { sign } = scene('wrong')
    const stranger = clients.walletOf('22'.repeat(32))
    await expect(sign(0, { signer: stranger })).rejects.toThrow(clients.errors['ODIS_AUTH_ERROR'])
    const unknown = sign(0, { keyVersion: '7' })
    await expect(unknown).rejects.toThrow(clients.errors['ODIS_INPUT_ERROR'])
    expect(await sign(0, { keyVersion: '1' })).toMatchObject({ success: true })
    const other = clients.blindFor(publicKey, scene('wrong').who.domain, Buffer.from('1'))
    const blinded = other.blindedMessage.toString('base64')
    await expect(sign(0, { blinded })).rejects.toThrow(clients.errors['ODIS_AUTH_ERROR'])
  })
})
