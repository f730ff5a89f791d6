/**
 * The settings of a server, one line each: `headgate.yml`, flags and `HEADGATE_*` variables. The
 * reference, the JSON Schema and help follow from this table (`npm run reference`).
 */
import { dirname, resolve } from 'node:path'
import { days } from '../../core/time.ts'
import type { Gathering } from '../../documents/mistakes.ts'
import type { Node } from '../../documents/node.ts'
import {
  duration,
  filePath,
  oneOf,
  tree,
  trueOrFalse,
  wholeNumberIn,
} from '../../documents/settings/reader.ts'
import {
  complete,
  type FlagOf,
  fromDocument,
  type Given,
  record,
  type SettingsOf,
  settingsTable,
} from '../../documents/settings/table.ts'
import { JOURNAL_SETTINGS } from '../app/journal.ts'
import { OVERLOAD_SETTINGS } from '../app/overload.ts'
import { SUBJECT_SETTINGS } from '../subjects/config.ts'
import { LIMIT_DEFINITIONS, LIMITS_SCHEMA, OVERRIDES_SCHEMA } from './limit-schema.ts'
import { hostName, httpLink, portNumber, proxyList } from './network.ts'
import { storeUrl } from './store-url.ts'
import { tokenList } from './tokens.ts'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** At some 500 bytes each, five gigabytes for one token. */
const MAX_OPERATIONS_PER_TOKEN = 10_000_000

export const SERVER_SETTINGS = settingsTable({
  configFile: {
    reader: filePath,
    unset: '`./headgate.yml`, if it is there',
    flag: 'config FILE',
    variable: 'HEADGATE_CONFIG',
    inFile: false,
    sentence: 'The configuration file.',
  },
  limits: {
    reader: tree(LIMITS_SCHEMA, LIMIT_DEFINITIONS),
    reloads: true,
    sentence: 'Limits of your own, and rates and policies of the built-in ones, by name.',
  },
  overrides: {
    reader: tree(OVERRIDES_SCHEMA, LIMIT_DEFINITIONS),
    reloads: true,
    sentence: 'Rates for single ids.',
  },
  host: {
    reader: hostName,
    // Without a token only this machine may ask.
    default: '127.0.0.1',
    flag: 'host HOST',
    variable: 'HEADGATE_HOST',
    sentence: 'The name or address to listen on. Anything but loopback needs a token.',
  },
  port: {
    reader: portNumber,
    default: 8080,
    flag: 'port PORT',
    variable: 'HEADGATE_PORT',
    sentence: 'The port to listen on; 0 takes any that is free.',
  },
  store: {
    reader: storeUrl,
    default: 'sqlite:./headgate.db',
    flag: 'store URL',
    variable: 'HEADGATE_STORE',
    sentence:
      'Where state is kept: `memory:`, `sqlite:PATH`, `redis://HOST`, `redis+sentinel://HOST,HOST/NAME`, `redis+cluster://HOST,HOST` or `postgres://HOST/DATABASE`.',
  },
  acceptRedisLosses: {
    reader: trueOrFalse,
    default: false,
    flag: 'accept-redis-losses',
    variable: 'HEADGATE_ACCEPT_REDIS_LOSSES',
    sentence:
      'Keep money in a Redis that may lose what it answered: without an append-only file that is synced always, with eviction, or with replicas.',
  },
  defaultsFile: {
    reader: filePath,
    flag: 'defaults FILE',
    variable: 'HEADGATE_DEFAULTS',
    reloads: true,
    sentence: 'A file with the rates of limits, by name.',
  },
  overridesFile: {
    reader: filePath,
    flag: 'overrides FILE',
    variable: 'HEADGATE_OVERRIDES',
    reloads: true,
    sentence: 'A file with rates for single ids: a list as under `overrides`.',
  },
  logLevel: {
    reader: oneOf(LOG_LEVELS),
    default: 'info',
    flag: 'log-level LEVEL',
    variable: 'HEADGATE_LOG_LEVEL',
    sentence: 'How much is logged: `fatal`, `error`, `warn`, `info`, `debug` or `silent`.',
  },
  log: {
    sentence: 'What is logged of those who are turned away.',
    section: JOURNAL_SETTINGS,
  },
  overload: {
    sentence: 'How much the server takes at once.',
    section: OVERLOAD_SETTINGS,
  },
  tokens: {
    reader: tokenList,
    default: [],
    reloads: true,
    sentence:
      'Who may ask: `name`, `sha256` of the token and `scopes` (`decide`, `admin`). `headgate tokens new` makes one.',
  },
  trustProxy: {
    reader: proxyList,
    default: [],
    sentence:
      'Addresses and prefixes of proxies. The client is the rightmost address of `X-Forwarded-For` that is none of them.',
  },
  refuseReserved: {
    reader: trueOrFalse,
    default: false,
    reloads: true,
    sentence: 'Refuse overrides for private, documentation and other reserved addresses.',
  },
  skipUnmatchable: {
    reader: trueOrFalse,
    default: false,
    flag: 'skip-unmatchable',
    variable: 'HEADGATE_SKIP_UNMATCHABLE',
    reloads: true,
    sentence:
      'Leave out overrides that could never match, each with a warning, instead of refusing them.',
  },
  helpLink: {
    reader: httpLink,
    sentence: 'Where the messages of refusals send their readers.',
  },
  operations: {
    sentence: 'How long and how many operation ids are remembered.',
    section: {
      rememberFor: {
        reader: duration,
        default: days(1),
        sentence: 'How long an operation id is remembered.',
      },
      perToken: {
        reader: wholeNumberIn({ min: 1, max: MAX_OPERATIONS_PER_TOKEN }),
        default: 100_000,
        sentence:
          'How many operation ids are remembered for one token; beyond that the oldest is forgotten.',
      },
    },
  },
  spending: {
    // Read by `server/spending`, which only a server that spends loads.
    reader: tree({ type: 'object' }),
    unset: 'off',
    sentence: 'Limits on money that is spent for others.',
  },
  subjects: {
    reader: record(SUBJECT_SETTINGS),
    unset: 'off',
    sentence: 'Blocks and rates on subjects, administered by capability; may be empty.',
  },
})

/** What headgate.yml holds, of what it may hold. */
export type ConfigFile = Given<typeof SERVER_SETTINGS>

/** Without the trees, which are large and needed only while a configuration is loaded. */
export type Settings = Omit<SettingsOf<typeof SERVER_SETTINGS>, 'limits' | 'overrides' | 'spending'>

/** Texts by the names of flags. */
export type FlagTexts = { readonly [Name in FlagOf<typeof SERVER_SETTINGS>]?: string }

export const DEFAULT_SETTINGS: Settings = complete(SERVER_SETTINGS)

/** File names in it count from the folder of `path`, wherever the server was started. */
export const readConfig = (document: Node, path: string, mistakes?: Gathering): ConfigFile =>
  fromDocument(
    SERVER_SETTINGS,
    { thing: 'headgate.yml', node: document },
    {
      folder: dirname(resolve(path)),
      // A message already begins with the file's name, so keys go without it.
      nameOf: (key) => key,
      ...(mistakes && { mistakes }),
    },
  )
