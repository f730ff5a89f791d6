/** Our own implementation and the published library agree byte for byte, whichever does which step. */
import * as published from '@celo/poprf'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { hex } from '../../../test/support/hex.ts'
import {
  aggregate,
  aggregatePlain,
  blind,
  dealShares,
  evaluate,
  evaluatePartial,
  evaluatePlain,
  evaluatePlainPartial,
  generatePrivateKey,
  publicKeyOf,
  unblind,
  unblindPartial,
} from './index.ts'

const bytes = fc.uint8Array({ maxLength: 80 })
const seed = fc.uint8Array({ minLength: 32, maxLength: 32 })
const runs = { numRuns: times(3, 40) }

const concat = (parts: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(parts))

const theirBlinding = (message: Uint8Array, from: Uint8Array) => {
  const made = published.blindMsg(message, from)
  try {
    return { blindedMessage: made.blindedMessage, blindingFactor: made.blindingFactor }
  } finally {
    made.free()
  }
}

test('with a single key, blinded by either', () => {
  fc.assert(
    fc.property(bytes, bytes, seed, (message, tag, from) => {
      const key = generatePrivateKey()
      const output = hex(evaluatePlain(key, tag, message))
      expect(hex(published.eval(key, tag, message))).toBe(output)
      for (const { blindedMessage, blindingFactor } of [
        blind(message),
        theirBlinding(message, from),
      ]) {
        const response = evaluate(key, tag, blindedMessage)
        expect(hex(published.blindEval(key, tag, blindedMessage))).toBe(hex(response))
        const publicKey = publicKeyOf(key)
        expect(hex(unblind(publicKey, { blindingFactor, tag, response }))).toBe(output)
        expect(hex(published.unblindResp(publicKey, blindingFactor, tag, response))).toBe(output)
      }
    }),
    runs,
  )
})

test('with a shared key, dealt by us', () => {
  fc.assert(
    fc.property(bytes, bytes, fc.integer({ min: 1, max: 3 }), (message, tag, threshold) => {
      const { shares, polynomial } = dealShares(3, threshold)
      const { blindedMessage, blindingFactor } = blind(message)
      const partials = shares.map((share) => evaluatePartial(share, tag, blindedMessage))
      const theirs = shares.map((share) => published.blindPartialEval(share, tag, blindedMessage))
      expect(theirs.map(hex)).toEqual(partials.map(hex))

      const response = aggregate(threshold, partials)
      expect(hex(published.blindAggregate(threshold, concat(partials)))).toBe(hex(response))

      const parts = partials.map((part) =>
        unblindPartial(polynomial, { blindingFactor, tag, response: part }),
      )
      const unblinded = partials.map((part) =>
        published.unblindPartialResp(polynomial, blindingFactor, tag, part),
      )
      expect(unblinded.map(hex)).toEqual(parts.map(hex))
      expect(shares.map((share) => hex(evaluatePlainPartial(share, tag, message)))).toEqual(
        parts.map(hex),
      )

      const output = hex(unblind(polynomial.subarray(8, 104), { blindingFactor, tag, response }))
      expect(hex(aggregatePlain(threshold, parts.slice(-threshold)))).toBe(output)
      expect(hex(published.aggregate(threshold, concat(parts)))).toBe(output)
    }),
    runs,
  )
})

test('two blindings of one message share no byte pattern, and give one output', () => {
  const [key, tag, message] = [generatePrivateKey(), Uint8Array.of(1), Uint8Array.of(2)]
  const [one, other] = [blind(message), blind(message)]
  expect(hex(one.blindedMessage)).not.toBe(hex(other.blindedMessage))
  const outputs = [one, other].map(({ blindedMessage, blindingFactor }) => {
    const response = evaluate(key, tag, blindedMessage)
    return hex(unblind(publicKeyOf(key), { blindingFactor, tag, response }))
  })
  expect(new Set(outputs).size).toBe(1)
})
