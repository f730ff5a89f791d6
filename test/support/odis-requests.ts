/** Requests to a signer for every kind of domain, signed by keys that everybody knows. */
import { createHash } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import type { Endpoint } from '../../src/secrets/claim.ts'
import { addressOf } from '../../src/secrets/eip712/address.ts'
import { type DomainRegistry, domainRegistry, fixedPhoneQuota } from '../../src/secrets/index.ts'
import type { EvaluationKey } from '../../src/secrets/poprf/pool/evaluator.ts'
import { jsonField } from './json-field.ts'
import { vectors } from './vectors.ts'

/** Test keys: hashes of plain words. */
const secretOf = (who: string) => new Uint8Array(createHash('sha256').update(who).digest())
export const ownerKey = secretOf('owner')
export const strangerKey = secretOf('stranger')
export const addressOfKey = (key: Uint8Array) => addressOf(secp256k1.getPublicKey(key, false))
export const owner = addressOfKey(ownerKey)
export const ownerPoint = Buffer.from(secp256k1.getPublicKey(ownerKey, true)).toString('hex')

/** A blinded message that a client really made. */
export const blindedMessage = Buffer.from(
  vectors<{ threshold: { cases: { blindedMessage: string }[] }[] }>('odis/poprf.json').threshold[0]
    ?.cases[0]?.blindedMessage ?? '',
  'hex',
).toString('base64')

export const defined = <T>(value: T) => ({ defined: true, value })
export const none = <T>(zero: T) => ({ defined: false, value: zero })
export const stage = (delay: number, batch = 1) => ({
  delay,
  resetTimer: none(false),
  batchSize: defined(batch),
  repetitions: none(0),
})
const backupStage = (delay: string, batch = 1) => ({
  delay,
  cumulative: false,
  batch: defined(batch),
  repetitions: none(0),
})

export interface Sample {
  readonly domain: Readonly<Record<string, unknown>>
  /** What signs, and under which name; absent where nobody needs to. */
  readonly signature?: 'text' | 'optional' | 'authorization'
  readonly nonce: boolean
  /** How many attempts there are at first; Infinity where nobody counts. */
  readonly quota: number
  /** How long until one more, in seconds; absent where there is none. */
  readonly wait?: number
  readonly options: Readonly<Record<string, unknown>>
  readonly disable: boolean
  readonly quotaStatus: boolean
}

/** By a short name; `salt` makes instances that share nothing. Each allows two attempts where it counts. */
export const samples = (salt: string): Readonly<Record<string, Sample>> => ({
  'sequential delay': {
    domain: {
      name: 'ODIS Sequential Delay Domain',
      version: '1',
      stages: [stage(0, 2), stage(60, 1)],
      address: defined(owner),
      salt: defined(salt),
    },
    options: {},
    signature: 'optional',
    nonce: true,
    quota: 2,
    wait: 60,
    disable: true,
    quotaStatus: true,
  },
  'sequential delay without address': {
    domain: {
      name: 'ODIS Sequential Delay Domain',
      version: '1',
      stages: [stage(0, 2)],
      address: none(`0x${'0'.repeat(40)}`),
      salt: defined(salt),
    },
    options: { nonce: none(0), signature: none('') },
    nonce: false,
    quota: 2,
    disable: false,
    quotaStatus: true,
  },
  'cloud backup': {
    domain: {
      name: 'ODIS Cloud Backup Domain',
      version: '1',
      rateLimit: { stages: [backupStage('0', 2), backupStage(`${100 + salt.length} seconds`)] },
      publicKey: ownerPoint,
    },
    options: {},
    signature: 'text',
    nonce: false,
    quota: 2,
    wait: 100 + salt.length,
    disable: true,
    quotaStatus: true,
  },
  'cloud backup 2': {
    domain: {
      name: 'ODIS Cloud Backup Domain',
      version: '2',
      rateLimit: {
        stages: [
          { ...backupStage('0', 2), endless: false },
          { ...backupStage(`d[i-1] + ${100 + salt.length} seconds`), endless: true },
        ],
      },
      publicKey: ownerPoint,
    },
    options: {},
    signature: 'text',
    nonce: true,
    quota: 2,
    wait: 100 + salt.length,
    disable: true,
    quotaStatus: true,
  },
  'linear backoff': {
    domain: {
      name: 'ODIS Linear Backoff Domain',
      version: '1',
      refresh: defined(30_000),
      cap: 2,
      salt: defined(salt),
    },
    options: {},
    nonce: false,
    quota: 2,
    wait: 30,
    disable: false,
    quotaStatus: true,
  },
  'not before': {
    domain: { name: 'ODIS Not Before Domain', version: '1', notBefore: 1_000_000 + salt.length },
    options: {},
    nonce: false,
    quota: Number.POSITIVE_INFINITY,
    disable: false,
    quotaStatus: true,
  },
  peppered: {
    domain: { name: 'ODIS Peppered Domain', version: '1', address: owner, cap: defined(2) },
    options: {},
    signature: 'text',
    nonce: false,
    quota: 2,
    disable: true,
    quotaStatus: true,
  },
  'phone number': {
    domain: { name: 'ODIS Phone Number Domain', version: '1' },
    options: { account: owner, hashedPhoneNumber: none('') },
    signature: 'authorization',
    nonce: false,
    quota: 2,
    disable: false,
    quotaStatus: true,
  },
})

/** Phone numbers: two attempts, and one more for whoever owns `0xabc`. */
export const registry: DomainRegistry = domainRegistry({
  phoneQuota: fixedPhoneQuota({ base: 2, verified: 1, owns: (_, id) => id === '0xabc' }),
})

export interface Asking {
  readonly endpoint?: Endpoint
  readonly nonce?: number
  readonly session?: string
  readonly key?: Uint8Array
  /** Laid over the request before it is signed. */
  readonly fields?: Readonly<Record<string, unknown>>
}

/** The body of a request, signed where the domain wants it. */
export const requestFor = (sample: Sample, asking: Asking = {}): Record<string, unknown> => {
  const { endpoint = 'sign', nonce, session = '', key = ownerKey, fields = {} } = asking
  const turn = sample.nonce ? { nonce: nonce === undefined ? none(0) : defined(nonce) } : {}
  const unsigned = {
    ...(sample.domain['name'] === 'ODIS Sequential Delay Domain' ? { type: TYPES[endpoint] } : {}),
    domain: sample.domain,
    options: { ...sample.options, ...turn, ...signatureOf(sample, '') },
    ...(endpoint === 'sign' ? { blindedMessage } : {}),
    sessionID: session === '' ? none('') : defined(session),
    ...fields,
  }
  if (sample.signature === undefined) return unsigned
  const signature = signed(sample, endpoint, unsigned, key)
  return { ...unsigned, options: { ...unsigned.options, ...signatureOf(sample, signature) } }
}

export const EVALUATION_KEY: EvaluationKey = { kind: 'single', secret: new Uint8Array(32) }

const TYPES: Readonly<Record<Endpoint, string>> = {
  sign: 'DomainRestrictedSignatureRequest',
  quotaStatus: 'DomainQuotaStatusRequest',
  disable: 'DisableDomainRequest',
}

function signatureOf({ signature }: Sample, text: string): Record<string, unknown> {
  switch (signature) {
    case 'text':
      return { signature: text }
    case 'authorization':
      return { authorization: text }
    case 'optional':
      return { signature: { defined: text !== '', value: text } }
    case undefined:
      return {}
    default:
      return signature satisfies never
  }
}

function signed(sample: Sample, endpoint: Endpoint, body: object, key: Uint8Array): string {
  const { name, version } = sample.domain
  const found = registry.find(String(name), String(version))
  if (found === undefined) throw new Error(`no kind ${name} ${version}`)
  const { signingHash } = found.kind.read(endpoint, jsonField(body))
  const [recovery = 0, ...rest] = secp256k1.sign(signingHash, key, {
    prehash: false,
    format: 'recovered',
  })
  return `0x${Buffer.from([...rest, recovery + 27]).toString('hex')}`
}
