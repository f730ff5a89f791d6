/**
 * The claim of one operation id, in the hands of the call that works under it. Letting go and tidying up
 * never fail a call: what they leave behind because the store is unwell goes by time.
 */
import { StoreError } from '../../core/errors.ts'
import type { Store } from '../../core/store.ts'
import type { Batch, BucketOf } from './charge.ts'
import { type Claimed, claimOperation, forgetClaims, releaseClaim } from './claims.ts'
import { forgetLeg, legKey } from './legs.ts'
import {
  chargesOf,
  digestOf,
  type OperationNames,
  type OperationPolicy,
  type OperationVerb,
  reusedId,
  type ToldAsk,
} from './operations.ts'

/** What a call does with its claim. */
export interface ClaimHold {
  readonly names: OperationNames
  claim(asks: readonly ToldAsk[]): Promise<Claimed>
  /** Only where nothing is charged under it. */
  release(claim: Claimed): Promise<void>
  /** Forgets what had to go for the claim, with its legs. */
  forget(claim: Claimed): Promise<void>
}

export interface HoldParts {
  readonly store: Store
  readonly policy: OperationPolicy
  readonly bucketOf: BucketOf
}

export function holdOf(
  { store, policy, bucketOf }: HoldParts,
  names: OperationNames,
  verb: OperationVerb,
  id: string,
  batch: Batch,
): ClaimHold {
  const keys = [names.key, names.shard.key]
  const digest = digestOf(batch.charges)
  return {
    names,
    claim: (asks) => {
      const nonce = crypto.randomUUID()
      const { rememberFor } = policy
      const terms = { digest, asks, nonce, rememberFor, reused: () => reusedId(verb, id) }
      return store.transact((view) => claimOperation(view, names, terms), keys)
    },
    release: (claim) => quietly(store.transact((view) => releaseClaim(view, names, claim), keys)),
    forget: async ({ pushedOut }) => {
      if (pushedOut.length === 0) return
      const keys = [names.shard.key, ...pushedOut.map(names.shard.keyOf)]
      const work = async () => {
        const gone = await store.transact((view) => forgetClaims(view, names, pushedOut), keys)
        const legs = gone.flatMap(({ entry, claim }) => {
          const tags = new Set(chargesOf(bucketOf, claim.asks).map(({ bucket }) => bucket.tag))
          return [...tags].map((tag) => ({ key: legKey(tag, entry), claim }))
        })
        const forgetOne = ({ key, claim }: (typeof legs)[number]) =>
          store.transact((view) => forgetLeg(view, key, claim), [key])
        await Promise.all(legs.map(forgetOne))
      }
      await quietly(work())
    },
  }
}

async function quietly(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
  }
}
