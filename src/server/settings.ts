/** What a server is told: flags over environment over headgate.yml. */
import { days, type Span } from '../core/index.ts'
import type { SubjectSettings } from './subjects/subject-settings.ts'

export const SCOPES = ['decide', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export interface TokenRecord {
  readonly name: string
  /** SHA-256 of the token, in lower-case hex. The token itself is shown once, when it is made. */
  readonly sha256: string
  readonly scopes: readonly Scope[]
}

export interface Settings {
  readonly host: string
  readonly port: number
  /** `memory:` or `sqlite:PATH`. */
  readonly store: string
  readonly configFile?: string
  readonly defaultsFile?: string
  readonly overridesFile?: string
  /** Private and reserved addresses are refused as ids where this is on. */
  readonly refuseReserved: boolean
  /** Where denial messages point their readers to. */
  readonly helpLink?: string
  readonly tokens: readonly TokenRecord[]
  /** Addresses and prefixes of proxies whose X-Forwarded-For is believed; empty: none. */
  readonly trustProxy: readonly string[]
  readonly operations: { readonly rememberFor: Span; readonly perScope: number }
  readonly logLevel: LogLevel
  /** Absent: off, unless the environment holds a key. */
  readonly subjects?: SubjectSettings
}

/** Where nothing is said. Without a token only this machine may ask, so the host is its own. */
export const DEFAULT_SETTINGS: Settings = {
  host: '127.0.0.1',
  port: 8080,
  store: 'sqlite:./headgate.db',
  refuseReserved: false,
  tokens: [],
  trustProxy: [],
  operations: { rememberFor: days(1), perScope: 100_000 },
  logLevel: 'info',
}
