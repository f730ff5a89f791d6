/**
 * The request limiter over a catalog: check, spend, refund, reset and wait; acquire and release. Each
 * verb on charges is a pure step in one transaction, done once if the batch has an operation id.
 */
import { StoreError } from '../../core/errors.ts'
import { once } from '../../core/once.ts'
import {
  type Commit,
  type Key,
  type Store,
  answer as unchanged,
  type View,
} from '../../core/store.ts'
import { days, type Span } from '../../core/time.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { knownLimit, type LimitDefinition } from '../catalog/definition.ts'
import { type Crossing, crossing, isDivided } from './across.ts'
import {
  type BatchResult,
  charge,
  clear,
  datedAnswer,
  datesOf,
  giveBack,
  giving,
  plainSpends,
} from './batch.ts'
import {
  type Answer,
  type Ask,
  type AskMode,
  attendGuard,
  type Batch,
  type BucketCharge,
  type BucketOf,
  blockedAnswer,
  blockedCharges,
  type Guard,
  openAnswer,
  type Request,
  resolveCharges,
  toBatch,
  withSubjectRate,
} from './charge.ts'
import { type Guesses, recentGuesses } from './guesses.ts'
import {
  type OperationPolicy,
  type OperationVerb,
  operationNames,
  operationOf,
  type Remembered,
  rememberedSpend,
  retell,
  type Told,
  tellOf,
  undoing,
  withoutRefunded,
} from './operations.ts'
import {
  type AcquireOptions,
  type PlaceAnswer,
  type PlaceAsk,
  placeVerbs,
  toSpan,
} from './places.ts'
import { refundAcross } from './refund-across.ts'

export type LimiterVerb = 'check' | OperationVerb

export type LimiterEvent =
  | { readonly kind: 'answer'; readonly verb: LimiterVerb; readonly answer: Answer }
  | {
      readonly kind: 'place'
      readonly verb: PlaceVerb
      readonly limit: string
      readonly answer: PlaceAnswer
    }
  | { readonly kind: 'store-failure'; readonly error: StoreError; readonly open: boolean }

/** `check` looks at what is free. */
export type PlaceVerb = 'acquire' | 'check'

export interface Caller {
  /** Whose operation ids these are; ids of different scopes never meet. */
  readonly scope: string
}

export interface LimiterOptions {
  readonly store: Store
  /** Asked at every call, so that a reloaded catalog takes effect at once. */
  readonly catalog: () => Catalog
  readonly operations?: Partial<OperationPolicy>
  /** Blocks and rates on the subjects that charges name. */
  readonly guard?: Guard
  /** Called with every answer and every failure of the store. Must not throw. */
  readonly observe?: (event: LimiterEvent) => void
  /** How `wait` waits; the system's timer unless told. */
  readonly sleep?: (length: Span) => Promise<void>
}

/** What goes with a limit and an id. */
export type AskOptions = Omit<Ask, 'limit' | 'id' | 'parts'> & Pick<Batch, 'operationId' | 'dated'>

export interface WaitOptions extends AskOptions {
  /** As a length, or as text: `2s`. */
  readonly atMost: Span | string
}

export interface Limiter<Name extends string = string> {
  /** What is known of a limit. Throws for a name that is none. */
  definition(limit: Name): LimitDefinition
  /** Answers as `spend` would. Creates no bucket, writes nothing, promises nothing about the next call. */
  check(limit: Name, id: string, options?: AskOptions): Promise<Answer>
  check(request: Request): Promise<Answer>
  /** Charges all or nothing. A refusal charges nothing. */
  spend(limit: Name, id: string, options?: AskOptions): Promise<Answer>
  spend(request: Request, caller?: Caller): Promise<Answer>
  /**
   * With an operation id: gives back what the spend of that id charged, less what time forgave.
   * Without one: gives back the charges named, undated; an operator's act.
   */
  refund(limit: Name, id: string, options?: AskOptions): Promise<Answer>
  refund(request: Request, caller?: Caller): Promise<Answer>
  /** Fills the buckets, whatever was charged. An operator's act. */
  reset(limit: Name, id: string, options?: AskOptions): Promise<Answer>
  reset(request: Request, caller?: Caller): Promise<Answer>
  /** Spends as soon as it is allowed. Refused at once if that cannot be within `atMost`. */
  wait(limit: Name, id: string, options: WaitOptions): Promise<Answer>
  /** Takes a place of a limit that bounds how many run at once. */
  acquire(limit: Name, id: string, options?: AcquireOptions): Promise<PlaceAnswer>
  acquire(request: PlaceAsk, caller?: Caller): Promise<PlaceAnswer>
  /** Answers as `acquire` would, and takes nothing. */
  placesLeft(limit: Name, id: string): Promise<PlaceAnswer>
  /** Gives a place back. False: it was released before, or its time had run out. */
  release(placeId: string, caller?: Caller): Promise<boolean>
}

const LOCAL: Caller = { scope: 'local' }

/**
 * A day outlasts any sane retry. 100,000 remembered operations of a scope take some 50 MB at rest, and
 * at most 100 MB: each of their 1,563 shards holds 64 KiB, or one answer if that alone is more.
 */
const OPERATIONS: OperationPolicy = { rememberFor: days(1), perScope: 100_000 }

export const createLimiter = (options: LimiterOptions): Limiter => {
  const { store, catalog, guard, observe, sleep = bySystemTimer } = options
  const policy = { ...OPERATIONS, ...options.operations }
  const bucketOf: BucketOf = (ask) => withSubjectRate(guard, ask, catalog().resolve(ask))
  const across = isDivided(store) ? crossing({ store, policy, bucketOf }) : undefined
  const guesses = recentGuesses()
  const service: Service = { store, guard, observe, policy, bucketOf, across, guesses }
  const places = placeVerbs(options)
  const run = (verb: LimiterVerb, batch: Batch, caller: Caller): Promise<Answer> => {
    const pending = VERBS[verb](service, { verb, batch, caller })
    if (observe === undefined) return pending
    return pending.then((answer) => {
      observe({ kind: 'answer', verb, answer })
      return answer
    })
  }
  return {
    definition: (limit) => knownLimit(limit, catalog().limits),
    check: (...words: Words) => run('check', batchOf(words), LOCAL),
    spend: (...words: Words) => run('spend', batchOf(words), callerOf(words)),
    refund: (...words: Words) => run('refund', batchOf(words), callerOf(words)),
    reset: (...words: Words) => run('reset', batchOf(words), callerOf(words)),
    wait: async (limit, id, { atMost, ...rest }) => {
      const batch = batchOf([limit, id, rest])
      return spendWithin(() => run('spend', batch, LOCAL), toSpan(atMost, 'atMost', 0), sleep)
    },
    acquire: (...words: PlaceWords) => {
      const [first, second, options] = words
      if (typeof first === 'object') return places.acquire(first, placeCaller(second))
      return places.acquire({ ...options, limit: first, id: String(second) }, LOCAL)
    },
    placesLeft: (limit, id) => places.look({ limit, id }),
    release: (placeId, caller = LOCAL) => places.release(placeId, caller),
  }
}

/** The two ways to ask: a limit and an id, or a whole request. */
type Words =
  | readonly [limit: string, id: string, options?: AskOptions | undefined]
  | readonly [request: Request, caller?: Caller | undefined]

type PlaceWords =
  | readonly [limit: string, id: string, options?: AcquireOptions | undefined]
  | readonly [request: PlaceAsk, caller?: Caller | undefined, options?: undefined]

const placeCaller = (given: string | Caller | undefined): Caller =>
  typeof given === 'object' ? given : LOCAL

function batchOf(words: Words): Batch {
  const first = words[0]
  if (typeof first !== 'string') return toBatch(first)
  return toBatch({ ...words[2], limit: first, id: String(words[1]) })
}

function callerOf(words: Words): Caller {
  const caller = words[1]
  return typeof words[0] === 'object' && typeof caller === 'object' ? caller : LOCAL
}

/** Waits as long as each refusal says, and no longer than `atMost` in all. */
async function spendWithin(
  spend: () => Promise<Answer>,
  atMost: Span,
  sleep: (length: Span) => Promise<void>,
): Promise<Answer> {
  let left: number = atMost
  for (;;) {
    const answer = await spend()
    if (answer.allowed || answer.retryIn === 'never' || answer.retryIn > left) return answer
    left -= answer.retryIn
    await sleep(answer.retryIn)
  }
}

const bySystemTimer = (length: Span): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.ceil(length / 1_000)))

/** What every verb works with. */
interface Service {
  readonly store: Store
  readonly guard: Guard | undefined
  readonly observe: LimiterOptions['observe']
  readonly policy: OperationPolicy
  readonly bucketOf: BucketOf
  /** Only where the store has partitions. */
  readonly across: Crossing | undefined
  /** Which buckets the refund of a spend will read. */
  readonly guesses: Guesses
}

interface VerbCall {
  readonly verb: LimiterVerb
  readonly batch: Batch
  readonly caller: Caller
}

const SPEND_MODES: readonly AskMode[] = ['spend', 'check', 'try']

type RunVerb = (service: Service, call: VerbCall) => Promise<Answer>

const VERBS: Readonly<Record<LimiterVerb, RunVerb>> = {
  check: (service, call) => decide(service, call, ['check']),
  spend: (service, call) => decide(service, call, SPEND_MODES),
  refund,
  reset,
}

/** Not `async`: that took a tenth of a decision in memory. What is thrown rejects all the same. */
function decide(service: Service, call: VerbCall, modes: readonly AskMode[]): Promise<Answer> {
  try {
    const attending = attendGuard(service.guard, call.batch)
    if (attending === undefined) return decideNow(service, call, modes)
    return attending.then((failure) => decideNow(service, call, modes, failure))
  } catch (error) {
    return Promise.reject(error)
  }
}

function decideNow(
  service: Service,
  call: VerbCall,
  modes: readonly AskMode[],
  failure?: StoreError,
): Promise<Answer> {
  const { guard, observe, bucketOf } = service
  const blocked = failure ?? blockedCharges(guard, call.batch)
  if (!(blocked instanceof StoreError) && blocked.length > 0) {
    const charges = resolveCharges(bucketOf, call.batch, modes, '')
    return Promise.resolve(blockedAnswer(charges, blocked))
  }
  const charges = resolveCharges(bucketOf, call.batch, modes)
  const pending =
    blocked instanceof StoreError ? Promise.reject(blocked) : settle(service, call, charges, charge)
  return pending.catch((error: unknown) => {
    if (!(error instanceof StoreError)) throw error
    const open = charges.every(opensOnFailure)
    observe?.({ kind: 'store-failure', error, open })
    if (open) return openAnswer(charges)
    throw error
  })
}

async function refund(service: Service, call: VerbCall): Promise<Answer> {
  const { batch } = call
  const attending = attendGuard(service.guard, batch)
  const failure = attending && (await attending)
  if (failure !== undefined) throw failure
  if (batch.operationId !== undefined) return refundOperation(service, call, batch.operationId)
  const charges = resolveCharges(service.bucketOf, batch, ['spend'])
  const back = charges.map((each) => giving(each, each.asked.date))
  return settle(service, call, back, giveBack)
}

/** Gives back what a spend charged: all of it, or as much as is named. */
function refundOperation(service: Service, call: VerbCall, id: string): Promise<Answer> {
  const { bucketOf, policy, guesses } = service
  const { batch, caller } = call
  const { key } = operationNames('spend', id, caller.scope, policy)
  const named = batch.charges && resolveCharges(bucketOf, batch, ['spend'])
  if (service.across !== undefined) {
    const parts = { ...call, scope: caller.scope, id, named }
    return refundAcross(service, service.across, parts)
  }
  const guess = [key, ...(named?.map((each) => each.key) ?? guesses.of(key))]
  return rememberOnce(service, call, id, guess, (view) => {
    const told = rememberedSpend(view, id, key)
    const back = undoing(bucketOf, told, named)
    const result = giveBack(back, view)
    if (!result.answer.allowed) return result
    return { ...result, writes: [...result.writes, withoutRefunded(view, key, told, back)] }
  })
}

async function reset(service: Service, call: VerbCall): Promise<Answer> {
  const attending = attendGuard(service.guard, call.batch)
  const failure = attending && (await attending)
  if (failure !== undefined) throw failure
  const charges = resolveCharges(service.bucketOf, call.batch, ['spend'])
  return settle(service, call, charges, clear)
}

/** In one transaction, unless the buckets of the batch, or its memory, lie in several partitions. */
function settle(
  service: Service,
  call: VerbCall,
  charges: readonly BucketCharge[],
  act: (charges: readonly BucketCharge[], view: View) => BatchResult,
): Promise<Answer> {
  const { store, across } = service
  const { verb, batch, caller } = call
  const id = verb === 'check' ? undefined : batch.operationId
  if (across !== undefined && (id !== undefined || spans(store, charges))) {
    return across.settle({ verb, batch, scope: caller.scope }, charges, act)
  }
  const guess = charges.map(({ key }) => key)
  if (id !== undefined) {
    return rememberOnce(service, call, id, guess, (view) => act(charges, view))
  }
  const step = (view: View): Commit<Answer> => {
    const result = act(charges, view)
    const { answer, writes } = result
    const said = batch.dated ? datedAnswer(answer, datesOf(result)) : answer
    return { writes, appends: [], result: said }
  }
  if (verb === 'spend' && store.transactSpends !== undefined) {
    const spends = plainSpends(charges)
    if (spends !== undefined) return store.transactSpends(step, spends)
  }
  return store.transact(step, guess, verb === 'check' ? 'look' : undefined)
}

/** In one transaction with the memory of the operation id. */
async function rememberOnce(
  { store, policy, bucketOf, guesses }: Service,
  { verb, batch, caller: { scope } }: VerbCall,
  id: string,
  guess: readonly Key[],
  act: (view: View) => BatchResult,
): Promise<Answer> {
  if (verb === 'check') throw new TypeError('a check has no operation id')
  const names = operationNames(verb, id, scope, policy)
  const tellAgain = (told: readonly Told[]) => retell(bucketOf, told, batch.dated)
  const operation = operationOf(verb, id, batch, names, policy, tellAgain)
  const keys = [names.key, names.shard.key, ...guess]
  const { answer } = await store.transact<Remembered>((view) => {
    const run = (): Commit<Remembered> => {
      const result = act(view)
      const { answer, writes } = result
      const said = batch.dated ? datedAnswer(answer, datesOf(result)) : answer
      return { writes, appends: [], result: { answer: said, told: tellOf(result, verb) } }
    }
    return once(view, operation(view.now), run, (kept) =>
      unchanged({ ...kept, answer: { ...kept.answer, replayed: true as const } }),
    )
  }, keys)
  if (verb === 'spend' && answer.allowed) guesses.note(names.key, guess)
  return answer
}

function spans(store: Store, charges: readonly BucketCharge[]): boolean {
  const [first] = charges
  if (first === undefined || charges.length === 1) return false
  const partition = store.partition(first.key)
  return charges.some(({ key }) => store.partition(key) !== partition)
}

/** What never refuses cannot keep the gate closed. */
function opensOnFailure({ bucket, limit, mode, shadow }: BucketCharge): boolean {
  if (mode === 'try' || shadow === true || limit === undefined) return true
  return bucket.definition.onStoreFailure === 'open'
}
