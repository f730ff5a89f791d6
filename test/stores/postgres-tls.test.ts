/** PostgreSQL over TLS: what the URL asks of the server's certificate is asked of a real one. */
import { chmodSync, chownSync, copyFileSync, statSync } from 'node:fs'
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { provideProgram } from '../../scripts/programs.js'
import { seconds } from '../../src/core/time.ts'
import { postgres } from '../../src/stores/postgres/index.ts'
import { makeCertificate } from '../support/certificate.ts'
import { addOne } from '../support/hot-count.ts'
import { ownService, sharedUrl } from '../support/services.ts'

const shared = await sharedUrl('postgres')
const hasOpenssl = provideProgram('openssl', ['openssl'], console.log)
if (!hasOpenssl) console.log('headgate: the tests with TLS are skipped: openssl is missing')

/** A server that speaks TLS, and knows whether we do. */
const open = async () => {
  const made = makeCertificate()
  const { url } = await ownService('postgres')
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  const folder = String((await client.query('SHOW data_directory')).rows[0].data_directory)
  const { uid, gid } = statSync(folder)
  for (const [from, name] of [
    [made.certificate, 'server.crt'],
    [made.key, 'server.key'],
  ] as const) {
    copyFileSync(from, `${folder}/${name}`)
    chmodSync(`${folder}/${name}`, 0o600)
    chownSync(`${folder}/${name}`, uid, gid)
  }
  await client.query('ALTER SYSTEM SET ssl = on')
  await client.query('SELECT pg_reload_conf()')
  const isOn = async () => (await client.query('SHOW ssl')).rows[0].ssl === 'on'
  while (!(await isOn())) {}
  /** What became of a call by a URL with these parameters. */
  const ask = async (parameters: string, host = 'localhost') => {
    const store = postgres({
      url: `${url.replace('127.0.0.1', host)}?${parameters}`,
      timeout: seconds(60),
    })
    try {
      await addOne(store)
      const text = `SELECT bool_and(ssl) AS ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'headgate'`
      return (await client.query(text)).rows[0].ssl === true ? 'by TLS' : 'in the clear'
    } catch (error) {
      return String(error)
    } finally {
      await store.close()
    }
  }
  return { ask, known: `sslrootcert=${encodeURIComponent(made.certificate)}` }
}

describe.skipIf(shared === undefined || !hasOpenssl)('the URL of PostgreSQL', () => {
  test('asks for TLS, and for a certificate that is known and names the host', async () => {
    const { ask, known } = await open()
    expect(await ask(`sslmode=verify-full&${known}`)).toBe('by TLS')
    expect(await ask('sslmode=verify-full')).toContain('self-signed certificate')
    expect(await ask(`sslmode=verify-full&${known}`, '127.0.0.1')).toContain('not in the cert')
    expect(await ask('sslmode=no-verify')).toBe('by TLS')
    expect(await ask('sslmode=disable')).toBe('in the clear')
  })

  test('that asks for TLS is not satisfied by a server without', async () => {
    const store = postgres({ url: `${shared}?sslmode=verify-full`, timeout: seconds(60) })
    await expect(store.opened()).rejects.toThrow('does not support SSL')
    await store.close()
  })
})
