/** The suite, step by step, against what the published library computed. */
import { describe, expect, test } from 'vitest'
import { fromHex, hex, utf8 } from '../../../test/support/hex.ts'
import { vectors } from '../../../test/support/vectors.ts'
import { decodeFactor, hide, unblind, unblindPartial } from './blind.ts'
import { decodeBlindedMessage } from './blinded-message.ts'
import { encodeG2 } from './curve/points.ts'
import { evaluatePartial, evaluatePlain, evaluatePlainPartial } from './evaluate.ts'
import {
  decodeKeyShare,
  decodePolynomial,
  encodePolynomial,
  publicKeyOf,
  sharePublicKey,
} from './key-share.ts'
import { aggregate, aggregatePlain } from './shares.ts'

interface Shared {
  polynomial: string
  shares: string[]
  publicKeyBase64: string
}

interface Threshold extends Shared {
  n: number
  t: number
  cases: {
    message: string
    tag: string
    blindedMessage: string
    blindingFactor: string
    blindPartials: string[]
    blindAggregate: string
    unblindedPartials: string[]
    output: string
  }[]
}

interface Single {
  privateKey: string
  publicKey: string
  evals: { tagUtf8: string; messageUtf8: string; output: string }[]
}

interface Poprf {
  threshold: Threshold[]
  single: Single[]
  celoDevKeys: (Shared & { version: number })[]
}

const poprf = vectors<Poprf>('odis/poprf.json')

describe.each(poprf.threshold)('$t of $n', ({ t, shares, polynomial, publicKeyBase64, cases }) => {
  test.each(cases)('message "$message" under tag "$tag"', (vector) => {
    const tag = fromHex(vector.tag)
    const message = fromHex(vector.message)
    const blindedMessage = fromHex(vector.blindedMessage)
    const blindingFactor = fromHex(vector.blindingFactor)

    const { a, b } = hide(message, decodeFactor(blindingFactor))
    expect(hex(encodeG2(a)) + hex(encodeG2(b))).toBe(vector.blindedMessage.slice(2 * 96))
    expect(decodeBlindedMessage(blindedMessage).a.equals(a)).toBe(true)

    const partials = shares.map((share) => evaluatePartial(fromHex(share), tag, blindedMessage))
    expect(partials.map(hex)).toEqual(vector.blindPartials)

    const whole = aggregate(t, partials)
    expect(hex(whole)).toBe(vector.blindAggregate)
    expect(hex(aggregate(t, partials.toReversed().slice(0, t)))).toBe(vector.blindAggregate)

    const answer = { blindingFactor, tag, response: whole }
    expect(hex(unblind(Buffer.from(publicKeyBase64, 'base64'), answer))).toBe(vector.output)

    const parts = partials.map((response) =>
      unblindPartial(fromHex(polynomial), { blindingFactor, tag, response }),
    )
    expect(parts.map(hex)).toEqual(vector.unblindedPartials)
    expect(hex(aggregatePlain(t, parts))).toBe(vector.output)
    const plain = shares.map((share) => evaluatePlainPartial(fromHex(share), tag, message))
    expect(plain.map(hex)).toEqual(vector.unblindedPartials)
  })
})

describe.each(poprf.single)('the single key of "$seedUtf8"', ({ privateKey, publicKey, evals }) => {
  test('has its public key', () => {
    expect(hex(publicKeyOf(fromHex(privateKey)))).toBe(publicKey)
  })

  test.each(evals)('evaluates "$messageUtf8" under "$tagUtf8"', (vector) => {
    const { tagUtf8, messageUtf8, output } = vector
    const value = evaluatePlain(fromHex(privateKey), utf8(tagUtf8), utf8(messageUtf8))
    expect(hex(value)).toBe(output)
  })
})

const shared: Shared[] = [...poprf.threshold, ...poprf.celoDevKeys]

test('every shared key has the polynomial that its shares lie on', () => {
  for (const { polynomial, publicKeyBase64, shares } of shared) {
    const commitments = decodePolynomial(fromHex(polynomial))
    expect(hex(encodePolynomial(commitments))).toBe(polynomial)
    expect(commitments.slice(0, 1).map(encodeG2).map(hex)).toEqual([
      Buffer.from(publicKeyBase64, 'base64').toString('hex'),
    ])
    for (const share of shares) {
      const { index } = decodeKeyShare(fromHex(share))
      const own = publicKeyOf(fromHex(share).slice(4))
      expect(hex(sharePublicKey(fromHex(polynomial), index))).toBe(hex(own))
    }
  }
})
