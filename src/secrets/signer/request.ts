/** From the bytes and the header of a request to what a known kind of domain has read, or the reason why not. */
import { HeadgateError, quote } from '../../core/errors.ts'
import type { Field } from '../../documents/field.ts'
import { parseJson } from '../../documents/json.ts'
import type { Conduct, DomainRequest, Endpoint } from '../domains/domain-kind.ts'
import type { DomainRegistry } from '../domains/domain-registry.ts'
import { toHex } from '../eip712/ethereum.ts'
import type { NameAndVersion } from '../eip712/typed-data.ts'
import { refuseSecret } from '../mistake.ts'
import type { EvaluationKey } from '../poprf/pool/evaluator.ts'
import { KEY_VERSION_HEADER, type SignerRefusal, signerRefusal } from './response.ts'

/** 64 stages with every field spelt out are 13 kB; the deployed service takes 200 kB. */
export const MAX_SIGNER_BODY_BYTES = 65_536

interface ReadingOptions {
  readonly registry: DomainRegistry
  readonly endpoint: Endpoint
  readonly conduct: Conduct
}

/** Unknown and deprecated domains are refused before anything else in the request is looked at. */
export const readRequest = (
  bytes: Uint8Array,
  options: ReadingOptions,
): DomainRequest | SignerRefusal => {
  if (bytes.length > MAX_SIGNER_BODY_BYTES) {
    const rule = `the body: must be at most ${MAX_SIGNER_BODY_BYTES} bytes`
    return signerRefusal('BODY_TOO_LARGE', `${rule}, found ${bytes.length}`)
  }
  try {
    return readBody(parseBody(bytes), options)
  } catch (error) {
    if (error instanceof HeadgateError) return signerRefusal('MALFORMED_REQUEST', error.message)
    throw error
  }
}

function readBody(
  body: Field,
  { registry, endpoint, conduct }: ReadingOptions,
): DomainRequest | SignerRefusal {
  const domain = domainNamed(body)
  if (domain === undefined) {
    const rule = 'the request: must hold a domain with a name and a version'
    return signerRefusal('MALFORMED_REQUEST', rule)
  }
  const found = registry.find(domain.name, domain.version)
  const title = () => `the domain ${quote(domain.name)} ${quote(domain.version)}`
  if (found === undefined) {
    return signerRefusal('DOMAIN_UNKNOWN', `${title()} is not known here`)
  }
  if (found.kind?.endpoints.includes(endpoint) === false) {
    return signerRefusal('ENDPOINT_UNSUPPORTED', `${title()} has no ${endpoint}`)
  }
  if (found.deprecated) {
    return signerRefusal('DOMAIN_DEPRECATED', `${title()} is no longer served`)
  }
  return found.kind.read(endpoint, body, conduct)
}

function parseBody(bytes: Uint8Array): Field {
  return { thing: 'request', node: parseJson(decodeUtf8(bytes), 'request') }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    const rule = 'must be UTF-8 text'
    return refuseSecret({ code: 'REQUEST_INVALID', thing: 'request', rule, finding: 'other bytes' })
  }
}

/** Checks nothing else yet: name and version decide how the rest is read. */
function domainNamed({ node }: Field): NameAndVersion | undefined {
  const domain =
    node.kind === 'map' ? node.entries.find(({ key }) => key === 'domain')?.value : undefined
  if (domain?.kind !== 'map') return undefined
  const text = (name: string): string | undefined => {
    const value = domain.entries.find(({ key }) => key === name)?.value
    return value?.kind === 'scalar' && value.quoted ? value.text : undefined
  }
  const [name, version] = [text('name'), text('version')]
  return name === undefined || version === undefined ? undefined : { name, version }
}

// The key that a client asks for.

export interface SignerKeys {
  /** The version that answers where a request names none. */
  readonly current: number
  /** Asked anew for each evaluation: keys come and go while a signer runs. */
  find(version: number): AnsweringKey | undefined
}

interface AnsweringKey extends EvaluationKey {
  /** Tells a key from another under the same version, be it on a signer that shares the store. Without it the version must do. */
  readonly publicKey?: Uint8Array
}

export interface ChosenKey {
  readonly version: number
  readonly name: string
}

/** As many bytes of a point as no two keys have in common. */
const NAME_BYTES = 8

/** Of a version, and of its key where that shows what is public of it. Shares of one key have one name, as their answers are one. */
export const keyName = (version: number, { publicKey }: AnsweringKey): string =>
  publicKey === undefined
    ? String(version)
    : `${version}-${toHex(publicKey.subarray(0, NAME_BYTES))}`

/** By the header as it came. Deployed clients may send `undefined` as text. */
export const chooseKey = (
  keys: SignerKeys,
  header: string | undefined,
): ChosenKey | SignerRefusal => {
  const text = header?.trim() ?? ''
  const asked = text === '' || text === 'undefined' ? String(keys.current) : text
  const version = /^(?:0|[1-9]\d{0,8})$/.test(asked) ? Number(asked) : undefined
  const key = version === undefined ? undefined : keys.find(version)
  return version !== undefined && key !== undefined
    ? { version, name: keyName(version, key) }
    : unknownKey(header?.slice(0, 20) ?? null)
}

/** Also for a key that was there when the request came, and is no longer. */
export const unknownKey = (asked: string | number | null): SignerRefusal => {
  const rule = `${KEY_VERSION_HEADER}: must name a key of this signer`
  return signerRefusal('KEY_VERSION_INVALID', `${rule}, found ${JSON.stringify(asked)}`)
}
