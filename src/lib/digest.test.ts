import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { digestText, portableDigest } from './digest.ts'

test.each([
  ['by the runtime', digestText],
  ['in plain JavaScript', portableDigest],
])('is what Node calls the SHA-256 of a text in base64url: %s', (_, digest) => {
  const byNode = (text: string) => createHash('sha256').update(text).digest('base64url')
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      expect(digest(text)).toBe(byNode(text))
    }),
  )
})
