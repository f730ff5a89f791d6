/** The text that names a store: `memory:`, `sqlite:` and the path of a file, or the URL of a server. */
import { resolve } from 'node:path'
import { HeadgateError, type Position } from '../../core/errors.ts'
import { readText } from '../../documents/scalars.ts'
import type { TextReader } from '../../documents/settings/reader.ts'
import { checkPostgresUrl } from '../../stores/postgres/address.ts'
import { parseRedisUrl } from '../../stores/redis/address.ts'
import { refuseConfig } from './config-mistake.ts'

type StoreAddress =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'redis' | 'postgres'; readonly url: string }

/** In a document a relative SQLite path counts from the document's folder. */
export const storeUrl: TextReader<string> = {
  fromField: (field, { folder = '.' }) => {
    const address = parseStoreUrl(readText(field), { thing: field.thing, at: field.node.at })
    return writeStoreUrl(folder, address)
  },
  fromText: ({ text, thing }) => {
    parseStoreUrl(text, { thing })
    return text
  },
  schema: {
    type: 'string',
    pattern: '^(memory:|sqlite:.+|rediss?(\\+cluster|\\+sentinel)?://.+|postgres(ql)?://.+)$',
  },
}

const FORMS =
  'must be memory:, sqlite:PATH, redis://…, redis+cluster://…, redis+sentinel://… or postgres://…'

export const parseStoreUrl = (url: string, place: StoreUrlPlace = {}): StoreAddress => {
  if (url === 'memory:') return { kind: 'memory' }
  const path = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : ''
  if (path !== '') return { kind: 'sqlite', path }
  const { thing = 'store', at } = place
  const refuse = (rule: string, finding: string | undefined): never =>
    refuseConfig({ code: 'STORE_URL_INVALID', thing, rule, finding, ...(at && { at }) })
  const kind = KINDS.find(({ scheme }) => scheme.test(url))
  if (kind === undefined) return refuse(FORMS, describeUrl(url))
  try {
    kind.check(url)
    return { kind: kind.name, url }
  } catch (error) {
    if (!(error instanceof HeadgateError)) throw error
    return refuse(error.rule, error.finding)
  }
}

const KINDS = [
  { name: 'redis', scheme: /^rediss?(?:\+cluster|\+sentinel)?:/, check: parseRedisUrl },
  { name: 'postgres', scheme: /^postgres(?:ql)?:/, check: checkPostgresUrl },
] as const

/** For people and logs: without user and password, and without what pg may take a password from. */
export const describeStoreUrl = (url: string): string => {
  const address = parseStoreUrl(url)
  switch (address.kind) {
    case 'memory':
      return 'memory: forgotten when the server ends'
    case 'sqlite':
      return `sqlite:${resolve(address.path)}`
    case 'redis':
    case 'postgres':
      return address.url.replace(/\/\/[^/]*@/, '//').replace(/\?.*$/, '')
    default:
      return address satisfies never
  }
}

/** Where the text came from, for the message. */
interface StoreUrlPlace {
  readonly thing?: string
  readonly at?: Position
}

function writeStoreUrl(folder: string, address: StoreAddress): string {
  switch (address.kind) {
    case 'memory':
      return 'memory:'
    case 'sqlite':
      return `sqlite:${resolve(folder, address.path)}`
    case 'redis':
    case 'postgres':
      return address.url
    default:
      return address satisfies never
  }
}

/** Not beyond its scheme: what follows a mistyped one may be a password. */
function describeUrl(url: string): string {
  if (url === 'sqlite:') return 'sqlite: without a path'
  const colon = url.indexOf(':')
  if (colon < 0) return url === '' ? 'nothing' : 'text without a scheme'
  return `the scheme ${JSON.stringify(url.slice(0, colon + 1).slice(0, MAX_SHOWN))}`
}

/** No known scheme is longer. */
const MAX_SHOWN = 20
