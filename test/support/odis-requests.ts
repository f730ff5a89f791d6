/** Requests to a signer for every kind of domain, signed by keys that are public. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import type { Endpoint } from '../../src/secrets/domains/domain-kind.ts'
import { signingHash } from '../../src/secrets/domains/index.ts'
import { defined, type Fields, none, ownerKey, type Sample } from './odis-samples.ts'
import { vectors } from './vectors.ts'

/** A blinded message that a client really made. */
export const blindedMessage = Buffer.from(
  vectors<{ threshold: { cases: { blindedMessage: string }[] }[] }>('odis/poprf.json').threshold[0]
    ?.cases[0]?.blindedMessage ?? '',
  'hex',
).toString('base64')

export interface Asking {
  readonly endpoint?: Endpoint
  readonly nonce?: number
  readonly session?: string
  /** Who asks. Default: the owner of the domain. */
  readonly key?: Uint8Array
}

/** The body of a request, with a proof where the domain wants one. */
export const requestFor = (sample: Sample, asking: Asking = {}): Fields => {
  const { endpoint = 'sign', key = keyOf(sample) } = asking
  const body = withoutProof(sample, asking)
  const proof = proofOf(sample, endpoint, body, key)
  return { ...body, options: withProof(sample, Object(body['options']), proof) }
}

/** The same without a signature. */
export const withoutProof = (sample: Sample, asking: Asking = {}): Fields => {
  const { domain } = sample
  const { endpoint = 'sign', nonce, session = '' } = asking
  const field = { nonce: nonce === undefined ? none(0) : defined(nonce) }
  const options = { ...sample.options, ...(sample.nonce === 'none' ? {} : field) }
  return {
    ...(domain['name'] === 'ODIS Sequential Delay Domain' ? { type: TYPES[endpoint] } : {}),
    domain,
    options: withProof(sample, options, ''),
    ...(endpoint === 'sign' ? { blindedMessage } : {}),
    sessionID: session === '' ? none('') : defined(session),
  }
}

const TYPES: Readonly<Record<Endpoint, string>> = {
  sign: 'DomainRestrictedSignatureRequest',
  quotaStatus: 'DomainQuotaStatusRequest',
  disable: 'DisableDomainRequest',
}

const keyOf = ({ key = ownerKey }: Sample): Uint8Array => key

function withProof({ proof }: Sample, options: Fields, text: string): Fields {
  switch (proof) {
    case 'text':
      return { ...options, signature: text }
    case 'authorization':
    case 'contract':
      return { ...options, authorization: text }
    case 'optional':
      return { ...options, signature: { defined: text !== '', value: text } }
    case undefined:
      return options
    default:
      return proof satisfies never
  }
}

function proofOf(sample: Sample, endpoint: Endpoint, body: Fields, key: Uint8Array): string {
  if (sample.proof === undefined) return ''
  if (sample.proof === 'contract') return key === keyOf(sample) ? dataOf(sample) : '0xbad0'
  const { name, version } = sample.domain
  const domain = { ...sample.domain, name: `${name}`, version: `${version}` }
  const hash = signingHash(endpoint, { ...body, domain })
  const [recovery = 0, ...rest] = secp256k1.sign(hash, key, {
    prehash: false,
    format: 'recovered',
  })
  return `0x${Buffer.from([...rest, recovery + 27]).toString('hex')}`
}

/** What the contract wants to see. */
const dataOf = ({ domain }: Sample): string => String(Object(domain['domainData']).value)
