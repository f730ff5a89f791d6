/**
 * Subjects in a program: rates and blocks by key and proof, without a network in between. Every act
 * goes through the UCAN service, so a right that is missing over HTTP is missing here too.
 */
import { quote } from '../core/errors.ts'
import { answer, type Store } from '../core/store.ts'
import type { Clock, Instant, Span } from '../core/time.ts'
import { systemClock, uptime } from '../lib/clock.ts'
import { inSeconds, MOMENT_RULE, parseMoment } from '../lib/moments.ts'
import { createSubjectGate, type SubjectGate } from './gate.ts'
import { refuseSubject } from './mistake.ts'
import { createRatesClient, type RatesClient } from './ucan/client.ts'
import type { Proof } from './ucan/delegate.ts'
import type { Identity } from './ucan/identity.ts'
import type { ClientResult } from './ucan/message.ts'
import { createUcanService, type UcanEvent, type UcanService } from './ucan/service.ts'

export interface SubjectsOptions {
  readonly store: Store
  /** The owner: rates are kept under its DID, and every right over them begins with it. */
  readonly identity: Identity
  /** When rates expire for the gate and from when agents ask; the system's clock unless told. */
  readonly clock?: Clock
  /** How old the gate's answers are; since the start of the process unless told. */
  readonly uptime?: () => Span
  /** Called for signatures that are checked and for failures of the store. Must not throw. */
  readonly observe?: (event: UcanEvent) => void
}

export interface TypedSubjects {
  /** What rights over these rates are about. */
  readonly did: string
  /** The same service, to be served over HTTP too. */
  readonly service: UcanService
  /** Acts by a key, with the proofs of its right. The owner's own key needs none. */
  as(key: Identity, ...proofs: readonly (Proof | Uint8Array)[]): SubjectAgent
  /**
   * What a limiter takes as its `guard`: one for all calls. It follows the store until `close`. The
   * first request waits until it has read all rates; await its `catchUp` to wait for that before.
   */
  gate(): SubjectGate
  close(): void
}

/** Refusals, such as a missing right, are values: `error` with its name. */
export interface SubjectAgent {
  /** A rate of 0. */
  block(subject: string, options?: NewRateOptions): Promise<AgentResult<NewRateReceipt>>
  /** A rate beside those that the subject has. 0 or less blocks. */
  rate(
    subject: string,
    rate: number,
    options?: NewRateOptions,
  ): Promise<AgentResult<NewRateReceipt>>
  /** Replaces the subject's rate under a label. Loosening a block needs `force`. */
  replace(
    subject: string,
    rate: number,
    options: NewRateOptions & { readonly label: string },
  ): Promise<AgentResult<NewRateReceipt>>
  /**
   * Removes the blocks on this subject, in whatever spelling they were set, and answers how many.
   * One that is set meanwhile stays, and so do blocks on wider subjects. Needs the rights to list
   * and to remove.
   */
  unblock(subject: string): Promise<AgentResult<{ readonly removed: number }>>
  /** Removes rates by their ids: all or none. */
  remove(...ids: readonly string[]): Promise<AgentResult<object>>
  /** The rates on this subject, in any spelling; not those of wider ones. */
  list(subject: string): Promise<AgentResult<readonly ListedRate[]>>
  /** Who changed what, oldest first, in pages: as the service answers it, in whole seconds. */
  history(question?: {
    readonly subject?: string
    readonly after?: number
    readonly limit?: number
  }): Promise<ClientResult>
  /** Everything else that the service has. */
  readonly client: RatesClient
}

export interface SubjectRateOptions {
  readonly reason?: string
  /** When it ends: a duration from now (`7d`), a date and time in ISO 8601, or a moment. */
  readonly expires?: string | Instant
  /** Whose rate it is, such as `fraud`. */
  readonly label?: string
}

export interface NewRateOptions extends SubjectRateOptions {
  /** Cover a public suffix such as `co.uk`, or loosen a block. */
  readonly force?: boolean
}

export interface NewRateReceipt {
  readonly id: string
  /** That the subject can match nothing as it is spelled, or that it covers very much. */
  readonly warning?: string
}

export interface ListedRate {
  readonly id: string
  readonly rate: number
}

export type AgentResult<T> =
  | { readonly ok: T; readonly error?: undefined }
  | (ClientResult & { readonly ok?: undefined })

/**
 * @example
 * import { limiter, memory } from 'headgate'
 * import { generateIdentity, subjects } from 'headgate/subjects'
 *
 * const [store, owner] = [memory(), generateIdentity()]
 * const people = subjects({ store, identity: owner })
 * const limits = { Uploads: { burst: 9, period: '1m' } }
 * const uploads = limiter({ store, limits, guard: people.gate() })
 * await people.as(owner).block('example.com', { reason: 'ticket 1234', expires: '7d' })
 * console.log((await uploads.spend('Uploads', 'x', { subjects: ['ann@example.com'] })).reason)
 * people.close()
 */
export const subjects = (options: SubjectsOptions): TypedSubjects => {
  const { store, identity, observe, clock = systemClock } = options
  let gate: SubjectGate | undefined
  // Through the gate, once there is one: a block holds here when the call that set it answers.
  const felt: Store = { ...store, transact: (...call) => (gate?.store ?? store).transact(...call) }
  const service = createUcanService({ store: felt, identity, ...(observe && { observe }) })
  return {
    did: identity.did,
    service,
    as: (key, ...proofs) => {
      const client = createRatesClient({
        url: HERE,
        key,
        provider: identity.did,
        serviceKey: identity.keyDid,
        proofs: proofs.map((proof) => ('bytes' in proof ? proof.bytes : proof)),
        fetch: fetchFrom(service),
        clock,
      })
      return agentOf(client, store)
    },
    gate: () => {
      gate ??= createSubjectGate({
        store,
        provider: identity.did,
        clock,
        uptime: options.uptime ?? uptime,
        onFailure: (error) => observe?.({ kind: 'store-failure', error }),
      })
      return gate
    },
    close: () => gate?.close(),
  }
}

function agentOf(client: RatesClient, store: Store): SubjectAgent {
  const draftOf = async (subject: string, rate: number, given: NewRateOptions) => {
    const { expires, reason, label, force } = given
    return {
      subject,
      rate,
      ...(expires !== undefined && { expires: inSeconds(await endOf(expires, store)) }),
      ...(reason !== undefined && { reason }),
      ...(label !== undefined && { label }),
      ...(force !== undefined && { force }),
    }
  }
  const rate: SubjectAgent['rate'] = async (subject, count, given = {}) =>
    read(await client.add(await draftOf(subject, count, given)), receiptIn)
  const list: SubjectAgent['list'] = async (subject) => read(await client.list(subject), ratesIn)
  return {
    rate,
    list,
    client,
    block: (subject, given) => rate(subject, 0, given),
    replace: async (subject, count, given) => {
      const draft = { ...(await draftOf(subject, count, given)), label: given.label }
      return read(await client.set(draft), receiptIn)
    },
    unblock: async (subject) => {
      const found = await list(subject)
      if (found.ok === undefined) return found
      const blocks = found.ok.filter((each) => each.rate <= 0).map(({ id }) => id)
      if (blocks.length === 0) return { ok: { removed: 0 } }
      return read(await client.remove(blocks), () => ({ removed: blocks.length }))
    },
    remove: async (...ids) => read(await client.remove(ids), (ok) => ok),
    history: (question = {}) => client.history(question),
  }
}

/** By the time of the store, as the service counts. */
async function endOf(expires: string | Instant, store: Store): Promise<Instant> {
  if (typeof expires !== 'string') return expires
  const now = await store.transact((view) => answer(view.now))
  const end = parseMoment(expires, now, 'ahead')
  if (end !== undefined) return end
  const finding = quote(expires)
  const [code, thing] = ['RATE_EXPIRY_INVALID', 'expires'] as const
  return refuseSubject({ code, thing, rule: MOMENT_RULE, finding })
}

type Fetch = typeof globalThis.fetch

/** An address that is never resolved. */
const HERE = 'http://localhost/ucan'

export const fetchFrom =
  (service: Pick<UcanService, 'handle'>): Fetch =>
  async (_, init) => {
    const body = init?.body instanceof Uint8Array ? init.body : new Uint8Array()
    const headers = Object.fromEntries(new Headers(init?.headers))
    const reply = await service.handle({ method: 'POST', headers, body })
    return new Response(Uint8Array.from(reply.body), { status: reply.status })
  }

type Answered = Readonly<Record<string, unknown>>

function read<T>(result: ClientResult, shape: (ok: Answered) => T): AgentResult<T> {
  return result.error === undefined ? { ok: shape(result.ok) } : result
}

const receiptIn = ({ id, warning }: Answered): NewRateReceipt => ({
  id: String(id),
  ...(warning !== undefined && { warning: String(warning) }),
})

function ratesIn({ limits }: Answered): readonly ListedRate[] {
  const listed: readonly unknown[] = Array.isArray(limits) ? limits : []
  return listed.map((each) => {
    const { id, rate }: Partial<Record<keyof ListedRate, unknown>> = Object(each)
    return { id: String(id), rate: Number(rate) }
  })
}
