/** From bytes to a request that a known kind of domain has read, or the reason why not. */
import { HeadgateError } from '../core/index.ts'
import { type Field, quote } from '../documents/index.ts'
import type { Endpoint } from './claim.ts'
import type { DomainRequest } from './domain-kind.ts'
import type { DomainRegistry } from './domain-registry.ts'
import { type Refusal, refused } from './refusal.ts'
import { domainNamed, MAX_BODY_BYTES, parseBody } from './request-body.ts'

export const readRequest = (
  registry: DomainRegistry,
  endpoint: Endpoint,
  bytes: Uint8Array,
): DomainRequest | Refusal => {
  if (bytes.length > MAX_BODY_BYTES) {
    const finding = `${bytes.length}`
    return refused(
      'BODY_TOO_LARGE',
      `the body: must be at most ${MAX_BODY_BYTES} bytes, found ${finding}`,
    )
  }
  try {
    return readTree(registry, endpoint, parseBody(bytes))
  } catch (error) {
    if (error instanceof HeadgateError) return refused('MALFORMED_REQUEST', error.message)
    throw error
  }
}

/** Unknown and deprecated domains are told apart before anything else in the request is looked at. */
function readTree(
  registry: DomainRegistry,
  endpoint: Endpoint,
  body: Field,
): DomainRequest | Refusal {
  const named = domainNamed(body)
  if (named === undefined) {
    return refused('MALFORMED_REQUEST', 'the request: must hold a domain with a name and a version')
  }
  const title = `the domain ${quote(named.name)} ${quote(named.version)}`
  const found = registry.find(named.name, named.version)
  if (found === undefined) return refused('DOMAIN_UNKNOWN', `${title} is not known here`)
  if (!found.kind.endpoints.includes(endpoint)) {
    return refused('ENDPOINT_UNSUPPORTED', `${title} has no ${endpoint}`)
  }
  if (found.deprecated) return refused('DOMAIN_DEPRECATED', `${title} is no longer served`)
  return found.kind.read(endpoint, body)
}
