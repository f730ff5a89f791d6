/** A kind of domain: its name and version, its types, the endpoints it has, and how it reads requests. */
import type { Field } from '../documents/index.ts'
import { decodeBlindedMessage } from './blinded-message.ts'
import type { Claim, Endpoint } from './claim.ts'
import { type Context, hashTypedData } from './eip712/typed-data.ts'
import { type RequestTypes, requestType } from './request-type.ts'

export interface DomainKind extends Context {
  readonly endpoints: readonly Endpoint[]
  /** Throws for whatever is malformed. Does no curve arithmetic and asks nobody. */
  read(endpoint: Endpoint, body: Field): DomainRequest
  /** Of the domain alone, for clients. */
  hash(domain: Field): Uint8Array
}

export interface DomainRequest {
  /** Names the domain: the key of its record, and the public input of its evaluations. */
  readonly domainHash: Uint8Array
  /** Over the whole request but its signature: equal for exact retries only. */
  readonly signingHash: Uint8Array
  /** Only where something is to be signed. */
  readonly blindedMessage: Uint8Array | undefined
  readonly claim: Claim
}

export interface KindDefinition<D extends Context, O> extends Context, RequestTypes<D, O> {
  /** Every domain can sign; the other endpoints are optional. */
  readonly endpoints: readonly Endpoint[]
  /** The options with their signature at its zero value. */
  unsigned(options: O): O
  /** Throws if the domain breaks a bound of its kind. */
  claim(domain: D, options: O): Claim
}

export const defineKind = <D extends Context, O>(kind: KindDefinition<D, O>): DomainKind => {
  const types = {
    sign: requestType('sign', kind),
    quotaStatus: requestType('quotaStatus', kind),
    disable: requestType('disable', kind),
  }
  const hashDomain = (domain: D) => hashTypedData(domain, kind.domain, domain)
  return {
    name: kind.name,
    version: kind.version,
    endpoints: kind.endpoints,
    hash: (domain) => hashDomain(kind.domain.read(domain)),
    read: (endpoint, body) => {
      const { domain, options, blindedMessage, hashWith } = types[endpoint].read(body)
      return {
        blindedMessage:
          blindedMessage === undefined ? undefined : decodeBlindedMessage(blindedMessage),
        claim: kind.claim(domain, options),
        domainHash: hashDomain(domain),
        signingHash: hashWith(kind.unsigned(options)),
      }
    },
  }
}
