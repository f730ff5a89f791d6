/** Answers requests about domains: reads, authenticates, and then signs, tells or disables. */
import type { Conduct, Endpoint } from './claim.ts'
import type { DomainRequest } from './domain-kind.ts'
import { recordKey } from './domain-record.ts'
import type { DomainRegistry } from './domain-registry.ts'
import { disableStep, statusStep } from './domain-steps.ts'
import { toHex } from './eip712/keccak.ts'
import { chooseKey, type VersionedKeys } from './key-version.ts'
import type { EvaluationKey } from './poprf/pool/evaluator.ts'
import { readRequest } from './read-request.ts'
import { type Refusal, refused } from './refusal.ts'
import type { Status } from './rule.ts'
import { createSigning, type Signed, type SigningOptions } from './signing.ts'

export interface DomainServiceOptions extends SigningOptions {
  readonly keys: VersionedKeys<EvaluationKey>
  readonly registry: DomainRegistry
  readonly conduct: Conduct
}

export interface Question {
  readonly endpoint: Endpoint
  readonly body: Uint8Array
  /** The `odis-key-version` header, as it came. */
  readonly keyVersion: string | undefined
}

export type ServiceAnswer = Signed | { readonly kind: 'status'; readonly status: Status } | Refusal

export interface DomainService {
  /** Refusals are values; it rejects if the store is down, and for a bug of ours. */
  answer(question: Question): Promise<ServiceAnswer>
}

export const createDomainService = (options: DomainServiceOptions): DomainService => {
  const { store, keys, registry, conduct } = options
  const sign = createSigning(options)

  const proceed = async (
    { endpoint, keyVersion }: Question,
    request: DomainRequest,
  ): Promise<ServiceAnswer> => {
    const { claim, signingHash, blindedMessage } = request
    const key = endpoint === 'sign' ? chooseKey(keyVersion, keys) : undefined
    if (endpoint === 'sign' && key === undefined) return refuseKeyVersion(keyVersion)
    const wrong = await claim.authenticate(signingHash, { endpoint, conduct })
    if (wrong !== undefined) return refuseStranger(wrong)
    const rule = await claim.rule()
    if (key !== undefined && blindedMessage !== undefined) {
      const matter = { rule, turn: claim.turn, hash: toHex(signingHash), conduct }
      return sign({ request, blindedMessage, matter, key })
    }
    const record = recordKey(request)
    const step = endpoint === 'disable' ? disableStep : statusStep
    const status = await store.transact((view) => step(view, record, rule), [record])
    return { kind: 'status', status }
  }

  return {
    answer: async (question) => {
      const request = readRequest(registry, question.endpoint, question.body)
      return 'kind' in request ? request : proceed(question, request)
    },
  }
}

function refuseKeyVersion(header: string | undefined): Refusal {
  const finding = JSON.stringify(header?.slice(0, 20) ?? null)
  const rule = `odis-key-version: must name a key of this signer, found ${finding}`
  return refused('KEY_VERSION_INVALID', rule)
}

function refuseStranger(finding: string): Refusal {
  const rule = `the request: must be authorised by whom the domain names, found ${finding}`
  return refused('UNAUTHENTICATED', rule)
}
