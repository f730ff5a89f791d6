/** A domain of every kind, small enough to use up, and what a test must know of it. */
import { createHash } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import type { Endpoint } from '../../src/secrets/domains/domain-kind.ts'
import { addressOfPoint } from '../../src/secrets/eip712/ethereum.ts'

/** Test keys: hashes of plain words. */
const secretOf = (who: string) => new Uint8Array(createHash('sha256').update(who).digest())
export const ownerKey = secretOf('owner')
export const strangerKey = secretOf('stranger')

export const addressOfKey = (key: Uint8Array) => addressOfPoint(secp256k1.getPublicKey(key, false))
export const pointOfKey = (key: Uint8Array) =>
  Buffer.from(secp256k1.getPublicKey(key, true)).toString('hex')
const owner = addressOfKey(ownerKey)
const stranger = addressOfKey(strangerKey)

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
const expressionStage = (delay: string, batch: number, endless = false) => ({
  ...backupStage(delay, batch),
  endless,
})

export type Fields = Readonly<Record<string, unknown>>

export interface Sample {
  readonly domain: Fields
  readonly options: Fields
  readonly endpoints: readonly Endpoint[]
  /** How a request proves who sends it, and in which form; absent where anyone may. */
  readonly proof?: 'text' | 'optional' | 'authorization' | 'contract'
  /** Of the domain's owner. Default: `ownerKey`. */
  readonly key?: Uint8Array
  readonly nonce: 'none' | 'optional' | 'required'
  /** How many attempts there are at first; Infinity where none is counted. */
  readonly quota: number
  /** How long until one more, in seconds; absent where there is none. */
  readonly wait?: number
  /** Laid over a domain that is not counted: it opens `wait` seconds after the fake clock's start. */
  readonly closed?: Fields
  /** Each is the domain with one field changed; together they change every one but name and version. */
  readonly changes: readonly Variation[]
  /** Each is the domain under other options than a nonce and a signature. */
  readonly otherOptions: readonly Variation[]
}

export type Variation = Partial<Pick<Sample, 'domain' | 'options' | 'proof' | 'key'>>

export const varied = (sample: Sample, variation: Variation): Sample => ({
  ...sample,
  ...variation,
  domain: { ...sample.domain, ...variation.domain },
  options: { ...sample.options, ...variation.options },
})

export type SampleName = keyof ReturnType<typeof samples>

/** `salt` makes instances that share nothing. Each allows two attempts where it counts. */
export const samples = (salt: string) => ({
  'sequential delay': sequentialDelay(salt),
  'sequential delay without address': ownerless(salt),
  'cloud backup': cloudBackup(salt),
  'cloud backup 2': cloudBackup2(salt),
  'linear backoff': linearBackoff(salt),
  'not before': notBefore(salt),
  peppered: peppered(),
  'phone number': phoneNumber(),
  'smart contract': smartContract(salt),
})

const ALL = ['sign', 'quotaStatus', 'disable'] as const
const WITHOUT_OWNER = ['sign', 'quotaStatus'] as const

const sequentialDelay = (salt: string): Sample => ({
  domain: {
    name: 'ODIS Sequential Delay Domain',
    version: '1',
    stages: [stage(0, 2), stage(60, 1)],
    address: defined(owner),
    salt: defined(salt),
  },
  options: {},
  endpoints: ALL,
  proof: 'optional',
  nonce: 'required',
  quota: 2,
  wait: 60,
  changes: [
    { domain: { stages: [stage(0, 3), stage(60, 1)] } },
    { domain: { address: defined(stranger) }, key: strangerKey },
    { domain: { salt: defined(`${salt}, another`) } },
    { domain: { salt: none('') } },
  ],
  otherOptions: [],
})

/** The deployed domain with a number of attempts; its nonce may run ahead, so all requests are valid. */
export const withQuota = (salt: string, quota: number): Sample => ({
  ...varied(sequentialDelay(salt), { domain: { stages: [stage(0, quota)] } }),
  quota,
})

const ownerless = (salt: string): Sample => ({
  domain: {
    name: 'ODIS Sequential Delay Domain',
    version: '1',
    stages: [stage(0, 2)],
    address: none(`0x${'0'.repeat(40)}`),
    salt: defined(salt),
  },
  options: { signature: none('') },
  endpoints: ALL,
  nonce: 'optional',
  quota: 2,
  changes: [
    { domain: { stages: [stage(0, 3)] } },
    { domain: { address: defined(owner) }, proof: 'optional' },
    { domain: { salt: none('') } },
  ],
  otherOptions: [],
})

const cloudBackup = (salt: string): Sample => {
  const wait = 100 + salt.length
  const stages = [backupStage('0', 2), backupStage(`${wait} seconds`)]
  return {
    domain: {
      name: 'ODIS Cloud Backup Domain',
      version: '1',
      rateLimit: { stages },
      publicKey: pointOfKey(ownerKey),
    },
    options: {},
    endpoints: ALL,
    proof: 'text',
    nonce: 'none',
    quota: 2,
    wait,
    changes: [
      { domain: { rateLimit: { stages: stages.slice(1).map(() => backupStage('0', 2)) } } },
      { domain: { publicKey: pointOfKey(strangerKey) }, key: strangerKey },
    ],
    otherOptions: [],
  }
}

const cloudBackup2 = (salt: string): Sample => {
  const wait = 100 + salt.length
  const first = expressionStage('0', 2)
  const stages = [first, expressionStage(`d[i-1] + ${wait} seconds`, 1, true)]
  return {
    ...cloudBackup(salt),
    domain: {
      name: 'ODIS Cloud Backup Domain',
      version: '2',
      rateLimit: { stages },
      publicKey: pointOfKey(ownerKey),
    },
    nonce: 'required',
    changes: [
      { domain: { rateLimit: { stages: [first] } } },
      { domain: { publicKey: pointOfKey(strangerKey) }, key: strangerKey },
    ],
  }
}

const linearBackoff = (salt: string): Sample => ({
  domain: {
    name: 'ODIS Linear Backoff Domain',
    version: '1',
    refresh: defined(30_000),
    cap: 2,
    salt: defined(salt),
  },
  options: {},
  endpoints: WITHOUT_OWNER,
  nonce: 'none',
  quota: 2,
  wait: 30,
  changes: [
    { domain: { refresh: defined(60_000) } },
    { domain: { refresh: none(0) } },
    { domain: { cap: 3 } },
    { domain: { salt: none('') } },
  ],
  otherOptions: [],
})

const notBefore = (salt: string): Sample => {
  const opening = 1_000_000 + salt.length
  return {
    domain: { name: 'ODIS Not Before Domain', version: '1', notBefore: opening },
    options: {},
    endpoints: WITHOUT_OWNER,
    nonce: 'none',
    quota: Number.POSITIVE_INFINITY,
    wait: 90,
    closed: { notBefore: Date.UTC(2024, 0, 1) / 1_000 + 90 },
    changes: [{ domain: { notBefore: opening + 1 } }],
    otherOptions: [],
  }
}

const peppered = (): Sample => ({
  domain: { name: 'ODIS Peppered Domain', version: '1', address: owner, cap: defined(2) },
  options: {},
  endpoints: ALL,
  proof: 'text',
  nonce: 'none',
  quota: 2,
  changes: [
    { domain: { address: stranger }, key: strangerKey },
    { domain: { cap: defined(3) } },
    { domain: { cap: none(0) } },
  ],
  otherOptions: [],
})

/** One for all: there is nothing in it that could be changed. */
const phoneNumber = (): Sample => ({
  domain: { name: 'ODIS Phone Number Domain', version: '1' },
  options: { account: owner, hashedPhoneNumber: none('') },
  endpoints: WITHOUT_OWNER,
  proof: 'authorization',
  nonce: 'none',
  quota: 2,
  changes: [],
  otherOptions: [
    { options: { account: stranger }, key: strangerKey },
    { options: { hashedPhoneNumber: defined('0xabc') } },
  ],
})

/** Contracts that allow any client that sends the domain's data, and their chains. */
export const CONTRACTS = [`0x${'e1'.repeat(20)}`, `0x${'e2'.repeat(20)}`] as const
export const CHAINS = [44_787, 42_220] as const

const smartContract = (salt: string): Sample => {
  const data = Buffer.from(`data, ${salt}`).toString('hex')
  return {
    domain: {
      name: 'ODIS Smart Contract Domain',
      version: '1',
      contractAddress: CONTRACTS[0],
      chainId: CHAINS[0],
      domainData: defined(`0x${data}`),
    },
    options: { notBeforeBlock: none(0) },
    endpoints: ['sign'],
    proof: 'contract',
    nonce: 'none',
    quota: Number.POSITIVE_INFINITY,
    changes: [
      { domain: { contractAddress: CONTRACTS[1] } },
      { domain: { chainId: CHAINS[1] } },
      { domain: { domainData: defined(`0x${data}00`) } },
      { domain: { domainData: none('') } },
    ],
    otherOptions: [{ options: { notBeforeBlock: defined(1) } }],
  }
}
