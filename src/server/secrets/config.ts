/** The settings of a signer, one line each. It has no file of its own: flags win over variables. */
import { parseDuration } from '../../core/duration.ts'
import { days, type Span } from '../../core/time.ts'
import {
  formatted,
  listOf,
  oneOf,
  pathTo,
  type ReaderContext,
  refuseText,
  type TextReader,
  trueOrFalse,
  wholeNumberIn,
} from '../../documents/settings/reader.ts'
import {
  complete,
  type SettingsOf,
  settingsTable,
  type TextSources,
} from '../../documents/settings/table.ts'
import { MAX_TIME_SOURCES, timeSource } from '../../documents/settings/time-source.ts'
import type { KeySecretSource, RegistryOptions } from '../../secrets/index.ts'
import { proxyList } from '../config/network.ts'
import { readOptions } from '../config/options.ts'
import { SERVER_SETTINGS } from '../config/settings.ts'

/** So many at once, and so many again every period. */
export interface OuterRate {
  readonly count: number
  /** As a duration is written: `1m`. */
  readonly period: string
}

const outerRate: TextReader<OuterRate | 'none'> = {
  ...formatted({
    parse: parseRate,
    rule: 'must be none, or a number and a period such as 60/1m',
    schema: {},
  }),
  toJson: (rate) => (rate === 'none' ? rate : `${rate.count}/${rate.period}`),
}

/** A century; longer is `forever`. */
export const MAX_AUDIT_DAYS = 36_500

const auditDays: TextReader<Span | 'forever'> = {
  ...formatted({
    parse: parseAuditDays,
    rule: `must be a whole number of days from 1 to ${MAX_AUDIT_DAYS}, or forever`,
    schema: {},
  }),
  toJson: (kept) => (kept === 'forever' ? kept : kept / days(1)),
}

/** What follows the host may be a password, so it is not repeated. */
const nodeUrl = formatted({
  parse: (text) => (/^https?:\/\//.test(text) && URL.canParse(text) ? text : undefined),
  rule: 'must be the http or https URL of a node',
  schema: {},
  finding: 'something else, which is not repeated',
})

const timeSources = textList(
  timeSource,
  MAX_TIME_SOURCES,
  `must hold at most ${MAX_TIME_SOURCES} https URLs, with commas between them`,
)

/** A few more than there are kinds of domain, for those of other services and of times to come. */
const MAX_DEPRECATED = 64

type DomainName = NonNullable<RegistryOptions['deprecated']>[number]

const deprecatedDomain: TextReader<DomainName> = {
  ...formatted({
    parse: parseDomainName,
    rule: 'must be a name and a version with a slash between them',
    schema: {},
  }),
  toJson: ({ name, version }) => `${name}/${version}`,
}

const deprecatedDomains = textList(
  deprecatedDomain,
  MAX_DEPRECATED,
  `must hold at most ${MAX_DEPRECATED} names of domains, each with its version (ODIS Peppered Domain/1), with commas between them`,
)

/** Each is compared with the origin of every request. */
const MAX_ORIGINS = 64

const origin = formatted({
  parse: (text) => (text === '*' || isOrigin(text) ? text : undefined),
  rule: 'must be an origin such as https://wallet.example',
  schema: {},
})

const origins = textList(
  origin,
  MAX_ORIGINS,
  `must be *, or hold at most ${MAX_ORIGINS} origins (https://wallet.example), with commas between them`,
)

/** Never repeats what was found: it may be the secret itself. */
const keySecretSource = formatted({
  parse: parseKeySecret,
  rule: 'must be file:PATH, env:NAME or command:WORDS',
  schema: {},
  finding: 'something else, which is not repeated',
})

/** As many digits as the version of a key may have. */
const count = (max = 999_999_999) => wholeNumberIn({ min: 1, max })

export const SIGNER_SETTINGS = settingsTable({
  host: {
    ...SERVER_SETTINGS.host,
    sentence: 'The name or address to listen on.',
  },
  // 8080 is that of `headgate serve`.
  port: { ...SERVER_SETTINGS.port, default: 8082 },
  store: {
    ...SERVER_SETTINGS.store,
    default: 'sqlite:./headgate-signer.db',
    sentence: 'A database of its own: `sqlite:PATH`, or a server. Not `memory:`.',
  },
  acceptRedisLosses: {
    ...SERVER_SETTINGS.acceptRedisLosses,
    sentence:
      'Keep attempts in a Redis that may lose what it answered, and so hand them out again: without an append-only file that is synced always, with eviction, or with replicas.',
  },
  keys: {
    reader: pathTo('the key directory'),
    required: true,
    flag: 'keys DIR',
    variable: 'HEADGATE_ODIS_KEYS',
    sentence: 'The key directory, one encrypted file a version.',
  },
  keySecret: {
    reader: keySecretSource,
    required: true,
    flag: 'key-secret SOURCE',
    variable: 'HEADGATE_ODIS_KEY_SECRET',
    sentence: 'What encrypts the keys: `file:PATH`, `env:NAME` or `command:WORDS`.',
  },
  currentKey: {
    reader: count(),
    unset: 'the highest',
    flag: 'current-key N',
    variable: 'HEADGATE_ODIS_CURRENT_KEY',
    sentence: 'The key version that answers a request which names none.',
  },
  conduct: {
    reader: oneOf(['cip40', 'celo']),
    default: 'cip40',
    flag: 'conduct WORD',
    variable: 'HEADGATE_ODIS_CONDUCT',
    sentence: '`cip40`, or `celo` to answer as the deployed service does.',
  },
  engine: {
    reader: oneOf(['wasm', 'typescript']),
    default: 'wasm',
    flag: 'engine WORD',
    variable: 'HEADGATE_ODIS_ENGINE',
    sentence: '`wasm` or `typescript`; both give the same bytes.',
  },
  workers: {
    reader: count(64),
    unset: 'as many as processors',
    flag: 'workers N',
    variable: 'HEADGATE_ODIS_WORKERS',
    sentence: 'Threads that evaluate, 1 to 64.',
  },
  queue: {
    reader: count(4_096),
    unset: '64',
    flag: 'queue N',
    variable: 'HEADGATE_ODIS_QUEUE',
    sentence: 'Evaluations that may wait for a thread, 1 to 4096.',
  },
  rpcUrl: {
    reader: nodeUrl,
    flag: 'rpc-url URL',
    variable: 'HEADGATE_ODIS_RPC_URL',
    sentence: 'An Ethereum node. Without one there is no smart contract domain.',
  },
  phoneQuota: {
    reader: count(),
    flag: 'phone-quota N',
    variable: 'HEADGATE_ODIS_PHONE_QUOTA',
    sentence: 'Attempts for each account. Without it there is no phone number domain.',
  },
  phoneVerifiedQuota: {
    reader: count(),
    unset: 'none',
    flag: 'phone-verified-quota N',
    variable: 'HEADGATE_ODIS_PHONE_VERIFIED_QUOTA',
    sentence: 'More attempts for an account that owns the number it names.',
  },
  phoneAccounts: {
    reader: pathTo('the file of phone accounts'),
    flag: 'phone-accounts FILE',
    variable: 'HEADGATE_ODIS_PHONE_ACCOUNTS',
    sentence: 'Who signs for an account and which numbers it owns, in JSON. SIGHUP reads it again.',
  },
  deprecated: {
    reader: deprecatedDomains,
    default: [],
    flag: 'deprecated-domains LIST',
    variable: 'HEADGATE_ODIS_DEPRECATED_DOMAINS',
    sentence: 'Domains that are no longer served, as `NAME/VERSION`, with commas.',
  },
  corsOrigins: {
    reader: origins,
    default: [],
    flag: 'cors-origins LIST',
    variable: 'HEADGATE_ODIS_CORS_ORIGINS',
    sentence: 'Origins of pages in browsers that may ask, with commas, or `*`.',
  },
  perAddress: {
    reader: outerRate,
    // A person tries a PIN a few times; a program that guesses wants more than this.
    default: { count: 60, period: '1m' },
    flag: 'limit-per-address RATE',
    variable: 'HEADGATE_ODIS_LIMIT_PER_ADDRESS',
    sentence: 'Requests from one address, or `none`. An IPv6 /64 counts as one.',
  },
  inAll: {
    reader: outerRate,
    // More than two processors evaluate in a second, with room for quota statuses.
    default: { count: 1_000, period: '1s' },
    flag: 'limit-in-all RATE',
    variable: 'HEADGATE_ODIS_LIMIT_IN_ALL',
    sentence: 'Requests from all addresses together, or `none`.',
  },
  trustProxy: {
    reader: proxyList,
    default: [],
    flag: 'trust-proxy LIST',
    variable: 'HEADGATE_ODIS_TRUST_PROXY',
    sentence: 'Proxies whose `X-Forwarded-For` is believed, with commas.',
  },
  keepAudit: {
    reader: auditDays,
    // A quarter: long enough to look into a late report.
    default: days(90),
    flag: 'audit-days N',
    variable: 'HEADGATE_ODIS_AUDIT_DAYS',
    sentence: 'Days that audit entries are kept, or `forever`.',
  },
  timeSources: {
    reader: timeSources,
    default: [],
    flag: 'time-sources LIST',
    variable: 'HEADGATE_ODIS_TIME_SOURCES',
    sentence: 'https URLs whose `Date` confirms the clock after a reboot, with commas.',
  },
  logLevel: SERVER_SETTINGS.logLevel,
  allowSingleKey: {
    reader: trueOrFalse,
    default: false,
    flag: 'allow-single-key',
    sentence: 'Take a single key on a host that other machines reach.',
  },
  allowMemory: {
    reader: trueOrFalse,
    default: false,
    flag: 'allow-memory-store',
    sentence: 'For tests: take `memory:`, which forgets every attempt at the end.',
  },
})

export type SignerSettings = SettingsOf<typeof SIGNER_SETTINGS>

export const readSignerSettings = (sources: TextSources): SignerSettings =>
  complete(SIGNER_SETTINGS, readOptions(SIGNER_SETTINGS, sources, '.'))

/** Both or neither: a key that anyone can read is none. */
export const readKeyOptions = (
  sources: TextSources,
): Pick<SignerSettings, 'keys' | 'keySecret'> => {
  const { keys, keySecret } = SIGNER_SETTINGS
  const table = settingsTable({ keys, keySecret })
  return complete(table, readOptions(table, sources, '.'))
}

/** What `one` reads, several times, with commas between. */
function textList<T>(one: TextReader<T>, most: number, rule: string): TextReader<readonly T[]> {
  return {
    ...listOf(one, most),
    fromText: (given, context) => {
      const words = given.text.split(',').map((word) => word.trim())
      if (words.length > most) refuseText(given, rule)
      return words.map((text) => one.fromText({ ...given, text }, context))
    },
  }
}

/** By the last slash: a version has none. */
function parseDomainName(text: string): DomainName | undefined {
  const [, name, version] = /^(\S.*)\/([^/\s]+)$/.exec(text) ?? []
  return name === undefined || version === undefined ? undefined : { name, version }
}

/** As browsers send it: scheme, host and a port that is not the scheme's own. A star in a host would match nothing. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:[^*]+$/.test(text) && new URL(text).origin === text
}

function parseRate(text: string): OuterRate | 'none' | undefined {
  if (text === 'none') return text
  const [, count = '', period = ''] = /^([1-9]\d{0,6})\/([0-9a-zµ.]{1,20})$/.exec(text) ?? []
  const length = parseDuration(period)
  if (count === '' || length === undefined || length <= 0) return undefined
  return { count: Number(count), period }
}

/** 0 is refused: it could mean nothing or everything. */
function parseAuditDays(text: string): Span | 'forever' | undefined {
  if (text === 'forever') return text
  const count = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return count >= 1 && count <= MAX_AUDIT_DAYS ? days(count) : undefined
}

function parseKeySecret(
  text: string,
  { environment = {} }: ReaderContext,
): KeySecretSource | undefined {
  const colon = text.indexOf(':')
  const rest = text.slice(colon + 1).trim()
  const [command = '', ...words] = rest.split(/\s+/)
  switch (rest === '' ? '' : text.slice(0, colon)) {
    case 'file':
      return { from: 'file', path: rest }
    case 'env':
      return { from: 'environment', name: rest, environment }
    case 'command':
      return { from: 'command', command, arguments: words }
    default:
      return undefined
  }
}
