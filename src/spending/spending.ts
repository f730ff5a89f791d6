/** Spending: what an operator pays for its users, admitted, held, captured and settled under plans. */
import { randomFillSync } from 'node:crypto'
import { StoreError } from '../core/errors.ts'
import type { ClockVerdict } from '../core/machine-clock.ts'
import type { Key, Store, View } from '../core/store.ts'
import { seconds, type Wait } from '../core/time.ts'
import { systemClock, uptime } from '../lib/clock.ts'
import { administration, type Change, type SpendingAdministration } from './admin.ts'
import { type ClockWitness, spendingClock, UntrustedClockError } from './clock.ts'
import { checkAct, planStandingAct, standingsAct } from './flow/admission.ts'
import type {
  PlanStanding,
  SpendingAnswer,
  SpendingCharge,
  SpendingReason,
  Standings,
} from './flow/answer.ts'
import type {
  CaptureAsk,
  CheckAsk,
  ExtendAsk,
  HoldAsk,
  Purpose,
  RecordAsk,
  ReleaseAsk,
  SettleAsk,
} from './flow/ask.ts'
import { extendAct } from './flow/extension.ts'
import { findHold, holdAct } from './flow/hold.ts'
import { captureAct, recordAct, releaseAct, settleAct } from './flow/settlement.ts'
import {
  calendarGuess,
  type Guess,
  openPayerView,
  type PayerView,
  type SpendingAct,
  toCommit,
} from './flow/step.ts'
import { keysOf } from './keys.ts'
import { compactLedger } from './ledger/compaction.ts'
import { type SpendingLedger, spendingLedger } from './ledger/ledger.ts'
import type { PlanCatalog, SpendingSettings } from './plans/plan.ts'
import { createSponsor, type Sponsor } from './sponsor.ts'
import { calendarMemory, noteStart, type SpendingWindow } from './windows/calendar.ts'

export interface Spending extends SpendingLedger, SpendingAdministration {
  /** False while the total is zero: then everything is allowed and nothing is counted. */
  isEnabled(): boolean
  /** Notes the first start, for windows that count from it. Call it once when a process starts. */
  start(): Promise<SpendingWindow>
  /** Answers as `hold` would. Creates no plan, writes nothing, promises nothing about the next call. */
  check(ask: CheckAsk): Promise<SpendingAnswer>
  /** Keeps the estimate aside in every budget, or refuses and changes nothing. */
  hold(ask: HoldAsk): Promise<SpendingAnswer>
  /** Puts a hold in the place of an open one, with what is left of it and the next estimate, or refuses. */
  extend(ask: ExtendAsk): Promise<SpendingAnswer>
  /** Charges part of a hold and keeps the rest. */
  capture(ask: CaptureAsk): Promise<SpendingCharge>
  /** Ends a hold at what was really spent. */
  settle(ask: SettleAsk): Promise<SpendingCharge>
  /** Ends a hold with nothing more spent. */
  release(ask: ReleaseAsk): Promise<SpendingCharge>
  /** Charges what was already spent, past any limit. */
  record(ask: RecordAsk): Promise<SpendingCharge>
  /**
   * Holds the estimate, runs the work, and settles at the fee that it returns. Refused: the work is
   * not run. A throw of the work leaves the hold to expire, unless it is `nothingPaid`.
   */
  sponsor: Sponsor
  /** What a caller's plan and the payer have left, without asking for anything. */
  standing(purpose: Purpose): Promise<Standings>
  plan(id: string): Promise<PlanStanding>
  /**
   * Judges the clock and records what it found. To be called every few seconds by a process that
   * stays; each act looks for itself too, and records nothing but a boot that is new. Always trusted
   * without a `machine`.
   */
  lookAtClock(): Promise<ClockVerdict>
}

export interface SpendingOptions extends ClockWitness {
  readonly store: Store
  /** Called for every ask, so that reloaded settings and plans apply at once. */
  readonly settings: () => SpendingSettings
  readonly plans: () => PlanCatalog
  /** Called with every answer and every failure of the store. Must not throw. */
  readonly observe?: (event: SpendingEvent) => void
}

export type AdmissionVerb = 'check' | 'hold'
export type ChargeVerb = 'capture' | 'settle' | 'release' | 'record'

export type SpendingEvent =
  | {
      readonly kind: 'admission'
      readonly verb: AdmissionVerb
      readonly ask: CheckAsk
      readonly answer: SpendingAnswer
    }
  | { readonly kind: 'charge'; readonly verb: ChargeVerb; readonly answer: SpendingCharge }
  | { readonly kind: 'store-failure'; readonly error: StoreError }

/** The books on a store, over settings and plans that may change at any time. */
export const createSpending = (options: SpendingOptions): Spending => {
  const { store, settings, plans, observe = () => {} } = options
  const openUnjudged = (view: View): PayerView => openPayerView(view, settings(), plans())
  const clock = spendingClock(options, openUnjudged)
  const calendars = calendarMemory(uptime, systemClock)
  const namesAhead = (guess: Guess): readonly Key[] => {
    if (store.atHand) return []
    const inForce = settings()
    const keys = keysOf(inForce.payer)
    const seen = calendars.guess(inForce.window)
    const names = guess({ settings: inForce, plans: plans(), keys, calendars: seen })
    return [...clock.guess(keys), ...names]
  }
  const change: Change = async ({ step, guess }) => {
    const names = namesAhead(guess)
    const { calendar, result } = await clock.confirmed(() =>
      store.transact((view) => {
        const payer = clock.open(view)
        const made = step(payer)
        const commit = toCommit(payer, made)
        const seen = made.calendar ?? payer.calendar
        return { ...commit, result: { calendar: seen, result: commit.result } }
      }, names),
    )
    calendars.learn(calendar)
    return result
  }
  const [admitting, charging] = [admissions(change, observe), charges(change, observe)]
  return {
    isEnabled: () => settings().total !== 0n,
    start: () => change({ step: noteStart, guess: calendarGuess }),
    extend: async (ask) => change(extendAct(ask, newNonce())),
    standing: async (purpose) => change(standingsAct(purpose)),
    plan: (id) => change(planStandingAct(id)),
    ...admitting,
    ...charging,
    sponsor: createSponsor({ ...admitting, ...charging, find: (id) => change(findHold(id)) }),
    ...administration(change, newNonce),
    lookAtClock: clock.look,
    repairClock: clock.repair,
    ...spendingLedger(store, settings, clock.read),
    // What has ended is told by the clock, and is gone for good.
    compact: () =>
      clock.confirmed(() => compactLedger(store, keysOf(settings().payer), clock.open)),
  }
}

type Observe = NonNullable<SpendingOptions['observe']>

// Asks are parsed outside the steps, which may run again: a mistake in one never reaches the store.

function admissions(change: Change, observe: Observe): Pick<Spending, AdmissionVerb> {
  const admission = async (
    verb: AdmissionVerb,
    ask: CheckAsk,
    act: SpendingAct<SpendingAnswer>,
  ) => {
    const found = await change(act).catch((error: unknown) => {
      if (error instanceof UntrustedClockError) return closed('CLOCK_UNTRUSTED', error.retryIn)
      if (!(error instanceof StoreError)) throw error
      observe({ kind: 'store-failure', error })
      return closed('STORE_UNAVAILABLE', seconds(1))
    })
    observe({ kind: 'admission', verb, ask, answer: found })
    return found
  }
  return {
    check: async (ask) => admission('check', ask, checkAct(ask)),
    hold: async (ask) => admission('hold', ask, holdAct(ask, newNonce())),
  }
}

/** A store that is down throws here: what was spent must be charged later, by the caller who knows it. */
function charges(change: Change, observe: Observe): Pick<Spending, ChargeVerb> {
  const charge = async (verb: ChargeVerb, act: SpendingAct<SpendingCharge>) => {
    const charged = await change(act)
    observe({ kind: 'charge', verb, answer: charged })
    return charged
  }
  return {
    capture: async (ask) => charge('capture', captureAct(ask)),
    settle: async (ask) => charge('settle', settleAct(ask)),
    release: async (ask) => charge('release', releaseAct(ask)),
    record: async (ask) => charge('record', recordAct(ask)),
  }
}

/**
 * What was spent, or which window it is, is not known, so nothing more is spent: spending is always
 * closed when its store is down, or its clock may be wrong.
 */
const closed = (reason: SpendingReason, retryIn: Wait): SpendingAnswer => ({
  allowed: false,
  reason,
  budget: null,
  plan: null,
  total: null,
  window: null,
  retryIn,
})

/** 96 bits: only a caller that was given the id of a hold can settle it. */
const NONCE_BYTES = 12

/** Chance for many holds at once: asking the system for each took as long as writing its entry. */
const chance = Buffer.alloc(NONCE_BYTES * 128)
let drawn = chance.length

function newNonce(): string {
  if (drawn === chance.length) {
    randomFillSync(chance)
    drawn = 0
  }
  drawn += NONCE_BYTES
  return chance.toString('base64url', drawn - NONCE_BYTES, drawn)
}
