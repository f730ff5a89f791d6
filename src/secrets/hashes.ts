/** The two hashes that a client needs: of its domain, the tag of every answer; and of a request, to sign it. */
import type { Field } from '../documents/index.ts'
import { parseJson } from '../documents/json.ts'
import type { Endpoint } from './claim.ts'
import type { DomainKind } from './domain-kind.ts'
import { domainRegistry } from './domain-registry.ts'
import type { Context } from './eip712/typed-data.ts'
import { fixedPhoneQuota } from './phone-quota.ts'
import { refuseSecret } from './secrets-mistake.ts'

/** 32 bytes. Throws for a domain that is not of its type. */
export const domainHash = (domain: Context): Uint8Array =>
  kindOf(domain).hash(field('domain', domain))

/** 32 bytes, whatever stands in the place of the signature. Throws for what a signer would call malformed. */
export const signingHash = (
  endpoint: Endpoint,
  request: { readonly domain: Context },
): Uint8Array => kindOf(request.domain).read(endpoint, field('request', request)).signingHash

/** Every kind there is; hashing asks neither a chain nor for a quota. */
const EVERY_KIND = domainRegistry({
  contracts: { ask: async () => 'no chain' },
  phoneQuota: fixedPhoneQuota({ base: 0, verified: 0 }),
})

const field = (thing: string, value: object): Field => ({
  thing,
  node: parseJson(JSON.stringify(value), thing),
})

function kindOf({ name, version }: Context): DomainKind {
  const found = EVERY_KIND.find(name, version)
  if (found !== undefined) return found.kind
  return refuseSecret({
    code: 'DOMAIN_INVALID',
    thing: 'domain',
    rule: 'must be of a known name and version',
    finding: `${JSON.stringify(name)} ${JSON.stringify(version)}`,
  })
}
