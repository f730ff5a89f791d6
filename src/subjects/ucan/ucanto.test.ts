import type * as Real from '@ucanto/interface'
import { expect, test } from 'vitest'
import type * as Published from './ucanto.ts'

/** Compiles only if the second type takes all values of the first. */
const sees = <_Actual extends Seen, Seen>(): true => true

test('what programs see of a type of ucanto, it has', () => {
  const seen = [
    sees<Real.Link, Published.Link>(),
    sees<Real.Block, Published.Block>(),
    sees<Real.Capability, Published.Capability>(),
    sees<Real.Delegation, Published.Delegation>(),
    sees<Real.DID, Published.DID>(),
    sees<Real.DID<'key'>, Published.DID<'key'>>(),
    sees<Real.Signer, Published.Signer>(),
    sees<Real.Verifier, Published.Verifier>(),
  ]
  expect(seen).not.toContain(false)
})
