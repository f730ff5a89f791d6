/** What flags and environment variables may say; each flag has its variable and the other way round. */
import { HeadgateError } from '../core/index.ts'
import { quote, suggestion } from '../documents/index.ts'
import { isHost, MAX_PORT } from './addressing.ts'
import { type ConfigErrorCode, refuseConfig } from './config-mistake.ts'
import { ODIS_VARIABLES } from './odis/option-names.ts'
import { LOG_LEVELS, type LogLevel } from './settings.ts'
import { parseStoreUrl } from './store-url.ts'

export const OPTION_NAMES = [
  'config',
  'host',
  'port',
  'store',
  'defaults',
  'overrides',
  'log-level',
] as const

export type OptionName = (typeof OPTION_NAMES)[number]

/** As text, as it stands on the command line. */
export type Flags = { readonly [Name in OptionName]?: string }

export type Environment = { readonly [name: string]: string | undefined }

/** Read elsewhere: by the client commands, by subjects, and by the project's own tests. */
export const OTHER_VARIABLES = [
  'HEADGATE_SERVER',
  'HEADGATE_TOKEN',
  'HEADGATE_UCAN_KEY',
  'HEADGATE_PROVE',
  ...ODIS_VARIABLES,
] as const

export const variableOf = (name: OptionName): string =>
  `HEADGATE_${name.toUpperCase().replaceAll('-', '_')}`

/** What was said, by whom: a message must name the flag or the variable, not the setting. */
export interface Saying {
  readonly text: string
  readonly thing: string
}

export type Sayings = { readonly [Name in OptionName]?: Saying }

/** Flags win over variables. */
export const gatherOptions = (flags: Flags, environment: Environment): Sayings => {
  refuseUnknownVariables(environment)
  const sayings: { [Name in OptionName]?: Saying } = {}
  for (const name of OPTION_NAMES) {
    const flag = flags[name]
    const variable = variableOf(name)
    const value = isServiceLink(variable, environment[variable]) ? undefined : environment[variable]
    if (flag !== undefined) sayings[name] = { text: flag, thing: `--${name}` }
    else if (value !== undefined) sayings[name] = { text: value, thing: variable }
  }
  return sayings
}

/** A variable that nobody reads is a typing mistake. */
export const refuseUnknownVariables = (environment: Environment): void => {
  const known: readonly string[] = [...OPTION_NAMES.map(variableOf), ...OTHER_VARIABLES]
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith('HEADGATE_') || known.includes(name)) continue
    if (isServiceLink(name, value)) continue
    refuseConfig({
      code: 'ENVIRONMENT_UNKNOWN',
      thing: 'the environment',
      rule: `may hold, of HEADGATE_*, only ${known.join(', ')}`,
      finding: `${name}${suggestion(name, known)}`,
    })
  }
}

export const readPort = ({ text, thing }: Saying): number => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= MAX_PORT) return port
  throw invalid(thing, `must be a whole number from 0 to ${MAX_PORT}`, quote(text))
}

export const readHostOption = ({ text, thing }: Saying): string => {
  if (isHost(text)) return text
  throw invalid(thing, 'must be a host name or an address', quote(text))
}

export const readLogLevel = ({ text, thing }: Saying): LogLevel => {
  const level = LOG_LEVELS.find((candidate) => candidate === text)
  if (level !== undefined) return level
  throw invalid(thing, `must be one of ${LOG_LEVELS.join(', ')}`, quote(text))
}

export const readStoreOption = ({ text, thing }: Saying): string => {
  parseStoreUrl(text, { thing })
  return text
}

export const readFileOption = ({ text, thing }: Saying): string => {
  if (text !== '') return text
  throw invalid(thing, 'must name a file', 'nothing')
}

/**
 * Kubernetes sets such variables in every pod for each service; for one called `headgate` they
 * begin like ours, and `HEADGATE_PORT` is then an address. Nobody wrote them, so nobody is told.
 */
function isServiceLink(name: string, value: string | undefined): boolean {
  if (/_SERVICE_(?:HOST|PORT(?:_[A-Z0-9_]+)?)$/.test(name)) return true
  if (/_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/.test(name)) return true
  return name.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(value ?? '')
}

const invalid = (thing: string, rule: string, finding: string): HeadgateError<ConfigErrorCode> =>
  new HeadgateError({ code: 'OPTION_INVALID', thing, rule, finding })
