/** The text that names a store: `memory:`, or `sqlite:` and the path of a file. */
import { resolve } from 'node:path'
import type { Position } from '../core/index.ts'
import { refuseConfig } from './config-mistake.ts'

export type StoreAddress =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }

const FORMS = 'must be memory: or sqlite:PATH'

/** Known by name, so that the answer can be better than "unknown". */
const LATER = ['redis:', 'rediss:', 'redis+cluster:', 'postgres:', 'postgresql:']

export const parseStoreUrl = (url: string, place: StoreUrlPlace = {}): StoreAddress => {
  if (url === 'memory:') return { kind: 'memory' }
  const path = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : ''
  if (path !== '') return { kind: 'sqlite', path }
  const { thing = 'store', at } = place
  const mistake = { thing, rule: FORMS, ...(at && { at }) }
  const later = LATER.find((scheme) => url.startsWith(scheme))
  if (later !== undefined) {
    const finding = `${later}, which is not built yet`
    return refuseConfig({ code: 'STORE_UNSUPPORTED', ...mistake, finding })
  }
  return refuseConfig({ code: 'STORE_URL_INVALID', ...mistake, finding: describeUrl(url) })
}

/** Where the text stood, for the message. */
export interface StoreUrlPlace {
  readonly thing?: string
  readonly at?: Position
}

/** A relative SQLite path counts from `folder`. */
export const storeUrlFrom = (folder: string, address: StoreAddress): string => {
  switch (address.kind) {
    case 'memory':
      return 'memory:'
    case 'sqlite':
      return `sqlite:${resolve(folder, address.path)}`
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

/** No scheme that anyone knows is longer. */
const MAX_SHOWN = 20
