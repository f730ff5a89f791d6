/**
 * A signer of the domain API (CIP-40, "Service APIs"): reads a request, authenticates it, and then
 * signs, reports the quota or disables.
 *
 * An attempt is charged before its answer is released, and never given back: look at the quota,
 * evaluate while holding the result, charge and remember in one transaction, then release. A crash or
 * a failed evaluation before that costs nothing.
 */

import { HeadgateError, StoreError } from '../../core/errors.ts'
import type { MachineReading } from '../../core/machine-clock.ts'
import type { Commit, Key, Store, View } from '../../core/store.ts'
import { type Span, seconds } from '../../core/time.ts'
import { oneAtATime } from '../../lib/one-at-a-time.ts'
import { ChainError, type ChainErrorCode } from '../domains/access-controller.ts'
import type { Conduct, DomainRequest, Endpoint, SignRequest } from '../domains/domain-kind.ts'
import { type DomainRegistry, domainRegistry } from '../domains/domain-registry.ts'
import { recover } from '../eip712/recover.ts'
import { type EvaluationKey, type Evaluator, EvaluatorError } from '../poprf/pool/evaluator.ts'
import type { Rule } from '../rules/rule.ts'
import { clockKey, clockRefusal } from './clock-record.ts'
import {
  attemptKeys,
  chargeStep,
  disableStep,
  lookStep,
  recordKey,
  statusStep,
} from './domain-record.ts'
import {
  type ChosenKey,
  chooseKey,
  keyName,
  readRequest,
  type SignerKeys,
  unknownKey,
} from './request.ts'
import {
  type SignerAnswer,
  type SignerRefusal,
  type SignerRefusalReason,
  type SignerResponse,
  signerRefusal,
  toResponse,
} from './response.ts'
import { shardOf } from './shards.ts'

export interface Signer {
  /** Answers with a response for every failure too. Rejects only if `observe` throws. */
  answer(endpoint: Endpoint, request: SignerRequest): Promise<SignerResponse>
  /** For what a server refuses before a signer could. `observe` is not called. */
  refuse(reason: SignerRefusalReason, message: string): SignerResponse
}

export interface SignerRequest {
  readonly body: Uint8Array
  /** The `odis-key-version` header, as it came. */
  readonly keyVersion?: string | undefined
  /** Where the request came from, for the outer limit. */
  readonly client?: string | undefined
}

export interface SignerOptions {
  readonly store: Store
  /** Must have its own copy of the key before it waits for anything: a reload may wipe it then. */
  readonly evaluator: Pick<Evaluator, 'evaluate'>
  readonly keys: SignerKeys
  /** Default: every kind of domain that needs neither a chain nor a source of quotas. */
  readonly registry?: DomainRegistry
  /** Default `cip40`. */
  readonly conduct?: Conduct
  /** Of the software: every answer names it. */
  readonly version: string
  /**
   * Limits by client or in all, asked before the request is even read. What it refuses costs the
   * domain nothing; what the domain refuses has still cost it.
   */
  readonly outerLimit?: (client: string | undefined) => Promise<OuterVerdict>
  /**
   * With it nothing is signed while the store's clock is not trusted; `watchClock` must be called with
   * the same, at the start and every few seconds. Without it the clock is believed.
   */
  readonly machine?: () => MachineReading
  /** Called with every answer. Must not throw. */
  readonly observe?: (event: SignerEvent) => void
}

export type OuterVerdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly retryIn?: Span }

export interface SignerEvent {
  readonly endpoint: Endpoint
  readonly status: number
  readonly outcome: 'signed' | 'retried' | 'answered' | SignerRefusalReason
  /** What was thrown, where the signer or the store failed. */
  readonly fault?: unknown
}

/**
 * A signer over a store that must not forget; here in memory, to try it.
 *
 * @example
 * import { memory } from 'headgate'
 * import { createSigner, evaluateHere, generateKey } from 'headgate/secrets'
 *
 * const key = generateKey()
 * const signer = createSigner({
 *   store: memory(),
 *   evaluator: await evaluateHere(),
 *   keys: { current: 1, find: (version) => (version === 1 ? key : undefined) },
 *   version: 'example',
 * })
 * console.log((await signer.answer('sign', { body: new Uint8Array() })).status)
 */
export const createSigner = (options: SignerOptions): Signer => {
  const { store, keys, conduct = 'cip40', version, outerLimit, observe } = options
  const registry = options.registry ?? domainRegistry()
  const sign = createSigning(options, conduct)

  const authenticate = async (request: DomainRequest): Promise<Rule | SignerRefusal> => {
    const { claim, signingHash } = request
    const found = await claim.authenticate(signingHash, conduct, recover)
    return found === undefined ? claim.rule() : unauthenticated(found)
  }

  const decide = async (request: DomainRequest, keyVersion?: string): Promise<SignerAnswer> => {
    switch (request.endpoint) {
      case 'sign': {
        const key = chooseKey(keys, keyVersion)
        if ('kind' in key) return key
        const rule = await authenticate(request)
        return 'kind' in rule ? rule : sign(request, rule, key)
      }
      case 'quotaStatus':
      case 'disable': {
        const rule = await authenticate(request)
        if ('kind' in rule) return rule
        const record = recordKey(request)
        const step = request.endpoint === 'disable' ? disableStep : statusStep
        const status = await store.transact((view) => step(view, record, rule), [record])
        return { kind: 'status', status }
      }
      default:
        return request satisfies never
    }
  }

  const respond = (endpoint: Endpoint, answer: SignerAnswer, fault?: unknown): SignerResponse => {
    const response = toResponse(answer, conduct, version)
    const event = { endpoint, status: response.status, outcome: outcomeOf(answer) }
    observe?.(fault === undefined ? event : { ...event, fault })
    return response
  }

  return {
    answer: async (endpoint, { body, keyVersion, client }) => {
      try {
        const outer = await outerLimit?.(client)
        if (outer?.allowed === false) return respond(endpoint, overOuterLimit(outer.retryIn))
        const request = readRequest(body, { registry, endpoint, conduct })
        return respond(endpoint, 'kind' in request ? request : await decide(request, keyVersion))
      } catch (fault) {
        return respond(endpoint, refusalFor(fault), fault)
      }
    },
    refuse: (reason, message) => toResponse(signerRefusal(reason, message), conduct, version),
  }
}

/** For one domain, whose owner makes one attempt at a time; a client that sends more gains nothing. */
const MAX_WAITING = 256

/** For all domains: each waiting request keeps its body in memory. */
const MAX_WAITING_IN_ALL = 8_192

type Sign = (request: SignRequest, rule: Rule, chosen: ChosenKey) => Promise<SignerAnswer>

function createSigning(options: SignerOptions, conduct: Conduct): Sign {
  const { store, evaluator, keys, machine } = options
  /** Over a clock that is trusted at that moment, by the record in the domain's own partition. */
  const transact = <R>(
    { domainHash }: SignRequest,
    step: (view: View) => Commit<R>,
    guess: readonly Key[],
  ) => {
    if (machine === undefined) return store.transact(step, guess)
    const shard = shardOf(domainHash)
    return store.transact<R | SignerRefusal>(
      (view) => clockRefusal(view, shard, machine()) ?? step(view),
      [clockKey(shard), ...guess],
    )
  }
  // Evaluations that could not all be charged are not even begun.
  const line = oneAtATime({ perKey: MAX_WAITING, inAll: MAX_WAITING_IN_ALL })

  return async (request, rule, { version, name }) => {
    const attempt = { request, rule, conduct, keyVersion: version, keyName: name }
    const signOnce = async (): Promise<SignerAnswer> => {
      const look = (view: View) => lookStep(view, attempt)
      const seen = await transact(request, look, attemptKeys(attempt))
      if (seen.kind === 'refused') return seen
      // Only now: what was wiped meanwhile must not be evaluated with.
      const key = keys.find(version)
      if (key === undefined || keyName(version, key) !== name) return unknownKey(version)
      const evaluation = await evaluate(evaluator, key, request)
      if ('kind' in evaluation) return evaluation
      return transact(request, (view) => chargeStep(view, attempt, evaluation), seen.guess)
    }
    return rule.stateful ? (line.run(recordKey(request), signOnce) ?? busy()) : signOnce()
  }
}

/** The evaluator's own trouble, or a message that only the curve could prove wrong, is a refusal. */
async function evaluate(
  evaluator: SignerOptions['evaluator'],
  key: EvaluationKey,
  { domainHash, blindedMessage }: SignRequest,
): Promise<Uint8Array | SignerRefusal> {
  try {
    return await evaluator.evaluate(key, domainHash, blindedMessage)
  } catch (error) {
    if (error instanceof EvaluatorError) return busyOr(error)
    if (error instanceof HeadgateError) return signerRefusal('MALFORMED_REQUEST', error.message)
    throw error
  }
}

/** How long to stay away while something here fails: a retry after a second does no harm. */
const RETRY_SOON = seconds(1)

function busy(): SignerRefusal {
  return signerRefusal('SIGNER_BUSY', 'the signer is busy', { retryIn: RETRY_SOON })
}

/** Too much was asked, or the end has begun: that is load. A thread that broke is a fault, and is told as one. */
function busyOr(error: EvaluatorError): SignerRefusal {
  switch (error.code) {
    case 'EVALUATOR_QUEUE_FULL':
    case 'EVALUATOR_CLOSED':
      return busy()
    case 'EVALUATOR_LOST':
    case 'EVALUATOR_TIMEOUT':
      throw error
    default:
      return error.code satisfies never
  }
}

/** Each fault that is not the client's. Secrets are closed while the store is down, whatever the limit. */
function refusalFor(fault: unknown): SignerRefusal {
  const soon = { retryIn: RETRY_SOON }
  if (fault instanceof StoreError) {
    return signerRefusal('STORE_DOWN', 'the store does not answer', soon)
  }
  if (fault instanceof EvaluatorError) {
    return signerRefusal('EVALUATOR_DOWN', 'the evaluation failed', soon)
  }
  if (fault instanceof ChainError) {
    return signerRefusal(fault.code, CHAIN_MESSAGES[fault.code], { retryIn: NEXT_BLOCK })
  }
  return signerRefusal('SIGNER_FAULT', 'the signer failed')
}

/** A new block comes every 1 to 12 seconds, and nodes that lag are seldom later than this. */
const NEXT_BLOCK = seconds(5)

/** What clients may know: not which node, nor what it said. */
const CHAIN_MESSAGES: Readonly<Record<ChainErrorCode, string>> = {
  CHAIN_DOWN: 'the node of the chain does not answer',
  CHAIN_BEHIND: 'the node of the chain has not come to this block yet',
}

function unauthenticated(finding: string): SignerRefusal {
  const rule = 'the request: must be authorised as its domain demands'
  return signerRefusal('UNAUTHENTICATED', `${rule}, found ${finding}`)
}

function overOuterLimit(retryIn: Span | undefined): SignerRefusal {
  const message = 'too many requests from this address, or in all'
  return signerRefusal('OUTER_LIMIT', message, retryIn === undefined ? {} : { retryIn })
}

function outcomeOf(answer: SignerAnswer): SignerEvent['outcome'] {
  switch (answer.kind) {
    case 'signed':
      return answer.charged ? 'signed' : 'retried'
    case 'status':
      return 'answered'
    case 'refused':
      return answer.reason
    default:
      return answer satisfies never
  }
}
