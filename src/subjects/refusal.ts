/** Refusals of what was asked about rates: values with the names that go over the wire. */

export type RefusalName =
  /** No rate of this provider has that id, or it has expired. The protocol's own name. */
  | 'RateLimitsNotFound'
  /** A block would have been loosened, and `force` was not given. */
  | 'RateLimitLoosened'
  /** The subject has as many rates as one may have. */
  | 'RateLimitsFull'

export interface Refusal<Name extends string = RefusalName> {
  readonly name: Name
  readonly message: string
}

export type Result<T, Name extends string = RefusalName> =
  | { readonly ok: T; readonly error?: undefined }
  | { readonly ok?: undefined; readonly error: Refusal<Name> }

export const ok = <T>(value: T): Result<T, never> => ({ ok: value })

export const refused = <Name extends string>(name: Name, message: string): Result<never, Name> => ({
  error: { name, message },
})
