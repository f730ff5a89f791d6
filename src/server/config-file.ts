/** headgate.yml: what it may hold, and what each key means. The schema is in docs/reference. */
import { dirname, resolve } from 'node:path'
import type { Span } from '../core/index.ts'
import {
  type Field,
  type Fields,
  type Node,
  readBoolean,
  readDuration,
  readFields,
  readList,
  readOneOf,
  readText,
  readWholeNumber,
  refuseField,
} from '../documents/index.ts'
import { isHost, isLink, isProxy, MAX_PORT } from './addressing.ts'
import { LOG_LEVELS, type LogLevel, type TokenRecord } from './settings.ts'
import { parseStoreUrl, storeUrlFrom } from './store-url.ts'
import { readSubjects, type SubjectSettings } from './subjects/subject-settings.ts'
import { readTokens } from './token-records.ts'

export const CONFIG_KEYS = [
  'limits',
  'overrides',
  'defaultsFile',
  'overridesFile',
  'store',
  'host',
  'port',
  'tokens',
  'trustProxy',
  'refuseReserved',
  'helpLink',
  'operations',
  'logLevel',
  'spending',
  'subjects',
] as const

export const OPERATION_KEYS = ['rememberFor', 'perToken'] as const

/** Every request from a proxy is compared with each; a longer list wants prefixes. */
export const MAX_TRUSTED_PROXIES = 256

/** At some 500 bytes each, five gigabytes for one token: whoever wants more wants another token. */
export const MAX_OPERATIONS_PER_TOKEN = 10_000_000

export interface ConfigFile {
  /** Left as trees: they are read together with the files of the catalog, or not at all. */
  readonly limits?: Node
  readonly overrides?: Node
  readonly defaultsFile?: string
  readonly overridesFile?: string
  readonly store?: string
  readonly host?: string
  readonly port?: number
  readonly tokens?: readonly TokenRecord[]
  readonly trustProxy?: readonly string[]
  readonly refuseReserved?: boolean
  readonly helpLink?: string
  readonly operations?: { readonly rememberFor?: Span; readonly perScope?: number }
  readonly logLevel?: LogLevel
  /** Left as a tree: only who spends reads it. */
  readonly spending?: Node
  readonly subjects?: SubjectSettings
}

/** File names in it count from the folder of `path`, wherever the server was started. */
export const readConfig = (document: Node, path: string): ConfigFile => {
  const shape = { required: [], optional: CONFIG_KEYS }
  const fields: ConfigFields = readFields({ thing: 'headgate.yml', node: document }, shape)
  const folder = dirname(resolve(path))
  const file = (field: Field): string => resolve(folder, readText(field))
  return {
    ...given('limits', fields.limits, ({ node }) => node),
    ...given('overrides', fields.overrides, ({ node }) => node),
    ...given('defaultsFile', fields.defaultsFile, file),
    ...given('overridesFile', fields.overridesFile, file),
    ...given('store', fields.store, (field) => readStore(field, folder)),
    ...given('host', fields.host, readHost),
    ...given('port', fields.port, (field) => readWholeNumber(field, { min: 0, max: MAX_PORT })),
    ...given('tokens', fields.tokens, readTokens),
    ...given('trustProxy', fields.trustProxy, readProxies),
    ...given('refuseReserved', fields.refuseReserved, readBoolean),
    ...given('helpLink', fields.helpLink, readLink),
    ...given('operations', fields.operations, readOperations),
    ...given('logLevel', fields.logLevel, (field) => readOneOf(field, LOG_LEVELS)),
    ...given('spending', fields.spending, ({ node }) => node),
    ...given('subjects', fields.subjects, (field) => readSubjects(field, folder)),
  }
}

type ConfigFields = Fields<never, (typeof CONFIG_KEYS)[number]>

/**
 * A key that is absent stays absent: it must not hide what a default says. Its name goes without
 * the file's, which the position of a mistake has already.
 */
function given<Key extends string, Value>(
  key: Key,
  field: Field | undefined,
  read: (field: Field) => Value,
): { readonly [K in Key]?: Value } {
  if (field === undefined) return {}
  const entry: { [K in Key]?: Value } = {}
  entry[key] = read({ ...field, thing: field.thing.replace(/^headgate\.yml\./, '') })
  return entry
}

function readStore(field: Field, folder: string): string {
  return storeUrlFrom(folder, parseStoreUrl(readText(field), { at: field.node.at }))
}

function readHost(field: Field): string {
  const host = readText(field)
  return isHost(host)
    ? host
    : refuseField(field, 'FIELD_VALUE', 'must be a host name or an address')
}

function readLink(field: Field): string {
  const link = readText(field)
  return isLink(link) ? link : refuseField(field, 'FIELD_VALUE', 'must be an http or https address')
}

function readProxies(field: Field): readonly string[] {
  const items = readList(field)
  if (items.length > MAX_TRUSTED_PROXIES) {
    refuseField(field, 'FIELD_VALUE', `must hold at most ${MAX_TRUSTED_PROXIES}`, `${items.length}`)
  }
  return items.map((item) => {
    const text = readText(item)
    if (isProxy(text)) return text
    return refuseField(item, 'FIELD_VALUE', 'must be an address or a prefix such as 10.0.0.0/8')
  })
}

function readOperations(field: Field): NonNullable<ConfigFile['operations']> {
  const shape = { required: [], optional: OPERATION_KEYS }
  const fields: Fields<never, (typeof OPERATION_KEYS)[number]> = readFields(field, shape)
  const range = { min: 1, max: MAX_OPERATIONS_PER_TOKEN }
  return {
    ...(fields.rememberFor && { rememberFor: readDuration(fields.rememberFor) }),
    ...(fields.perToken && { perScope: readWholeNumber(fields.perToken, range) }),
  }
}
