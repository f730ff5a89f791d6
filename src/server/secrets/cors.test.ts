/** Which pages in browsers may ask a signer. Fetch standard, "CORS protocol". */
import { expect, test } from 'vitest'
import { requestFor } from '../../../test/support/odis-requests.ts'
import { samples } from '../../../test/support/odis-samples.ts'
import { type BenchOptions, signerBench } from '../../../test/support/odis-signer.ts'

const WALLET = 'https://wallet.example'
const sample = samples('cors')['linear backoff']

const preflight = async (path: string, origin: string, options: BenchOptions) => {
  const bench = signerBench(options)
  return fetch(`${await bench.url()}${path}`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,odis-key-version',
    },
  })
}

const corsOf = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => /^(access-control-|vary)/.test(name)))

test('off by default: no header, and a preflight is a method that there is not', async () => {
  const reply = await preflight('/domain/sign', WALLET, {})
  expect([reply.status, corsOf(reply)]).toEqual([405, {}])
})

test('a preflight of an origin that is named gets what a wallet needs, and is not limited', async () => {
  const limits = { perAddress: { count: 1, period: '1h' } }
  const bench = signerBench({ corsOrigins: ['https://other.example', WALLET], limits })
  const url = `${await bench.url()}/domain/sign`
  const headers = { origin: WALLET, 'access-control-request-method': 'POST' }
  for (let i = 0; i < 3; i++) {
    const reply = await fetch(url, { method: 'OPTIONS', headers })
    expect([reply.status, await reply.text(), corsOf(reply)]).toEqual([
      204,
      '',
      {
        vary: 'Origin',
        'access-control-allow-origin': WALLET,
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers':
          'content-type, accept, authorization, x-requested-with, odis-key-version',
        'access-control-expose-headers': 'odis-key-version, retry-after',
        'access-control-max-age': '7200',
      },
    ])
  }
  const signed = await bench.ask('sign', requestFor(sample), { origin: WALLET })
  expect([signed.status, signed.headers['access-control-allow-origin']]).toEqual([200, WALLET])
  const refused = await bench.ask('sign', requestFor(sample), { origin: WALLET })
  expect(refused).toMatchObject({
    status: 429,
    headers: { 'access-control-allow-origin': WALLET, vary: 'Origin' },
  })
})

test('an origin that is not named gets none of it, and caches are told', async () => {
  const corsOrigins = [WALLET]
  for (const origin of [
    'https://evil.example',
    `${WALLET}.evil.example`,
    'null',
    'http://wallet.example',
  ]) {
    const reply = await preflight('/domain/sign', origin, { corsOrigins })
    expect([reply.status, corsOf(reply)]).toEqual([405, { vary: 'Origin' }])
  }
})

test('* lets every page ask, and names none', async () => {
  const reply = await preflight('/domain/quotaStatus', 'https://any.example', {
    corsOrigins: ['*'],
  })
  expect(reply.status).toBe(204)
  expect(corsOf(reply)).toMatchObject({ 'access-control-allow-origin': '*' })
  expect(corsOf(reply)).not.toHaveProperty('vary')
})

test('health and metrics are for no page, nor are paths that there are not', async () => {
  const bench = signerBench({ corsOrigins: ['*'] })
  for (const path of ['/metrics', '/livez', '/readyz', '/nowhere']) {
    const reply = await fetch(`${await bench.url()}${path}`, { headers: { origin: WALLET } })
    expect(corsOf(reply)).toEqual({})
  }
  const status = await fetch(`${await bench.url()}/status`, { headers: { origin: WALLET } })
  expect([status.status, corsOf(status)['access-control-allow-origin']]).toEqual([200, '*'])
})
