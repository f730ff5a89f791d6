/** The mistakes of those who write the catalog's documents or ask it for a bucket. */
import { HeadgateError, type Mistake } from '../core/errors.ts'

export type CatalogErrorCode =
  | 'LIMIT_UNKNOWN'
  | 'LIMIT_NAME_INVALID'
  | 'LIMIT_DUPLICATE'
  | 'LIMIT_TOO_FAST'
  | 'LIMIT_TOO_LARGE'
  | 'ID_INVALID'
  | 'ID_MISSING'
  | 'ID_DUPLICATE'
  | 'OVERRIDES_TOO_MANY'
  | 'PARTS_MISSING'
  | 'PARTS_INVALID'
  | 'PARTS_UNSUPPORTED'
  | 'PARTS_WITH_ID'

export const refuseCatalog = (mistake: Mistake<CatalogErrorCode>): never => {
  throw new HeadgateError(mistake)
}
