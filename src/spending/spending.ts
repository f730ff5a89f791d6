/** Spending: what an operator pays for its users, admitted, held, captured and settled under plans. */
import { randomBytes } from 'node:crypto'
import { StoreError } from '../core/errors.ts'
import { answer, type Store, type View } from '../core/store.ts'
import { seconds } from '../core/time.ts'
import { type SpendingAdministration, spendingAdministration } from './administration.ts'
import { check } from './admission.ts'
import type { BookingAnswer, PlanStanding, SpendingAnswer, Standings } from './answer.ts'
import {
  type CaptureAsk,
  type CheckAsk,
  type HoldAsk,
  type Purpose,
  type RecordAsk,
  type ReleaseAsk,
  type SettleAsk,
  toAmount,
  toWho,
} from './ask.ts'
import { type SpendingBooks, spendingBooks } from './books.ts'
import type { SpendingWindow } from './calendar.ts'
import { capture } from './capture.ts'
import { type Change, type Context, openContext, toStorePlan } from './context.ts'
import { hold } from './hold-step.ts'
import type { PlanCatalog, SpendingSettings } from './plan.ts'
import { record } from './record.ts'
import { release, settle } from './settle.ts'
import { planStandingById, standingOf } from './state.ts'
import { start } from './turn.ts'

export interface Spending extends SpendingBooks, SpendingAdministration {
  /** False while the total is zero: then everything is allowed and nothing is counted. */
  isEnabled(): boolean
  /** Notes the first start, for windows that count from it. Call it once when a process starts. */
  start(): Promise<SpendingWindow>
  /** Answers as `hold` would. Creates no plan, writes nothing, promises nothing about the next call. */
  check(ask: CheckAsk): Promise<SpendingAnswer>
  /** Keeps the estimate aside on every node, or refuses and changes nothing. */
  hold(ask: HoldAsk): Promise<SpendingAnswer>
  /** Charges part of a hold and keeps the rest. */
  capture(ask: CaptureAsk): Promise<BookingAnswer>
  /** Ends a hold at what was really spent. */
  settle(ask: SettleAsk): Promise<BookingAnswer>
  /** Ends a hold with nothing more spent. */
  release(ask: ReleaseAsk): Promise<BookingAnswer>
  /** Books what was already spent, past any limit. */
  record(ask: RecordAsk): Promise<BookingAnswer>
  /** Where a caller stands, without asking for anything. */
  standing(purpose: Purpose): Promise<Standings>
  plan(id: string): Promise<PlanStanding>
}

export interface SpendingOptions {
  readonly store: Store
  /** Asked at every call, so that reloaded settings and plans are felt at once. */
  readonly settings: () => SpendingSettings
  readonly plans: () => PlanCatalog
  /** Told of every answer and every failure of the store. Must not throw. */
  readonly observe?: (event: SpendingEvent) => void
}

export type AdmissionVerb = 'check' | 'hold'
export type BookingVerb = 'capture' | 'settle' | 'release' | 'record'

export type SpendingEvent =
  | {
      readonly kind: 'admission'
      readonly verb: AdmissionVerb
      readonly ask: CheckAsk
      readonly answer: SpendingAnswer
    }
  | { readonly kind: 'booking'; readonly verb: BookingVerb; readonly answer: BookingAnswer }
  | { readonly kind: 'store-failure'; readonly error: StoreError }

type Transact = <R>(step: (context: Context) => Change<R>) => Promise<R>
type Observe = NonNullable<SpendingOptions['observe']>

export const createSpending = (options: SpendingOptions): Spending => {
  const { store, settings, plans, observe = () => {} } = options
  const open = (view: View): Context => openContext(view, settings(), plans())
  const change: Transact = (step) =>
    store.transact((view) => {
      const context = open(view)
      return toStorePlan(context, step(context))
    })
  const look = <R>(step: (context: Context) => R): Promise<R> =>
    store.transact((view) => answer(step(open(view))))
  return {
    isEnabled: () => settings().total !== 0n,
    start: () => change(start),
    standing: (purpose) => look((context) => standingOf(context, purpose)),
    plan: (id) => look((context) => planStandingById(context, id)),
    ...admissions(change, observe),
    ...bookings(change, observe),
    ...spendingAdministration(change, newNonce),
    ...spendingBooks(store, settings, open),
  }
}

function admissions(change: Transact, observe: Observe): Pick<Spending, AdmissionVerb> {
  const admission = async (
    verb: AdmissionVerb,
    ask: CheckAsk,
    step: (context: Context) => Change<SpendingAnswer>,
  ) => {
    const found = await change(step).catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error
      observe({ kind: 'store-failure', error })
      return STORE_DOWN
    })
    observe({ kind: 'admission', verb, ask, answer: found })
    return found
  }
  return {
    check: async (ask) => {
      const [who, estimate] = [toWho(ask), toAmount(ask.estimate ?? 0n, 'estimate')]
      return admission('check', ask, (context) => check(context, who, estimate))
    },
    hold: (ask) => {
      const nonce = newNonce()
      return admission('hold', ask, (context) => hold(context, ask, nonce))
    },
  }
}

/** A store that is down throws here: what was spent must be booked later, by whoever knows it. */
function bookings(change: Transact, observe: Observe): Pick<Spending, BookingVerb> {
  const booking = async (verb: BookingVerb, step: (context: Context) => Change<BookingAnswer>) => {
    const booked = await change(step)
    observe({ kind: 'booking', verb, answer: booked })
    return booked
  }
  return {
    capture: (ask) => booking('capture', (context) => capture(context, ask)),
    settle: (ask) => booking('settle', (context) => settle(context, ask)),
    release: (ask) => booking('release', (context) => release(context, ask)),
    record: (ask) => booking('record', (context) => record(context, ask)),
  }
}

/** Nobody knows what was spent, so nothing more is: spending is always closed when its store is down. */
const STORE_DOWN: SpendingAnswer = {
  allowed: false,
  reason: 'STORE_UNAVAILABLE',
  node: null,
  plan: null,
  total: null,
  window: null,
  retryIn: seconds(1),
}

/** 128 bits: nobody settles a hold they were not told of. */
function newNonce(): string {
  return randomBytes(16).toString('base64url')
}
