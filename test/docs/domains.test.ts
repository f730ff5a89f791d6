/** The page about the domain API says what the signer does. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { REQUESTS } from '../../src/secrets/domains/domain-kind.ts'
import { SECRETS_ERROR_CODES } from '../../src/secrets/mistake.ts'
import { BLINDED_MESSAGE_BYTES } from '../../src/secrets/poprf/index.ts'
import { REFUSAL_STATUSES } from '../../src/secrets/signer/response.ts'
import { answersAs } from '../support/odis-answers.ts'
import { requestFor } from '../support/odis-requests.ts'
import { samples } from '../support/odis-samples.ts'
import { signerBench } from '../support/odis-signer.ts'
import { ROOT } from '../support/sources.ts'

const page = readFileSync(`${ROOT}docs/reference/domains.md`, 'utf8')

test('every refusal is on the page with its statuses, in the order of the checks', () => {
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| (\d+) \| (\d+) \|/gm)]
  const told = rows.map(([, code, cip40, celo]) => [code, Number(cip40), Number(celo)])
  expect(told).toEqual(
    Object.entries(REFUSAL_STATUSES).map(([code, { cip40, celo }]) => [code, cip40, celo]),
  )
})

test('every mistake has a heading', () => {
  const headings = [...page.matchAll(/^### ([A-Z_]+)$/gm)].map(([, code]) => code)
  expect(headings).toEqual([...SECRETS_ERROR_CODES])
})

test('every domain has a row, with the endpoints that it has', () => {
  const rows = [...page.matchAll(/^\| `(ODIS [^`]+)` \| (\d+) \| ([^|]+) \|/gm)]
  const told = rows.map(([, name, version, endpoints]) => `${name} ${version}: ${endpoints}`)
  const known = Object.values(samples('docs')).map(({ domain, endpoints }) => {
    const which = endpoints.length === 3 ? 'all' : endpoints.join(', ')
    return `${domain['name']} ${domain['version']}: ${which}`
  })
  expect(new Set(told)).toEqual(new Set(known))
})

test('every request is on the page, with its type and the name it is signed under', () => {
  const rows = [...page.matchAll(/^\| `\/domain\/(\w+)` \| `(\w+)` \| `([^`]+)` \|$/gm)]
  expect(rows.map(([, ...cells]) => cells)).toEqual(
    Object.entries(REQUESTS).map(([endpoint, { name, signedUnder }]) => [
      endpoint,
      name,
      signedUnder.name,
    ]),
  )
  for (const { signedUnder } of Object.values(REQUESTS)) expect(signedUnder.version).toBe('1')
  expect(page).toContain(`${BLINDED_MESSAGE_BYTES} bytes in canonical base64`)
})

describe.each(Object.entries(samples('docs')))('%s', (_, sample) => {
  const { signed, refused, reported } = answersAs('cip40')
  const { name, version } = sample.domain

  test('says whether the type must be sent; a wrong one is refused', async () => {
    const bench = signerBench()
    const { type: _type, ...body } = requestFor(sample, { nonce: 0 })
    const right = { ...body, type: 'DomainRestrictedSignatureRequest' }
    signed(await bench.ask('sign', right))
    const wrong = { ...body, type: 'DomainQuotaStatusRequest' }
    refused(await bench.ask('sign', wrong), 'MALFORMED_REQUEST')
    const [, word] =
      new RegExp(`^\\| \`${name}\` \\| ${version} \\| [^|]+ \\| (\\w+) \\|`, 'm').exec(page) ?? []
    expect(['required', 'allowed']).toContain(word)
    const without = await bench.ask('sign', body)
    if (word === 'required') refused(without, 'MALFORMED_REQUEST')
    else signed(without)
  })

  test('lists the fields of its status', async () => {
    const bench = signerBench()
    const section = page.split(`### ${name} ${version}\n`)[1]?.split('\n### ')[0] ?? ''
    const line = /^Status: ([^.;]+)/m.exec(section)?.[1] ?? ''
    const fields = [...line.matchAll(/`(\w+)`/g)].map(([, field = '']) => field)
    const reply = await bench.ask('sign', requestFor(sample, { nonce: 0 }))
    const status = reply.body.status ?? {}
    expect(Object.keys(status)).toEqual(fields.filter((field) => field !== 'false'))
    if (!sample.endpoints.includes('quotaStatus')) return
    const asked = requestFor(sample, { endpoint: 'quotaStatus', nonce: 0 })
    reported(await bench.ask('quotaStatus', asked), status)
  })
})

test('without a refresh the linear backoff tells its counter too', async () => {
  const { domain, ...rest } = samples('docs')['linear backoff']
  const capped = { ...rest, domain: { ...domain, refresh: { defined: false, value: 0 } } }
  const { body } = await signerBench().ask('sign', requestFor(capped))
  expect(body.status).toEqual({ counter: 1, remaining: 1, now: 1_704_067_200, disabled: false })
})
