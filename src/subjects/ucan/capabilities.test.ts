/** For random chains and caveats, what is accepted is exactly what every link allows. */
import type { Delegation as DelegationView, Signer } from '@ucanto/interface'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { newKey, stage } from '../../../test/support/ucan.ts'
import { derive } from './capabilities.ts'

interface LinkTerms {
  readonly can: 'rate-limit/add' | 'rate-limit/*' | '*' | 'rate-limit/list' | 'rate-limit/a*'
  readonly over: 'service' | 'everything' | 'other'
  readonly nb: Readonly<Record<string, string | number>>
}

type Fields = Readonly<Record<string, string | number>>

const often = <T>(usual: T, ...rare: readonly T[]) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...rare) },
  )

const caveats = fc
  .record({
    subject: often<string | undefined>(undefined, 'a.test', 'b.test', '*'),
    rate: often<string | number | undefined>(undefined, 0, 1, '*'),
    unknown: often<string | undefined>(undefined, undefined, '*', 'of'),
  })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)))

const link: fc.Arbitrary<LinkTerms> = fc.record({
  can: often<LinkTerms['can']>(
    'rate-limit/*',
    'rate-limit/add',
    '*',
    'rate-limit/list',
    'rate-limit/a*',
  ),
  over: often<LinkTerms['over']>('service', 'everything', 'other'),
  nb: caveats as fc.Arbitrary<Fields>,
})

/** The rule, written a second time: every field of the parent is absent, "*", or what the child has. */
const allows = (claim: Fields, links: readonly LinkTerms[]): boolean => {
  let child = claim
  for (const { can, over, nb } of links) {
    if (can === 'rate-limit/list' || can === 'rate-limit/a*' || over === 'other') return false
    if (!Object.entries(nb).every(([name, value]) => value === '*' || child[name] === value))
      return false
    child = { ...child, ...nb }
  }
  return true
}

test('an invocation is accepted if every link of its chain allows it, and only then', async () => {
  const { ask, owner, agent, grant, did } = await stage()
  const keys: readonly Signer[] = await Promise.all(Array.from({ length: 4 }, newKey))
  const claim = fc.record({
    subject: fc.constantFrom('a.test', 'b.test'),
    rate: fc.constantFrom(0, 1),
  })
  const question = fc.record({
    claim,
    // From the invocation's own proof up to the first grant.
    links: fc.array(link, { minLength: 1, maxLength: 4 }),
    fromOwner: often(true, false),
  })
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(question, async ({ claim, links, fromOwner }) => {
      const down = [...links].reverse()
      let proof: DelegationView | undefined
      let from = fromOwner ? owner : (keys[3] ?? owner)
      for (const [index, { can, over, nb }] of down.entries()) {
        const to = index === down.length - 1 ? agent : (keys[index] ?? agent)
        const resource = {
          service: did,
          everything: 'ucan:*',
          other: keys[0]?.did() ?? did,
        } as const
        const proofs = proof === undefined ? [] : [proof]
        // '*' alone is an ability too, though the types of the library want a slash.
        proof = await grant({
          from,
          to,
          can: can as 'a/b',
          with: resource[over],
          nb: { ...nb },
          proofs,
        })
        from = to
      }
      const { error } = await ask({
        can: 'rate-limit/add',
        nb: { ...claim },
        proofs: proof === undefined ? [] : [proof],
      })
      const expected = fromOwner && allows(claim, links)
      if (expected && error?.name !== 'RateLimitsFull') accepted += 1
      const isAccepted = error === undefined || error.name === 'RateLimitsFull'
      expect(isAccepted).toBe(expected)
    }),
    { numRuns: times(80, 4_000) },
  )
  expect(accepted).toBeGreaterThan(times(10, 50))
})

test('two values are equal only if they are of one type too', () => {
  const terms = (nb: object) =>
    ({ can: 'rate-limit/add', with: 'did:web:a.test', nb: { ...nb } }) as const
  expect(derive(terms({ rate: 1 }), terms({ rate: '1' })).error).toBeDefined()
  expect(derive(terms({ id: ['a'] }), terms({ id: ['a'] })).error).toBeUndefined()
  expect(derive(terms({ id: ['a'] }), terms({ id: 'a' })).error).toBeDefined()
  expect(derive(terms({}), terms({ toString: 'x' })).error).toBeDefined()
})
