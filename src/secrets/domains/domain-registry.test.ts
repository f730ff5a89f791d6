import { expect, test } from 'vitest'
import { jsonField } from '../../../test/support/json-field.ts'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { requestFor } from '../../../test/support/odis-requests.ts'
import { samples } from '../../../test/support/odis-samples.ts'
import { KINDS, signerBench } from '../../../test/support/odis-signer.ts'
import { domainHash, domainRegistry, signingHash } from './domain-registry.ts'

const registry = domainRegistry(KINDS)

test('a client hashes as the signer does, for every domain', () => {
  for (const sample of Object.values(samples('hashes'))) {
    const context = {
      ...sample.domain,
      name: `${sample.domain['name']}`,
      version: `${sample.domain['version']}`,
    }
    const body = requestFor(sample, { nonce: 0 })
    const read = registry.find(context.name, context.version)?.kind?.read('sign', jsonField(body))
    expect(domainHash(context)).toEqual(read?.domainHash)
    expect(signingHash('sign', { ...body, domain: context })).toEqual(read?.signingHash)
  }
})

test('an unknown domain has no hash', () => {
  const mistake = mistakeOf(() => domainHash({ name: 'ODIS Other Domain', version: '1' }))
  expect(mistake).toMatchObject({ code: 'DOMAIN_INVALID' })
})

test('a deprecated name and version is gone for all endpoints, also one that there never was here', async () => {
  const deprecated = [
    { name: 'ODIS Linear Backoff Domain', version: '1' },
    { name: 'ODIS Other Domain', version: '7' },
  ]
  const bench = signerBench({ kinds: { deprecated } })
  for (const domain of deprecated) {
    for (const endpoint of ['sign', 'quotaStatus'] as const) {
      const reply = await bench.ask(endpoint, { domain })
      expect([reply.status, reply.body.error]).toEqual([
        410,
        expect.stringMatching(/^DOMAIN_DEPRECATED /),
      ])
    }
  }
  expect((await bench.ask('sign', { domain: { ...deprecated[1], version: '8' } })).status).toBe(404)
})
