/** The hashes of the suite against the published vectors. */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { hex, utf8 } from '../../../test/support/hex.ts'
import { vectors } from '../../../test/support/vectors.ts'
import { blake2s, blake2xs } from './blake2xs.ts'
import { hashToScalar } from './blinded-message.ts'
import { encodeGt } from './curve/gt.ts'
import { pair } from './curve/pairing.ts'
import { encodeG1, encodeG2, G1_GENERATOR, G2_GENERATOR } from './curve/points.ts'
import { encodeScalar } from './curve/scalar.ts'
import { hashToG1, hashToG2 } from './hash-to-curve.ts'

interface Primitives {
  g1: { utf8: string; point: string }[]
  g2: { utf8: string; point: string }[]
  hashToScalar: { domain: string; utf8: string; scalarLE: string }[]
  directHash: { domain: string; utf8: string; bytes: number; digest: string }[]
  generators: { g1: string; g2: string }
  pairingOfGenerators: string
}

const primitives = vectors<Primitives>('odis/bls12-377-primitives.json')

test('BLAKE2s with the parameters of RFC 7693 is the common one', () => {
  const plain = {
    digestLength: 32,
    fanout: 1,
    depth: 1,
    leafLength: 0,
    nodeOffset: 0,
    xofLength: 0,
    innerLength: 0,
    personal: new Uint8Array(8),
  }
  for (const length of [0, 1, 63, 64, 65, 127, 128, 129, 1000]) {
    const message = new Uint8Array(length).fill(length)
    const known = createHash('blake2s256').update(message).digest('hex')
    expect(hex(blake2s(plain, message))).toBe(known)
  }
})

describe('bls12-377-primitives.json', () => {
  test.each(primitives.directHash)('expands "$utf8" in $domain to $bytes bytes', (vector) => {
    expect(hex(blake2xs(vector.domain, utf8(vector.utf8), vector.bytes))).toBe(vector.digest)
  })

  test.each(primitives.hashToScalar)('hashes "$utf8" in $domain to a scalar', (vector) => {
    expect(hex(encodeScalar(hashToScalar(vector.domain, utf8(vector.utf8))))).toBe(vector.scalarLE)
  })

  test.each(primitives.g1)('hashes "$utf8" to G1', ({ utf8: text, point }) => {
    expect(hex(encodeG1(hashToG1(utf8(text))))).toBe(point)
  })

  test.each(primitives.g2)('hashes "$utf8" to G2', ({ utf8: text, point }) => {
    expect(hex(encodeG2(hashToG2(utf8(text))))).toBe(point)
  })

  test('has the same generators', () => {
    expect(hex(encodeG1(G1_GENERATOR))).toBe(primitives.generators.g1)
    expect(hex(encodeG2(G2_GENERATOR))).toBe(primitives.generators.g2)
  })

  test('pairs the generators to the same element', () => {
    expect(hex(encodeGt(pair(G1_GENERATOR, G2_GENERATOR)))).toBe(primitives.pairingOfGenerators)
  })
})
