/** Everything that is refused, by what, and with which code. One table for the whole suite. */
import { describe, expect, test } from 'vitest'
import { withByte, withBytes } from '../../../test/support/blinded-messages.ts'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { parseBlindedMessage } from './blinded-message.ts'
import { writeLittleEndian } from './bytes.ts'
import { P } from './curve/field.ts'
import { encodeGt, GT_ONE } from './curve/gt.ts'
import { encodeG2, G2_GENERATOR, pointAtX2 } from './curve/points.ts'
import { R } from './curve/scalar.ts'
import {
  aggregate,
  aggregatePlain,
  blind,
  dealShares,
  evaluate,
  evaluatePartial,
  evaluatePlain,
  generatePrivateKey,
  MAX_MESSAGE_BYTES,
  MAX_TAG_BYTES,
  POPRF_ERROR_CODES,
  publicKeyOf,
  sharePublicKey,
  unblind,
  unblindPartial,
} from './index.ts'
import { encodePolynomial } from './key-share.ts'
import { loadEngine } from './pool/evaluator.ts'

const tag = Uint8Array.of(1)
const message = Uint8Array.of(2)
const key = generatePrivateKey()
const publicKey = publicKeyOf(key)
const { blindedMessage, blindingFactor } = blind(message)
const response = evaluate(key, tag, blindedMessage)
const { shares, polynomial } = dealShares(2, 2)
const [share = key, other = key] = shares
const partials = shares.map((own) => evaluatePartial(own, tag, blindedMessage))
const [partial = key] = partials

const FIRST_POINT = 96
const SECOND_POINT = 192
const tooLarge = writeLittleEndian(R, 32)
const fieldPrime = writeLittleEndian(P, 48)
const zero = new Uint8Array(32)
const infinity = withByte(new Uint8Array(96), 95, 0x40)
const longer = (bytes: Uint8Array) => Uint8Array.from([...bytes, 0])

/** x that no point has, and a point that is on the curve but not in the group. */
const at = (c0: bigint) => pointAtX2({ c0, c1: 0n }, false)
const abscissas = Array.from({ length: 64 }, (_, n) => BigInt(n))
const offCurve = withByte(new Uint8Array(96), 0, Number(abscissas.find((n) => at(n) === undefined)))
const offGroup = encodeG2(abscissas.map(at).find((point) => point !== undefined) ?? G2_GENERATOR)

const answer = (changed: Partial<Parameters<typeof unblind>[1]>) => () =>
  unblind(publicKey, { blindingFactor, tag, response, ...changed })
const blinded = (bytes: Uint8Array) => () => evaluate(key, tag, bytes)
const point = (bytes: Uint8Array) => blinded(withBytes(blindedMessage, FIRST_POINT, bytes))

const REFUSED: readonly (readonly [string, (typeof POPRF_ERROR_CODES)[number], () => unknown])[] = [
  [
    'a blinded message with a byte too many',
    'POPRF_LENGTH_INVALID',
    blinded(longer(blindedMessage)),
  ],
  [
    'a blinded message with a byte too few',
    'POPRF_LENGTH_INVALID',
    blinded(blindedMessage.subarray(1)),
  ],
  ['an empty blinded message', 'POPRF_LENGTH_INVALID', blinded(new Uint8Array())],
  ['a challenge of r', 'POPRF_SCALAR_INVALID', blinded(withBytes(blindedMessage, 0, tooLarge))],
  [
    'a first response of r',
    'POPRF_SCALAR_INVALID',
    blinded(withBytes(blindedMessage, 32, tooLarge)),
  ],
  [
    'a second response of r',
    'POPRF_SCALAR_INVALID',
    blinded(withBytes(blindedMessage, 64, tooLarge)),
  ],
  ['the point at infinity', 'POPRF_POINT_INVALID', point(infinity)],
  ['infinity with coordinates', 'POPRF_POINT_INVALID', point(withByte(offGroup, 95, 0x40))],
  ['a coordinate of p', 'POPRF_POINT_INVALID', point(withBytes(offGroup, 0, fieldPrime))],
  ['a second coordinate of p', 'POPRF_POINT_INVALID', point(withBytes(offGroup, 48, fieldPrime))],
  ['a stray bit above the number', 'POPRF_POINT_INVALID', point(withByte(offGroup, 95, 0x20))],
  ['an x without a point', 'POPRF_POINT_INVALID', point(offCurve)],
  ['a point outside the group', 'POPRF_POINT_INVALID', point(offGroup)],
  [
    'a second point outside the group',
    'POPRF_POINT_INVALID',
    blinded(withBytes(blindedMessage, SECOND_POINT, offGroup)),
  ],
  ['another point than the proven one', 'POPRF_PROOF_INVALID', point(encodeG2(G2_GENERATOR))],
  [
    'a point with its sign turned',
    'POPRF_PROOF_INVALID',
    blinded(withByte(blindedMessage, 191, (blindedMessage[191] ?? 0) ^ 0x80)),
  ],
  [
    'a proof of zeros',
    'POPRF_PROOF_INVALID',
    blinded(withBytes(blindedMessage, 0, new Uint8Array(96))),
  ],
  ['a private key of 0', 'POPRF_SCALAR_INVALID', () => evaluate(zero, tag, blindedMessage)],
  ['a private key of r', 'POPRF_SCALAR_INVALID', () => evaluatePlain(tooLarge, tag, message)],
  ['a share for a private key', 'POPRF_LENGTH_INVALID', () => evaluate(share, tag, blindedMessage)],
  [
    'a private key for a share',
    'POPRF_LENGTH_INVALID',
    () => evaluatePartial(key, tag, blindedMessage),
  ],
  [
    'a share of 0',
    'POPRF_SCALAR_INVALID',
    () => evaluatePartial(withBytes(share, 4, zero), tag, blindedMessage),
  ],
  [
    'a share whose index wraps',
    'POPRF_INDEX_INVALID',
    () =>
      evaluatePartial(withBytes(share, 0, Uint8Array.of(255, 255, 255, 255)), tag, blindedMessage),
  ],
  [
    'a tag beyond its bound',
    'POPRF_TAG_TOO_LONG',
    () => evaluate(key, new Uint8Array(MAX_TAG_BYTES + 1), blindedMessage),
  ],
  [
    'a message beyond its bound',
    'POPRF_MESSAGE_TOO_LONG',
    () => blind(new Uint8Array(MAX_MESSAGE_BYTES + 1)),
  ],
  [
    'a public key of infinity',
    'POPRF_POINT_INVALID',
    () => unblind(infinity, { blindingFactor, tag, response }),
  ],
  [
    'a blinding factor of 0',
    'POPRF_SCALAR_INVALID',
    answer({ blindingFactor: withBytes(blindingFactor, 0, zero) }),
  ],
  ['a short blinding factor', 'POPRF_LENGTH_INVALID', answer({ blindingFactor: zero })],
  [
    'a response with a byte too many',
    'POPRF_LENGTH_INVALID',
    answer({ response: longer(response) }),
  ],
  [
    'a response of ones',
    'POPRF_EVALUATION_INVALID',
    answer({ response: Uint8Array.from([...encodeGt(GT_ONE), ...encodeGt(GT_ONE)]) }),
  ],
  ['a response of zeros', 'POPRF_EVALUATION_INVALID', answer({ response: new Uint8Array(1152) })],
  [
    'a response outside the group',
    'POPRF_EVALUATION_INVALID',
    answer({ response: withByte(response, 0, (response[0] ?? 0) ^ 1) }),
  ],
  [
    'a response with a coordinate of p',
    'POPRF_EVALUATION_INVALID',
    answer({ response: withBytes(response, 48, fieldPrime) }),
  ],
  ['a response for another tag', 'POPRF_UNVERIFIED', answer({ tag: message })],
  [
    'a response under another key',
    'POPRF_UNVERIFIED',
    answer({ response: evaluate(generatePrivateKey(), tag, blindedMessage) }),
  ],
  [
    'a partial response as that of another share',
    'POPRF_UNVERIFIED',
    () => unblindPartial(polynomial, { blindingFactor, tag, response: withByte(partial, 0, 2) }),
  ],
  [
    'a partial response whose index wraps',
    'POPRF_INDEX_INVALID',
    () => aggregate(1, [withBytes(partial, 0, Uint8Array.of(255, 255, 255, 255))]),
  ],
  ['the same share twice', 'POPRF_INDEX_DUPLICATE', () => aggregate(2, [partial, partial])],
  ['a threshold of 0', 'POPRF_THRESHOLD_INVALID', () => aggregate(0, partials)],
  ['a threshold of 0 without shares', 'POPRF_THRESHOLD_INVALID', () => aggregatePlain(0, [])],
  [
    'a threshold that is no number',
    'POPRF_THRESHOLD_INVALID',
    () => aggregate(Number.NaN, partials),
  ],
  ['fewer shares than the threshold', 'POPRF_THRESHOLD_INVALID', () => aggregate(3, partials)],
  ['more shares than anyone has', 'POPRF_THRESHOLD_INVALID', () => dealShares(256, 2)],
  [
    'a polynomial that counts none',
    'POPRF_POLYNOMIAL_INVALID',
    () => sharePublicKey(new Uint8Array(8), 1),
  ],
  [
    'a polynomial that counts more than it holds',
    'POPRF_POLYNOMIAL_INVALID',
    () => sharePublicKey(withByte(polynomial, 0, 3), 1),
  ],
  [
    'a polynomial with a byte too many',
    'POPRF_POLYNOMIAL_INVALID',
    () => sharePublicKey(longer(polynomial), 1),
  ],
  [
    'a polynomial of seven bytes',
    'POPRF_POLYNOMIAL_INVALID',
    () => sharePublicKey(polynomial.subarray(0, 7), 1),
  ],
  [
    'a polynomial that vanishes at the index',
    'POPRF_POLYNOMIAL_INVALID',
    () => sharePublicKey(encodePolynomial([G2_GENERATOR.multiply(R - 2n), G2_GENERATOR]), 1),
  ],
  ['a negative index', 'POPRF_INDEX_INVALID', () => sharePublicKey(polynomial, -1)],
]

test.each(REFUSED)('%s: %s', (_, code, call) => {
  expect(mistakeOf(call).code).toBe(code)
})

test('no code is left out of the table', () => {
  expect([...new Set(REFUSED.map(([, code]) => code))].sort()).toEqual(
    [...POPRF_ERROR_CODES].sort(),
  )
})

test('no refusal repeats a byte of what it refuses', () => {
  const secrets = [key, share, other, blindingFactor, blindedMessage, response, partial]
  const texts = secrets.flatMap((secret) => {
    const tail = Buffer.from(secret.slice(-12))
    return [tail.toString('hex'), tail.toString('base64'), String(Uint8Array.from(tail))]
  })
  for (const [, , call] of REFUSED) {
    const error = mistakeOf(call)
    const told = JSON.stringify(error) + error.message + String(error.stack)
    for (const text of texts) expect(told).not.toContain(text)
  }
})

describe('the cheap check', () => {
  const passes = (bytes: Uint8Array) => () => parseBlindedMessage(bytes)

  test('leaves to the engines what needs the curve', () => {
    expect(passes(blindedMessage)).not.toThrow()
    expect(passes(withBytes(blindedMessage, FIRST_POINT, offGroup))).not.toThrow()
    expect(passes(withBytes(blindedMessage, FIRST_POINT, offCurve))).not.toThrow()
  })

  test.each([
    [
      'a point off the curve',
      withBytes(blindedMessage, FIRST_POINT, offCurve),
      'POPRF_POINT_INVALID',
    ],
    [
      'a point outside the group',
      withBytes(blindedMessage, FIRST_POINT, offGroup),
      'POPRF_POINT_INVALID',
    ],
    [
      'a proof that does not hold',
      withByte(blindedMessage, 0, (blindedMessage[0] ?? 0) ^ 1),
      'POPRF_PROOF_INVALID',
    ],
  ])('and the published library refuses %s as ours does', async (_, bytes, code) => {
    const published = await loadEngine('wasm')
    const task = { key: { kind: 'single', secret: key }, tag, blindedMessage: bytes } as const
    expect(mistakeOf(() => published(task)).code).toBe(code)
    expect(mistakeOf(blinded(bytes)).code).toBe(code)
  })
})

test('decoding leaves the bytes it reads as they were, those of a Buffer too', () => {
  const buffer = Buffer.from(publicKey)
  unblind(buffer, { blindingFactor, tag, response })
  expect(buffer.equals(publicKey)).toBe(true)
})

describe.each(['wasm', 'typescript'] as const)('the %s engine', (name) => {
  test.each([
    ['a private key of 0', 'single', zero, 'POPRF_SCALAR_INVALID'],
    ['a private key of r', 'single', tooLarge, 'POPRF_SCALAR_INVALID'],
    ['a private key for a share', 'share', key, 'POPRF_LENGTH_INVALID'],
    ['a share for a private key', 'single', share, 'POPRF_LENGTH_INVALID'],
    ['a share of 0', 'share', withBytes(share, 4, zero), 'POPRF_SCALAR_INVALID'],
    [
      'a share whose index wraps',
      'share',
      withBytes(share, 0, Uint8Array.of(255, 255, 255, 255)),
      'POPRF_INDEX_INVALID',
    ],
  ] as const)('refuses %s', async (_, kind, secret, code) => {
    const engine = await loadEngine(name)
    expect(mistakeOf(() => engine({ key: { kind, secret }, tag, blindedMessage })).code).toBe(code)
  })

  test('refuses a tag beyond its bound', async () => {
    const engine = await loadEngine(name)
    const long = new Uint8Array(MAX_TAG_BYTES + 1)
    const task = { key: { kind: 'single', secret: key }, tag: long, blindedMessage } as const
    expect(mistakeOf(() => engine(task)).code).toBe('POPRF_TAG_TOO_LONG')
  })
})
