/** Threshold evaluation: the whole response, by interpolation from any t partial ones. */
import { randomBytes } from '@noble/hashes/utils.js'
import { type Bytes, refusePoprf } from './bytes.ts'
import { GT_ONE, type Gt, mulGt, powGt } from './curve/gt.ts'
import { G2_GENERATOR } from './curve/points.ts'
import { Fr, type RandomBytes, randomScalar } from './curve/scalar.ts'
import { output } from './evaluate.ts'
import { abscissaOf, encodeKeyShare, encodePolynomial, MAX_THRESHOLD } from './key-share.ts'
import {
  decodePartialEvaluation,
  decodePartialResponse,
  encodeResponse,
  type OfShare,
} from './response.ts'

/**
 * What the whole key would have responded, from at least `threshold` partial responses. Does not
 * notice a false one among them: the client's verification, or `unblindPartial`, does.
 */
export const aggregate = (threshold: number, partials: readonly Bytes[]): Bytes => {
  const chosen = choose(threshold, partials, decodePartialResponse)
  const a = interpolate(chosen.map(({ index, value }) => ({ index, value: value.a })))
  const b = interpolate(chosen.map(({ index, value }) => ({ index, value: value.b })))
  return encodeResponse({ a, b })
}

/** The output of 32 bytes, from at least `threshold` unblinded parts. */
export const aggregatePlain = (threshold: number, partials: readonly Bytes[]): Bytes =>
  output(interpolate(choose(threshold, partials, decodePartialEvaluation)))

export interface Deal {
  readonly shares: readonly Bytes[]
  readonly polynomial: Bytes
}

/**
 * A shared key from one dealer, who has seen the whole key. For development and tests: signers that
 * distrust each other generate their key together.
 */
export const dealShares = (
  count: number,
  threshold: number,
  random: RandomBytes = randomBytes,
): Deal => {
  requireThreshold(threshold, count)
  const coefficients = Array.from({ length: threshold }, () => randomScalar(random))
  const valueAt = (x: bigint): bigint =>
    coefficients.reduceRight((sum, term) => Fr.add(Fr.mul(sum, x), term), 0n)
  return {
    // From 1, as the published library deals them.
    shares: Array.from({ length: count }, (_, at) =>
      encodeKeyShare({ index: at + 1, scalar: valueAt(abscissaOf(at + 1)) }),
    ),
    polynomial: encodePolynomial(coefficients.map((term) => G2_GENERATOR.multiply(term))),
  }
}

/** The weight of each share when the polynomial is read at 0. */
const lagrangeWeights = (indices: readonly number[]): readonly bigint[] => {
  const points = indices.map(abscissaOf)
  return points.map((own) => {
    const others = points.filter((point) => point !== own)
    const product = (terms: readonly bigint[]): bigint => terms.reduce(Fr.mul.bind(Fr), 1n)
    return Fr.div(product(others), product(others.map((point) => Fr.sub(point, own))))
  })
}

function interpolate(partials: readonly OfShare<Gt>[]): Gt {
  const weights = lagrangeWeights(partials.map(({ index }) => index))
  return partials.reduce(
    (sum, { value }, at) => mulGt(sum, powGt(value, weights[at] ?? 0n)),
    GT_ONE,
  )
}

/** As many as needed, the lowest indices first, as the published library takes them. */
function choose<T>(
  threshold: number,
  partials: readonly Bytes[],
  decode: (bytes: Bytes) => OfShare<T>,
): readonly OfShare<T>[] {
  requireThreshold(threshold, partials.length)
  const decoded = partials.map(decode).sort((one, other) => one.index - other.index)
  const twice = decoded.find(({ index }, at) => decoded[at + 1]?.index === index)
  if (twice !== undefined) {
    return refusePoprf({
      code: 'POPRF_INDEX_DUPLICATE',
      thing: 'partial responses',
      rule: 'must come from different shares',
      finding: `index ${twice.index} twice`,
    })
  }
  return decoded.slice(0, threshold)
}

function requireThreshold(threshold: number, count: number): void {
  const whole = Number.isInteger(threshold) && Number.isInteger(count)
  if (whole && threshold >= 1 && threshold <= count && count <= MAX_THRESHOLD) return
  refusePoprf({
    code: 'POPRF_THRESHOLD_INVALID',
    thing: 'threshold',
    rule: `must be whole, at least 1 and at most the number of shares, which is at most ${MAX_THRESHOLD}`,
    finding: `${threshold} of ${count}`,
  })
}
