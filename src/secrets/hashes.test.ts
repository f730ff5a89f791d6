import { expect, test } from 'vitest'
import { jsonField } from '../../test/support/json-field.ts'
import { mistakeOf } from '../../test/support/mistake-of.ts'
import { requestFor } from '../../test/support/odis-requests.ts'
import { samples } from '../../test/support/odis-samples.ts'
import { KINDS } from '../../test/support/odis-signer.ts'
import { domainRegistry } from './domain-registry.ts'
import { domainHash, signingHash } from './hashes.ts'

const registry = domainRegistry(KINDS)

test('a client hashes as the signer does, for every domain', () => {
  for (const sample of Object.values(samples('hashes'))) {
    const context = {
      ...sample.domain,
      name: `${sample.domain['name']}`,
      version: `${sample.domain['version']}`,
    }
    const body = requestFor(sample, { nonce: 0 })
    const read = registry.find(context.name, context.version)?.kind.read('sign', jsonField(body))
    expect(domainHash(context)).toEqual(read?.domainHash)
    expect(signingHash('sign', { ...body, domain: context })).toEqual(read?.signingHash)
  }
})

test('an unknown domain has no hash', () => {
  const mistake = mistakeOf(() => domainHash({ name: 'ODIS Other Domain', version: '1' }))
  expect(mistake).toMatchObject({ code: 'DOMAIN_INVALID' })
})
