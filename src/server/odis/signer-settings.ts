/** Everything a signer is told at its start. It has no file of its own: flags win over variables. */
import { days, type Span } from '../../core/index.ts'
import type { Conduct, EngineName, KeySecretSource } from '../../secrets/index.ts'
import type { LogLevel } from '../settings.ts'

export interface SignerSettings {
  readonly host: string
  readonly port: number
  readonly store: string
  readonly logLevel: LogLevel
  /** The key directory. */
  readonly keys: string
  readonly keySecret: KeySecretSource
  /** The version that answers where a request names none; the highest unless told. */
  readonly currentKey?: number
  readonly conduct: Conduct
  readonly engine: EngineName
  /** Threads; as many as processors unless told. */
  readonly workers?: number
  /** Evaluations that may wait; the pool's own default unless told. */
  readonly queue?: number
  /** Of an Ethereum node; without it there is no smart contract domain. */
  readonly rpcUrl?: string
  /** Attempts of each account in the phone number domain; without it there is none. */
  readonly phoneQuota?: number
  readonly perAddress?: OuterRate
  readonly inAll?: OuterRate
  readonly trustProxy: readonly string[]
  /** How long audit entries are kept; for ever if absent. */
  readonly keepAudit?: Span
  /** A key in one hand on a host that others reach. */
  readonly allowSingleKey: boolean
  /** For tests: attempts are forgotten at a restart. */
  readonly allowMemory: boolean
}

/** So many at once, and so many again every period. */
export interface OuterRate {
  readonly count: number
  /** As a duration is written: `1m`. */
  readonly period: string
}

/** 8080 and 8081 are those of `headgate serve`. */
export const DEFAULT_SIGNER_PORT = 8082

export const DEFAULT_SIGNER_STORE = 'sqlite:./headgate-signer.db'

/** A person tries a PIN a few times; a program that guesses wants more than this. */
export const DEFAULT_PER_ADDRESS: OuterRate = { count: 60, period: '1m' }

/** More than two processors evaluate in a second, with room for quota statuses. */
export const DEFAULT_IN_ALL: OuterRate = { count: 1_000, period: '1s' }

/** A quarter: long enough to look into what somebody reports late. */
export const DEFAULT_KEEP_AUDIT = days(90)

/** A century. Whoever means longer means for ever. */
export const MAX_AUDIT_DAYS = 36_500
