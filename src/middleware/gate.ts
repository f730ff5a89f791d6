/**
 * A gate in front of handlers: asks the limiter about each request, and says whether it passes, with
 * which headers, or what it is answered instead. Knows no framework, and nothing of Node.
 */
import { HeadgateError, StoreError, type StoreErrorCode } from '../core/errors.ts'
import { systemClock } from '../lib/clock.ts'
import type { Answer } from '../requests/limiter/charge.ts'
import { clientsOf } from './client.ts'
import type { Door } from './door.ts'
import { type HeaderLine, headerLines } from './header-forms.ts'
import type { ChargeRule, GateOptions, GateRules, HandlerOutcome } from './options.ts'
import { readGateOptions } from './read-options.ts'
import {
  type RefusalOptions,
  type RefusalReply,
  type RefusedRequest,
  refusalReply,
  STORE_RETRY_SECONDS,
} from './refusal.ts'
import { createWarnings, type Warnings } from './warnings.ts'
import { type IdOf, idsOf } from './who.ts'

export interface RequestGate<Ask> {
  /** `platform` is what a fetch handler gets beside its request. Throws only what options throw. */
  admit(request: Ask, platform?: unknown): Promise<Admission<Ask>>
}

type Admission<Ask> = Passed<Ask> | Stopped

export interface Passed<Ask> {
  readonly allowed: true
  /** Absent: the request was skipped, or the store is down and the gate open. */
  readonly answer: Answer | undefined
  readonly lines: readonly HeaderLine[]
  /** To be called when the handler has ended; absent if nothing would follow from it. Never rejects. */
  readonly settle: ((outcome: Omit<HandlerOutcome<Ask>, 'request'>) => Promise<void>) | undefined
}

interface Stopped extends RefusalReply {
  readonly allowed: false
  readonly answer: Answer | undefined
}

/** Throws for options that cannot be read. */
export const createGate = <Ask, Name extends string = string>(
  door: Door<Ask>,
  options: GateOptions<Ask, Name>,
): RequestGate<Ask> => {
  const rules = readGateOptions(door, options)
  const warnings = createWarnings(rules.warn)
  const idOf = idsOf(door, clientsOf(door, rules.addresses, warnings), warnings)
  return {
    admit: async (request, platform) => {
      if (rules.skip !== undefined && (await rules.skip(request))) return UNCOUNTED
      const priced = chargesOf(rules.charges, idOf, request, platform)
      // What is there is not waited for: a wait costs as much as a tenth of a decision.
      const charges = priced instanceof Promise ? await priced : priced
      const [only, another] = charges
      let answer: Answer
      try {
        answer = await rules.limiter.spend(
          rules.refunds
            ? { charges, dated: true }
            : only && another === undefined
              ? only
              : { charges },
        )
      } catch (error) {
        return withoutAnswer(rules, request, error)
      }
      if (answer.reason === 'STORE_UNAVAILABLE') return withOpenAnswer(rules, request, answer)
      const lines = headerLines(answer, rules.forms, systemClock)
      if (!answer.allowed) return stop(rules, refusedBy(request, answer), lines)
      const settle = rules.refunds && settling(rules, request, charges, answer, warnings)
      return { allowed: true, answer, lines, settle }
    },
  }
}

const UNCOUNTED = { allowed: true, answer: undefined, lines: [], settle: undefined } as const

interface PricedAsk {
  readonly limit: string
  readonly id: string
  readonly cost: number
}

/** At once if no function of the options takes its time. */
function chargesOf<Ask>(
  rules: readonly ChargeRule<Ask>[],
  idOf: IdOf<Ask>,
  request: Ask,
  platform: unknown,
): readonly PricedAsk[] | Promise<readonly PricedAsk[]> {
  const drafts = rules.map(({ limit, who, cost }): PricedAsk | Promise<PricedAsk> => {
    const id = watched(idOf(who, request, platform))
    const price = watched(typeof cost === 'number' ? cost : cost(request))
    return typeof id === 'string' && typeof price === 'number'
      ? { limit, id, cost: price }
      : watched(
          Promise.all([id, price]).then(([found, paid]) => ({ limit, id: found, cost: paid })),
        )
  })
  const known = drafts.filter((draft): draft is PricedAsk => !(draft instanceof Promise))
  return known.length === drafts.length ? distinct(known) : Promise.all(drafts).then(distinct)
}

/**
 * A promise that rejects while another function of the options throws is waited for by no one, and
 * Node would end the process.
 */
function watched<T>(value: T): T {
  if (value instanceof Promise) value.catch(() => {})
  return value
}

/** A bucket that two limits come to is charged once, at the higher cost. */
function distinct(charges: readonly PricedAsk[]): readonly PricedAsk[] {
  if (charges.length === 1) return charges
  const kept: PricedAsk[] = []
  for (const charge of charges) {
    const twin = kept.findIndex(({ limit, id }) => limit === charge.limit && id === charge.id)
    const [same] = twin < 0 ? [] : kept.splice(twin, 1)
    kept.push(same === undefined || same.cost <= charge.cost ? charge : same)
  }
  return kept
}

/**
 * A cost above the burst is not the handler's business: what a client asks for may decide it. Any
 * mistake but these two is the program's own, and thrown.
 */
function withoutAnswer<Ask>(
  rules: GateRules<Ask>,
  request: Ask,
  error: unknown,
): Admission<Ask> | Promise<Admission<Ask>> {
  if (error instanceof StoreError) {
    return rules.onStoreFailure === 'open' ? UNCOUNTED : storeDown(rules, request, error.code)
  }
  if (!(error instanceof HeadgateError && error.code === 'COST_ABOVE_BURST')) throw error
  const code = 'COST_ABOVE_BURST'
  const refused = {
    request,
    code,
    status: 429,
    answer: undefined,
    retryAfterSeconds: null,
  } as const
  return stop(rules, refused, [])
}

/** Every limit asked is open; the gate itself may be closed. */
function withOpenAnswer<Ask>(
  rules: GateRules<Ask>,
  request: Ask,
  answer: Answer,
): Admission<Ask> | Promise<Admission<Ask>> {
  if (rules.onStoreFailure === 'closed') return storeDown(rules, request, 'STORE_UNAVAILABLE')
  return { ...UNCOUNTED, answer }
}

function storeDown<Ask>(
  rules: GateRules<Ask>,
  request: Ask,
  code: StoreErrorCode,
): Promise<Stopped> {
  const retryAfterSeconds = STORE_RETRY_SECONDS
  const lines = [{ name: 'Retry-After', value: String(retryAfterSeconds) }]
  return stop(rules, { request, code, status: 503, answer: undefined, retryAfterSeconds }, lines)
}

function refusedBy<Ask>(request: Ask, answer: Answer): RefusedRequest<Ask> {
  const { retryAfterSeconds } = answer
  return { request, code: 'QUOTA_EXCEEDED', status: 429, answer, retryAfterSeconds }
}

async function stop<Ask>(
  { refusal }: GateRules<Ask>,
  refused: RefusedRequest<Ask>,
  lines: readonly HeaderLine[],
): Promise<Stopped> {
  const words =
    typeof refusal === 'function' ? await refusal(refused) : fixedWords(refusal, refused)
  return { allowed: false, answer: refused.answer, ...refusalReply(refused, words, lines) }
}

/** They are for limits that are reached; a store that is down is told as that. */
function fixedWords(words: RefusalOptions, { code }: RefusedRequest<unknown>): RefusalOptions {
  return code === 'QUOTA_EXCEEDED' ? words : {}
}

/**
 * Gives back what time has not given back already, as if the request had not been made. By the date
 * of the charge, not by operation id, which would take two more writes for each request that does
 * not fail.
 */
function settling<Ask>(
  { limiter, refunds }: GateRules<Ask>,
  request: Ask,
  charges: readonly PricedAsk[],
  answer: Answer,
  warnings: Warnings,
): Passed<Ask>['settle'] {
  const charged = charges.flatMap((charge, i) => {
    const date = answer.charges[i]?.date
    return date === undefined ? [] : [{ ...charge, date }]
  })
  if (refunds === undefined || charged.length === 0) return undefined
  return async (outcome) => {
    try {
      if (refunds({ request, ...outcome }) === true) await limiter.refund({ charges: charged })
    } catch (error) {
      const finding = error instanceof Error ? error.message : String(error)
      const rule = 'must be given back to its bucket; the request stays charged'
      warnings.tell({ code: 'REFUND_FAILED', thing: 'a refund', rule, finding }, error)
    }
  }
}
