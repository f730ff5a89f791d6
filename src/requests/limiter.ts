/** The request limiter: check, spend, refund and reset, over a catalog and a store. */
import { days, type Store, StoreError, type View } from '../core/index.ts'
import { type Answer, blockedAnswer, openAnswer } from './answer.ts'
import {
  type Ask,
  type AskMode,
  type Batch,
  type Request,
  type ResolvedAsk,
  resolveAsks,
  toBatch,
} from './ask.ts'
import type { Catalog } from './catalog.ts'
import { giveBack } from './give-back.ts'
import { blockedAsks, type Guard, withSubjectRate } from './guard.ts'
import {
  type Finding,
  type Operation,
  type OperationPolicy,
  type OperationVerb,
  once,
  toOperation,
} from './operations.ts'
import { clear, judge, refund, storeKey } from './verdict.ts'

export interface Caller {
  /** Whose operation ids these are; ids of different scopes never meet. */
  readonly scope: string
}

export interface Limiter {
  /** Answers as `spend` would. Creates no bucket, writes nothing, promises nothing about the next call. */
  check(request: Request): Promise<Answer>
  /** Charges all or nothing. A refusal charges nothing. */
  spend(request: Request, caller?: Caller): Promise<Answer>
  /**
   * With an operation id: gives back what the spend of that id charged, less what time forgave.
   * Without one: gives back the charges named, undated; an operator's act.
   */
  refund(request: Request, caller?: Caller): Promise<Answer>
  /** Fills the buckets, whatever was charged. An operator's act. */
  reset(request: Request, caller?: Caller): Promise<Answer>
}

export interface LimiterOptions {
  readonly store: Store
  /** Asked at every call, so that a reloaded catalog is felt at once. */
  readonly catalog: () => Catalog
  readonly operations?: Partial<OperationPolicy>
  /** Blocks and rates on the subjects that charges name. */
  readonly guard?: Guard
  /** Told of every answer and every failure of the store. Must not throw. */
  readonly observe?: (event: LimiterEvent) => void
}

export type LimiterVerb = 'check' | OperationVerb

export type LimiterEvent =
  | { readonly kind: 'answer'; readonly verb: LimiterVerb; readonly answer: Answer }
  | { readonly kind: 'store-failure'; readonly error: StoreError; readonly open: boolean }

/** A day outlasts any sane retry; 100,000 remembered operations of a scope take some 50 MB at rest. */
const OPERATIONS: OperationPolicy = { rememberFor: days(1), perScope: 100_000 }

const LOCAL: Caller = { scope: 'local' }

export const createLimiter = (options: LimiterOptions): Limiter => {
  const { store, catalog, guard, observe } = options
  const policy = { ...OPERATIONS, ...options.operations }
  const bucketOf = (ask: Ask) => withSubjectRate(guard, ask, catalog().resolve(ask))

  const transact = (
    asks: readonly ResolvedAsk[],
    operation: Operation | undefined,
    find: (view: View) => Finding,
  ): Promise<Answer> => {
    const guess = asks.map(({ bucket }) => storeKey(bucket.key))
    return store.transact((view) => once(view, operation, policy, find), guess)
  }

  const decide = async (asks: readonly ResolvedAsk[], operation?: Operation): Promise<Answer> => {
    try {
      const blocked = blockedAsks(guard, asks)
      if (blocked.size > 0) return blockedAnswer(asks, blocked)
      return await transact(asks, operation, (view) => judge(asks, view))
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      const open = asks.every(opensOnFailure)
      observe?.({ kind: 'store-failure', error, open })
      if (open) return openAnswer(asks)
      throw error
    }
  }

  const told = async (verb: LimiterVerb, pending: Promise<Answer>): Promise<Answer> => {
    const answer = await pending
    observe?.({ kind: 'answer', verb, answer })
    return answer
  }

  const resolve = (batch: Batch, modes: readonly AskMode[]) => resolveAsks(bucketOf, batch, modes)

  return {
    check: async (request) => {
      const asks = resolve(toBatch(request), ['check'])
      return told('check', decide(asks))
    },
    spend: async (request, caller = LOCAL) => {
      const batch = toBatch(request)
      const asks = resolve(batch, ['spend', 'check', 'try'])
      return told('spend', decide(asks, toOperation('spend', batch, caller.scope)))
    },
    refund: async (request, { scope } = LOCAL) => {
      const batch = toBatch(request)
      const operation = toOperation('refund', batch, scope)
      if (operation === undefined) {
        const asks = resolve(batch, ['spend'])
        return told(
          'refund',
          transact(asks, undefined, (view) => refund(asks, view)),
        )
      }
      const named = { ...batch, operationId: operation.id }
      const find = (view: View) => giveBack(bucketOf, view, named, scope)
      return told('refund', transact([], operation, find))
    },
    reset: async (request, caller = LOCAL) => {
      const batch = toBatch(request)
      const asks = resolve(batch, ['spend'])
      const operation = toOperation('reset', batch, caller.scope)
      return told(
        'reset',
        transact(asks, operation, (view) => clear(asks, view)),
      )
    },
  }
}

/** What has no say cannot keep the gate closed. */
function opensOnFailure({ bucket, mode }: ResolvedAsk): boolean {
  return mode === 'try' || bucket.limit === undefined || bucket.definition.onStoreFailure === 'open'
}
