/** A signer of the domain API (CIP-40, "Service APIs") as a function from HTTP requests to responses. */
import { type Span, StoreError } from '../core/index.ts'
import type { Conduct, Endpoint } from './claim.ts'
import { type DomainRegistry, domainRegistry } from './domain-registry.ts'
import {
  createDomainService,
  type DomainServiceOptions,
  type ServiceAnswer,
} from './domain-service.ts'
import { KEY_VERSION_HEADER } from './key-version.ts'
import { type Refusal, type RefusedBecause, refused, refuseStoreDown, statusOf } from './refusal.ts'
import { aliveResponse, type SignerResponse, toResponse } from './signer-response.ts'

export interface SignerRequest {
  readonly method: string
  /** Without a query. */
  readonly path: string
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
  /** Where the request came from, for the outer limit. */
  readonly client?: string
}

export interface Signer {
  handle(request: SignerRequest): Promise<SignerResponse>
}

export interface SignerOptions extends Omit<DomainServiceOptions, 'conduct' | 'registry'> {
  readonly registry?: DomainRegistry
  /** `cip40` unless told. */
  readonly conduct?: Conduct
  /** Told to clients in every answer. */
  readonly version: string
  /**
   * Limits by address or in all, asked before the request is even read. What it refuses costs the
   * domain nothing; what the domain refuses has still cost it.
   */
  readonly outerLimit?: (request: SignerRequest) => Promise<OuterVerdict>
  /** Told of every answer. Must not throw. */
  readonly observe?: (event: SignerEvent) => void
}

export type OuterVerdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly retryIn?: Span }

export interface SignerEvent {
  readonly endpoint: Endpoint | 'status' | 'none'
  readonly status: number
  readonly outcome: 'signed' | 'retried' | 'answered' | RefusedBecause
  /** What was thrown, where the fault is ours or the store's. */
  readonly fault?: unknown
}

export const createSigner = (options: SignerOptions): Signer => {
  const { conduct = 'cip40', version, outerLimit, observe } = options
  const registry = options.registry ?? domainRegistry()
  const service = createDomainService({ ...options, registry, conduct })

  const tell = (endpoint: SignerEvent['endpoint'], answer: ServiceAnswer, fault?: unknown) => {
    const status = answer.kind === 'refused' ? statusOf(answer.reason, conduct) : 200
    const event = { endpoint, status, outcome: outcomeOf(answer) }
    observe?.(fault === undefined ? event : { ...event, fault })
    return toResponse(answer, { conduct, version })
  }

  const ask = async (endpoint: Endpoint, request: SignerRequest): Promise<ServiceAnswer> => {
    const outer = await outerLimit?.(request)
    if (outer?.allowed === false) return refuseOuter(outer.retryIn)
    const { body, headers } = request
    return service.answer({ endpoint, body, keyVersion: headers[KEY_VERSION_HEADER] })
  }

  return {
    handle: async (request) => {
      const route = ROUTES.get(request.path)
      if (route === undefined) return tell('none', refused('ROUTE_UNKNOWN', NO_ROUTE))
      if (request.method !== METHODS[route]) {
        const rule = `${request.path}: must be asked by ${METHODS[route]}`
        return tell(route, refused('METHOD_UNSUPPORTED', rule))
      }
      if (route === 'status') return aliveResponse(version)
      try {
        return tell(route, await ask(route, request))
      } catch (fault) {
        if (fault instanceof StoreError) return tell(route, refuseStoreDown(), fault)
        return tell(route, refused('SIGNER_FAULT', 'the signer failed'), fault)
      }
    },
  }
}

type Route = Endpoint | 'status'

const ROUTES: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['/domain/sign', 'sign'],
  ['/domain/quotaStatus', 'quotaStatus'],
  ['/domain/disable', 'disable'],
  ['/status', 'status'],
])

const METHODS: Readonly<Record<Route, 'GET' | 'POST'>> = {
  sign: 'POST',
  quotaStatus: 'POST',
  disable: 'POST',
  status: 'GET',
}

const NO_ROUTE =
  'the path: must be one of /domain/sign, /domain/quotaStatus, /domain/disable, /status'

function refuseOuter(retryIn: Span | undefined): Refusal {
  const more = retryIn === undefined ? {} : { retryIn }
  return refused('OUTER_LIMIT', 'too many requests from here, or in all', more)
}

function outcomeOf(answer: ServiceAnswer): SignerEvent['outcome'] {
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
