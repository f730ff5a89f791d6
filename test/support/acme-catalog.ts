/** A catalog from texts in the words of ACME servers, as the service loads its own. */
import { ACME } from '../../src/requests/acme/formats.ts'
import type { Catalog } from '../../src/requests/catalog/catalog.ts'
import { type CatalogText, parseCatalog } from '../../src/requests/yaml.ts'

export const acmeCatalog = (texts: Omit<CatalogText, 'vocabulary'>): Catalog =>
  parseCatalog({ vocabulary: ACME, ...texts })
