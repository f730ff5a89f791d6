/** EIP-712 as the published library of the deployed domain hashes and signs, vector by vector. */
import { describe, expect, test } from 'vitest'
import { jsonField } from '../../../test/support/json-field.ts'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { vectors } from '../../../test/support/vectors.ts'
import { LinearBackoffDomain } from '../domains/cip40-examples.ts'
import { type Endpoint, requestType } from '../domains/domain-kind.ts'
import { SequentialDelayDomain, SequentialDelayDomainOptions } from '../domains/sequential-delay.ts'
import { keccakText, toHex } from './ethereum.ts'
import { recover } from './recover.ts'
import {
  bool,
  domainSeparator,
  hashTypedData,
  type NameAndVersion,
  string,
  struct,
  uint256,
} from './typed-data.ts'

interface RequestVector {
  endpoint: string
  eip712Domain: NameAndVersion
  typeString: string
  typeHash: string
  domainSeparator: string
  unsignedRequest: { options: unknown }
  signingHash: string
  signature?: string
  signerAddress?: string
  signedRequest?: unknown
  signedRequestHash?: string
}

interface DomainVector {
  name: string
  domain: NameAndVersion
  typeString: string
  typeHash: string
  domainSeparator: string
  structHash: string
  domainHash: string
  requests: RequestVector[]
}

const { vectors: domains } = vectors<{ vectors: DomainVector[] }>(
  'odis/eip712-sequential-delay.json',
)

/** The only vector that is read differently: the library hashes what the document forbids. */
const REFUSED = 'nonzero-value-while-undefined (MUST be rejected per CIP-40; library hashes it)'

const hex = (bytes: Uint8Array): string => `0x${toHex(bytes)}`
const types = { domain: SequentialDelayDomain, options: SequentialDelayDomainOptions, tagged: true }
const endpointOf = (path: string): Endpoint => {
  const name = path.replace('/domain/', '')
  if (name === 'sign' || name === 'quotaStatus' || name === 'disable') return name
  throw new Error(`no endpoint: ${path}`)
}

describe('the deployed Sequential Delay Domain', () => {
  for (const vector of domains.filter(({ name }) => name !== REFUSED)) {
    test(`${vector.name}: type string, separator, struct and domain hash`, () => {
      const domain = SequentialDelayDomain.read(jsonField(vector.domain))
      expect(SequentialDelayDomain.typeString).toBe(vector.typeString)
      expect(hex(SequentialDelayDomain.typeHash)).toBe(vector.typeHash)
      expect(hex(domainSeparator(domain))).toBe(vector.domainSeparator)
      expect(hex(SequentialDelayDomain.encode(domain))).toBe(vector.structHash)
      expect(hex(hashTypedData(domain, SequentialDelayDomain, domain))).toBe(vector.domainHash)
    })

    test(`${vector.name}: its requests`, () => {
      for (const request of vector.requests) {
        const type = requestType(endpointOf(request.endpoint), types)
        expect(type.typeString).toBe(request.typeString)
        expect(hex(keccakText(type.typeString))).toBe(request.typeHash)
        expect(hex(domainSeparator(request.eip712Domain))).toBe(request.domainSeparator)
        const read = type.read(jsonField(request.unsignedRequest))
        const hash = read.hashWith(read.options)
        expect(hex(hash)).toBe(request.signingHash)
        if (request.signature === undefined) continue
        expect(recover(hash, request.signature)?.address).toBe(request.signerAddress?.toLowerCase())
        const signed = type.read(jsonField(request.signedRequest))
        expect(hex(signed.hashWith(signed.options))).toBe(request.signedRequestHash)
        expect(hex(signed.hashWith(read.options))).toBe(request.signingHash)
      }
    })
  }

  test('a value other than zero that is not defined is refused, though the library hashes it', () => {
    const vector = domains.find(({ name }) => name === REFUSED)
    expect(mistakeOf(() => SequentialDelayDomain.read(jsonField(vector?.domain)))).toMatchObject({
      code: 'FIELD_VALUE',
      rule: 'must hold 0 as its value where it is not defined',
    })
  })
})

describe('CIP-40, "Domain serialization"', () => {
  interface Variant {
    typeString: string
    typeHash: string
    structHash: string
    hash: string
  }
  const example = vectors<{
    domain: NameAndVersion
    domainSeparator: string
    eip712Sorted: Variant
    seedLiteralOrder: Variant
  }>('odis/eip712-linear-backoff.json')
  const domain = LinearBackoffDomain.read(jsonField(example.domain))

  test('the example of the linear backoff domain has the hash of its sorted type string', () => {
    const { typeString, typeHash, structHash, hash } = example.eip712Sorted
    expect(LinearBackoffDomain.typeString).toBe(typeString)
    expect(hex(LinearBackoffDomain.typeHash)).toBe(typeHash)
    expect(hex(domainSeparator(domain))).toBe(example.domainSeparator)
    expect(hex(LinearBackoffDomain.encode(domain))).toBe(structHash)
    expect(hex(hashTypedData(domain, LinearBackoffDomain, domain))).toBe(hash)
  })

  test('erratum: the type string as printed, uint256 before string, is not sorted and not used', () => {
    const { typeString, typeHash, hash } = example.seedLiteralOrder
    expect(hex(keccakText(typeString))).toBe(typeHash)
    expect(LinearBackoffDomain.typeString).not.toBe(typeString)
    expect(hex(hashTypedData(domain, LinearBackoffDomain, domain))).not.toBe(hash)
  })

  test('Tree(bool alive,string family,uint256 height), as the document spells it', () => {
    const tree = struct('Tree', { family: string, height: uint256, alive: bool })
    expect(tree.typeString).toBe('Tree(bool alive,string family,uint256 height)')
  })
})
