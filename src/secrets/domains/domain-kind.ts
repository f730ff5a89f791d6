/** A kind of domain: its name and version, its types, its endpoints, and how it reads requests. CIP-40, "Service APIs". */
import { assert, quote } from '../../core/errors.ts'
import { type Field, type OtherFields, refuseField } from '../../documents/field.ts'
import type { Recover } from '../eip712/ethereum.ts'
import {
  hashTypedData,
  type NameAndVersion,
  optional,
  type StructType,
  string,
  struct,
} from '../eip712/typed-data.ts'
import { refuseSecret } from '../mistake.ts'
import {
  BLINDED_MESSAGE_BYTES,
  type BlindedMessage,
  parseBlindedMessage,
} from '../poprf/blinded-message.ts'
import type { Rule } from '../rules/rule.ts'

export type Endpoint = 'sign' | 'quotaStatus' | 'disable'

/** `cip40`: as the document says. `celo`: as the deployed service answers and its clients expect. */
export type Conduct = 'cip40' | 'celo'

export interface DomainKind extends NameAndVersion {
  readonly endpoints: readonly Endpoint[]
  /**
   * Throws for anything malformed. Does no curve arithmetic and calls no other service. Fields that it
   * does not know are hashed by no one: `cip40` refuses them, `celo` ignores them as the deployed service does.
   */
  read(endpoint: Endpoint, body: Field, conduct?: Conduct): DomainRequest
  /** Of the domain alone, for clients. */
  hash(domain: Field): Uint8Array
}

/** A well-formed request. Neither authenticated nor charged. */
export type DomainRequest = SignRequest | StatusRequest

export interface SignRequest extends RequestOnDomain {
  readonly endpoint: 'sign'
  readonly blindedMessage: BlindedMessage
}

export interface StatusRequest extends RequestOnDomain {
  readonly endpoint: 'quotaStatus' | 'disable'
}

interface RequestOnDomain {
  /** Names the domain: the key of its record, and the public input of its evaluations. */
  readonly domainHash: Uint8Array
  /** Over the whole request but its signature: equal for exact retries only. */
  readonly signingHash: Uint8Array
  readonly claim: Claim
}

/** Who makes a request, with which nonce, and by which rule it is decided. */
export interface Claim {
  /** Undefined if the request is authorised; else what was found instead. */
  authenticate(
    signingHash: Uint8Array,
    conduct: Conduct,
    recover: Recover,
  ): Promise<string | undefined>
  readonly nonce: AttemptNonce
  /** Whose quota it is, where one domain has many; else the domain's own. */
  readonly account?: string
  /** Called once the request is authenticated, and not for what is refused before. */
  rule(): Promise<Rule>
}

/**
 * - `none`: the domain has no nonce.
 * - `counted`: the nonce must not be below the counter, and the counter goes up by one (deployed).
 * - `index`: the nonce is the attempt's index, and the counter becomes nonce + 1.
 */
type AttemptNonce =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'counted' | 'index'
      readonly value: number | undefined
      readonly required: boolean
    }

export const NO_NONCE: AttemptNonce = { kind: 'none' }

/** For a domain without an owner. */
export const openToAll = async (): Promise<undefined> => undefined

interface KindDefinition<D extends NameAndVersion, O> extends NameAndVersion, KindTypes<D, O> {
  /** Every domain can sign; the other endpoints are optional. */
  readonly endpoints: readonly Endpoint[]
  /** The options with their signature at its zero value. */
  unsigned(options: O): O
  /** Throws if the domain breaks a bound of its kind. */
  claim(domain: D, options: O, endpoint: Endpoint): Claim
}

export const defineKind = <D extends NameAndVersion, O>(kind: KindDefinition<D, O>): DomainKind => {
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
    read: (endpoint, body, conduct = 'cip40') => {
      const others = conduct === 'celo' ? 'ignored' : 'refused'
      const { domain, options, blindedMessage, hashWith } = types[endpoint].read(body, others)
      const request = {
        claim: kind.claim(domain, options, endpoint),
        domainHash: hashDomain(domain),
        signingHash: hashWith(kind.unsigned(options)),
      }
      return endpoint === 'sign'
        ? { ...request, endpoint, blindedMessage: readBlindedMessage(blindedMessage) }
        : { ...request, endpoint }
    },
  }
}

/** Decoders disagree about spare bits, padding and other alphabets: one message has one text. */
function readBlindedMessage(text: string | undefined): BlindedMessage {
  assert(text !== undefined, 'the type of a request to sign has a blinded message')
  const bytes = canonicalBase64(text)
  if (bytes?.length === BLINDED_MESSAGE_BYTES) return parseBlindedMessage(bytes)
  return refuseSecret({
    code: 'REQUEST_INVALID',
    thing: 'blindedMessage',
    rule: `must be ${BLINDED_MESSAGE_BYTES} bytes in canonical base64`,
    finding: bytes === undefined ? 'other text' : `${bytes.length} bytes`,
  })
}

function canonicalBase64(text: string): Uint8Array | undefined {
  try {
    const binary = atob(text)
    return btoa(binary) === text
      ? Uint8Array.from(binary, (letter) => letter.charCodeAt(0))
      : undefined
  } catch {
    return undefined
  }
}

// The three requests of CIP-40 as EIP-712 structs, for the types of one kind of domain.

interface KindTypes<D, O> {
  readonly domain: StructType<D>
  readonly options: StructType<O>
  /**
   * Whether a request carries its type's name as a first, hashed field, as those of the deployed
   * domain do. The document has no such field; clients of other domains may still send it.
   */
  readonly tagged: boolean
}

interface RequestType<D, O> {
  readonly typeString: string
  read(body: Field, others?: OtherFields): RequestFields<D, O>
}

interface RequestFields<D, O> {
  readonly domain: D
  readonly options: O
  /** In base64. Only in a request to sign. */
  readonly blindedMessage: string | undefined
  /** The hash of the request with these options instead of its own. */
  hashWith(options: O): Uint8Array
}

export const requestType = <D, O>(
  endpoint: Endpoint,
  { domain, options, tagged }: KindTypes<D, O>,
): RequestType<D, O> => {
  const { name, signedUnder } = REQUESTS[endpoint]
  const common = { domain, options, sessionID: optional(string) }
  const blinded = { ...common, blindedMessage: string }
  if (endpoint === 'sign') {
    return tagged
      ? reader(signedUnder, struct(name, { ...blinded, type: string }, 'type'), tagged)
      : reader(signedUnder, struct(name, blinded), tagged)
  }
  return tagged
    ? reader(signedUnder, struct(name, { ...common, type: string }, 'type'), tagged)
    : reader(signedUnder, struct(name, common), tagged)
}

/** The version is that of the request, not of the domain; the second name is the document's own. */
export const REQUESTS: Readonly<
  Record<Endpoint, { readonly name: string; readonly signedUnder: NameAndVersion }>
> = {
  sign: {
    name: 'DomainRestrictedSignatureRequest',
    signedUnder: { name: 'ODIS Domain Restricted Signature Request', version: '1' },
  },
  quotaStatus: {
    name: 'DomainQuotaStatusRequest',
    signedUnder: { name: 'ODIS Domain Quota Status', version: '1' },
  },
  disable: {
    name: 'DisableDomainRequest',
    signedUnder: { name: 'ODIS Disable Domain Request', version: '1' },
  },
}

interface WireRequest<D, O> {
  readonly domain: D
  readonly options: O
  readonly blindedMessage?: string
}

function reader<D, O, R extends WireRequest<D, O>>(
  signedUnder: NameAndVersion,
  type: StructType<R>,
  tagged: boolean,
): RequestType<D, O> {
  return {
    typeString: type.typeString,
    read: (body, others) => {
      const request = type.read(tagged ? body : withoutTag(body), others)
      checkTag(body, type.name)
      return {
        domain: request.domain,
        options: request.options,
        blindedMessage: request.blindedMessage,
        hashWith: (options) => hashTypedData(signedUnder, type, { ...request, options }),
      }
    },
  }
}

function checkTag({ thing, node }: Field, name: string): void {
  if (node.kind !== 'map') return
  const tag = node.entries.find(({ key }) => key === 'type')?.value
  if (tag === undefined || (tag.kind === 'scalar' && tag.quoted && tag.text === name)) return
  refuseField({ thing: `${thing}.type`, node: tag }, 'FIELD_VALUE', `must be ${quote(name)}`)
}

function withoutTag(body: Field): Field {
  const { node } = body
  if (node.kind !== 'map') return body
  return { ...body, node: { ...node, entries: node.entries.filter(({ key }) => key !== 'type') } }
}
