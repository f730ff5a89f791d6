/** A catalog from YAML text: the short way for programs that keep their limits with their code. */
import { parseDocument } from '../documents/document.ts'
import { buildCatalog, type Catalog } from './catalog.ts'
import type { IdPolicy } from './overrides.ts'

export interface CatalogText {
  /** New limits, as under `limits:` in headgate.yml. */
  readonly limits?: string
  /** The rates of known limits, as in a defaults file. */
  readonly defaults?: string
  /** Rates for single ids, as in an overrides file. */
  readonly overrides?: string
  readonly policy?: IdPolicy
}

export const parseCatalog = ({ policy = {}, ...texts }: CatalogText): Catalog => {
  const read = (name: 'limits' | 'defaults' | 'overrides') => {
    const text = texts[name]
    return text === undefined ? [] : [parseDocument(text, name)]
  }
  return buildCatalog({
    limits: read('limits'),
    defaults: read('defaults'),
    overrides: read('overrides'),
    policy,
  })
}
