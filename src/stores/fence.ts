/** What every call to a fenced store is told, on whichever server: the store was moved, or is being filled. */
import { StoreError } from '../core/errors.ts'

export const storeFenced = (thing: string, why: string): StoreError =>
  new StoreError({
    code: 'STORE_FENCED',
    thing,
    rule: 'takes no calls while it is fenced; headgate store unfence ends that',
    finding: why,
  })
