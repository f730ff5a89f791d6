/** The door `headgate/yaml`: limits from YAML or JSON text, for programs that keep them in files. */
import { parseDocument } from '../documents/document.ts'
import { type Catalog, createCatalog } from './catalog/catalog.ts'
import { PLAIN_VOCABULARY, type Vocabulary } from './catalog/definition.ts'
import type { IdPolicy } from './catalog/documents.ts'

export type { DocumentErrorCode, Node } from '../documents/node.ts'
export { parseDocument }

export interface CatalogText {
  /** New limits, as under `limits:` in headgate.yml. */
  readonly limits?: string
  /** The rates of known limits, as in a defaults file. */
  readonly defaults?: string
  /** Rates for single ids, as in an overrides file. */
  readonly overrides?: string
  readonly policy?: IdPolicy
  /** More forms of ids and built-in limits, such as `ACME` of `headgate/acme`. */
  readonly vocabulary?: Vocabulary
}

/**
 * All or nothing: the first mistake refuses every text, with its line and column.
 *
 * @example
 * import { createLimiter, memory } from 'headgate'
 * import { parseCatalog } from 'headgate/yaml'
 *
 * const catalog = parseCatalog({ limits: 'Logins: { burst: 3, period: 1m }' })
 * const limiter = createLimiter({ store: memory(), catalog: () => catalog })
 * console.log((await limiter.spend('Logins', 'ann')).remaining)
 */
export const parseCatalog = (given: CatalogText): Catalog => {
  const { policy = {}, vocabulary = PLAIN_VOCABULARY, ...texts } = given
  const read = (name: 'limits' | 'defaults' | 'overrides') => {
    const text = texts[name]
    return text === undefined ? [] : [parseDocument(text, name)]
  }
  return createCatalog(vocabulary, {
    limits: read('limits'),
    defaults: read('defaults'),
    overrides: read('overrides'),
    policy,
  })
}
