/** Reads what the flags and variables of a signer say into its settings. */
import { resolve } from 'node:path'
import { days, parseDuration, type Span } from '../../core/index.ts'
import { quote } from '../../documents/index.ts'
import { MAX_QUEUE, MAX_WORKERS } from '../../secrets/poprf/pool/evaluator-pool.ts'
import { isProxy } from '../addressing.ts'
import { refuseConfig } from '../config-mistake.ts'
import {
  type Environment,
  type Flags,
  gatherOptions,
  readHostOption,
  readLogLevel,
  readPort,
  readStoreOption,
  type Saying,
} from '../options.ts'
import { DEFAULT_SETTINGS } from '../settings.ts'
import { readKeySecretOption } from './key-secret-text.ts'
import { ODIS_OPTION_NAMES, type OdisOptionName, odisVariableOf } from './option-names.ts'
import {
  DEFAULT_IN_ALL,
  DEFAULT_KEEP_AUDIT,
  DEFAULT_PER_ADDRESS,
  DEFAULT_SIGNER_PORT,
  DEFAULT_SIGNER_STORE,
  MAX_AUDIT_DAYS,
  type OuterRate,
  type SignerSettings,
} from './signer-settings.ts'

export type OdisFlags = { readonly [Name in OdisOptionName]?: string }

export interface SignerCall {
  readonly flags: Flags
  readonly odis: OdisFlags
  readonly environment: Environment
  readonly allowSingleKey: boolean
  readonly allowMemory: boolean
}

export const readSignerSettings = (call: SignerCall): SignerSettings => {
  const { host, port, store, 'log-level': level } = gatherOptions(call.flags, call.environment)
  const said = gatherOdisOptions(call.odis, call.environment)
  const perAddress = readRate(said['limit-per-address'], DEFAULT_PER_ADDRESS)
  const inAll = readRate(said['limit-in-all'], DEFAULT_IN_ALL)
  const keepAudit = readAuditDays(said['audit-days'])
  return {
    host: host === undefined ? DEFAULT_SETTINGS.host : readHostOption(host),
    port: port === undefined ? DEFAULT_SIGNER_PORT : readPort(port),
    store: store === undefined ? DEFAULT_SIGNER_STORE : readStoreOption(store),
    logLevel: level === undefined ? DEFAULT_SETTINGS.logLevel : readLogLevel(level),
    ...readKeyOptions(said, call.environment),
    conduct: readWord(said.conduct, ['cip40', 'celo']),
    engine: readWord(said.engine, ['wasm', 'typescript']),
    ...(said['current-key'] && { currentKey: readCount(said['current-key']) }),
    ...(said.workers && { workers: readCount(said.workers, MAX_WORKERS) }),
    ...(said.queue && { queue: readCount(said.queue, MAX_QUEUE) }),
    ...(said['rpc-url'] && { rpcUrl: readUrl(said['rpc-url']) }),
    ...(said['phone-quota'] && { phoneQuota: readCount(said['phone-quota']) }),
    ...(perAddress && { perAddress }),
    ...(inAll && { inAll }),
    trustProxy: readProxies(said['trust-proxy']),
    ...(keepAudit && { keepAudit }),
    allowSingleKey: call.allowSingleKey,
    allowMemory: call.allowMemory,
  }
}

export type OdisSayings = { readonly [Name in OdisOptionName]?: Saying }

export const gatherOdisOptions = (flags: OdisFlags, environment: Environment): OdisSayings => {
  const sayings: { [Name in OdisOptionName]?: Saying } = {}
  for (const name of ODIS_OPTION_NAMES) {
    const variable = odisVariableOf(name)
    const flag = flags[name]
    const value = environment[variable]
    if (flag !== undefined) sayings[name] = { text: flag, thing: `--${name}` }
    else if (value !== undefined) sayings[name] = { text: value, thing: variable }
  }
  return sayings
}

/** Both are needed: a key that anybody can read is none. */
export const readKeyOptions = (
  { keys, 'key-secret': secret }: OdisSayings,
  environment: Environment,
): Pick<SignerSettings, 'keys' | 'keySecret'> => {
  if (keys === undefined) return refuseAbsent('--keys', 'must name the key directory')
  if (keys.text === '') return refuse(keys, 'must name the key directory')
  if (secret === undefined) {
    return refuseAbsent('--key-secret', 'must say where the secret is: file:PATH, env:NAME …')
  }
  return { keys: resolve(keys.text), keySecret: readKeySecretOption(secret, environment) }
}

/** No count is larger: as many digits as the version of a key may have. */
const MAX_COUNT = 999_999_999

export const readCount = (saying: Saying, most = MAX_COUNT): number => {
  const count = /^\d{1,9}$/.test(saying.text) ? Number(saying.text) : 0
  if (count >= 1 && count <= most) return count
  return refuse(saying, `must be a whole number from 1 to ${most}`)
}

/** The first word is what holds unless told. */
function readWord<Word extends string>(
  saying: Saying | undefined,
  words: readonly [Word, ...Word[]],
): Word {
  if (saying === undefined) return words[0]
  const word = words.find((candidate) => candidate === saying.text)
  return word ?? refuse(saying, `must be one of ${words.join(', ')}`)
}

/** What follows the host may be a password of the node's, so it is not repeated. */
function readUrl({ text, thing }: Saying): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text
  const rule = 'must be the http or https URL of a node'
  const finding = 'something else, which is not repeated'
  return refuseConfig({ code: 'OPTION_INVALID', thing, rule, finding })
}

/** Undefined for no limit. */
function readRate(saying: Saying | undefined, byDefault: OuterRate): OuterRate | undefined {
  if (saying === undefined) return byDefault
  if (saying.text === 'none') return undefined
  const [, count = '', period = ''] = /^([1-9]\d{0,6})\/([0-9a-zµ.]{1,20})$/.exec(saying.text) ?? []
  const length = parseDuration(period)
  if (count !== '' && length !== undefined && length > 0) return { count: Number(count), period }
  return refuse(saying, 'must be none, or a number and a period such as 60/1m')
}

/** Undefined for ever. 0 is refused: some would mean nothing by it, and others everything. */
function readAuditDays(saying: Saying | undefined): Span | undefined {
  if (saying === undefined) return DEFAULT_KEEP_AUDIT
  if (saying.text === 'forever') return undefined
  const count = /^\d{1,5}$/.test(saying.text) ? Number(saying.text) : 0
  if (count >= 1 && count <= MAX_AUDIT_DAYS) return days(count)
  return refuse(saying, `must be a whole number of days from 1 to ${MAX_AUDIT_DAYS}, or forever`)
}

function readProxies(saying: Saying | undefined): readonly string[] {
  if (saying === undefined) return []
  const proxies = saying.text.split(',').map((word) => word.trim())
  return proxies.every(isProxy)
    ? proxies
    : refuse(saying, 'must hold addresses and prefixes, with commas between them')
}

const refuse = ({ text, thing }: Saying, rule: string): never =>
  refuseConfig({ code: 'OPTION_INVALID', thing, rule, finding: quote(text) })

const refuseAbsent = (thing: string, rule: string): never =>
  refuseConfig({ code: 'OPTION_INVALID', thing, rule, finding: 'nothing' })
