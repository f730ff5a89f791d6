/** Whom ucanto's validator lets in, we let in; whom it refuses, we refuse. Random delegations, good and bad. */
import { CBOR, Delegation } from '@ucanto/core'
import type { Block, Delegation as DelegationView, Signer } from '@ucanto/interface'
import { ed25519 } from '@ucanto/principal'
import { access, capability, Failure, Schema } from '@ucanto/validator'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { newKey, send, stage } from '../../../test/support/ucan.ts'
import { toBlock } from './archive.ts'

interface Terms {
  readonly from: number
  readonly to: number
  readonly can: string
  readonly over: 'service' | 'everything' | 'other'
  readonly nb: Readonly<Record<string, string>>
  readonly expires: 'never' | 'soon' | 'before'
  readonly proofs: readonly number[]
  readonly isForged: boolean
}

const usually = <T>(usual: T, ...rare: readonly T[]) =>
  fc.oneof(
    { weight: 8, arbitrary: fc.constant(usual) },
    { weight: 2, arbitrary: fc.constantFrom(...rare) },
  )

const terms: fc.Arbitrary<Terms> = fc.record({
  from: fc.nat(2),
  to: fc.nat(3),
  can: usually('rate-limit/*', 'rate-limit/list', '*', 'rate-limit/add', 'rate-limit/l*'),
  over: usually<Terms['over']>('service', 'everything', 'other'),
  nb: usually<Terms['nb']>({}, { subject: 'a.test' }, { subject: 'b.test' }, { subject: '*' }),
  expires: usually<Terms['expires']>('never', 'soon', 'before'),
  proofs: fc.array(fc.nat(7), { maxLength: 3 }),
  isForged: usually(false, true),
})

/** Our rule in the library's words: the caveats of a parent are `*`, or equal. */
const listing = capability({
  can: 'rate-limit/list',
  with: Schema.did(),
  nb: Schema.struct({ subject: Schema.string() }),
  derives: (child, parent) => {
    if (child.with !== parent.with) return { error: new Failure('with') }
    const isFree = parent.nb.subject === '*' || parent.nb.subject === child.nb.subject
    return isFree ? { ok: {} } : { error: new Failure('subject') }
  },
})

test('a search of our own finds a right exactly where the published validator finds one', async () => {
  const { service, owner, did } = await stage()
  const keys: readonly Signer[] = [owner, await newKey(), await newKey(), await newKey()]
  const keyAt = (index: number) => keys[index % keys.length] ?? owner
  const other = await newKey()
  const second = Math.floor(Date.now() / 1_000)

  const issue = async (each: Terms, earlier: readonly DelegationView[]) => {
    const over = { service: did, everything: 'ucan:*', other: other.did() } as const
    const expiration = { never: Number.POSITIVE_INFINITY, soon: second + 600, before: second - 9 }
    const delegation = await Delegation.delegate({
      issuer: keyAt(each.from),
      audience: keyAt(each.to),
      // '*' alone is an ability too, though the types of the library want a slash.
      capabilities: [{ can: each.can as 'a/b', with: over[each.over], nb: { ...each.nb } }],
      expiration: expiration[each.expires],
      proofs: each.proofs.flatMap((index) => earlier[index] ?? []),
    })
    if (!each.isForged) return delegation
    const forged = toBlock({ ...Object(CBOR.decode(delegation.bytes)), nnc: 'forged' })
    return Delegation.importDAG([
      ...delegation.iterateIPLDBlocks(),
      Object(forged),
    ] satisfies Block[])
  }

  let [accepted, refused] = [0, 0]
  await fc.assert(
    fc.asyncProperty(
      fc.array(terms, { minLength: 1, maxLength: 8 }),
      fc.nat(3),
      async (all, by) => {
        const delegations: DelegationView[] = []
        for (const each of all) delegations.push(await issue(each, delegations))
        const invocation = await Delegation.delegate({
          issuer: keyAt(by),
          audience: owner,
          capabilities: [{ can: 'rate-limit/list', with: did, nb: { subject: 'a.test' } }],
          proofs: delegations.slice(-3),
          expiration: second + 600,
        })
        const { ok } = await access(Object(invocation), {
          capability: listing,
          principal: ed25519.Verifier,
          authority: ed25519.Verifier.parse(did),
          validateAuthorization: () => ({ ok: {} }),
        })
        const { error } = await send(service, invocation)
        expect(error === undefined).toBe(ok !== undefined)
        if (ok === undefined) refused += 1
        else accepted += 1
      },
    ),
    { numRuns: times(60, 3_000) },
  )
  expect(Math.min(accepted, refused)).toBeGreaterThan(times(5, 300))
})
