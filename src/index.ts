/**
 * The door `headgate`: request limits in a program, over any store, and the store in memory. It uses
 * nothing of Node: it runs in browsers and workers too. Other stores and pillars have doors of their own.
 */
export { formatDuration, parseDuration } from './core/duration.ts'
export { HeadgateError, StoreError, type StoreErrorCode } from './core/errors.ts'
export type { Store } from './core/store.ts'
export {
  type Clock,
  days,
  hours,
  type Instant,
  millis,
  minutes,
  type Span,
  seconds,
  toMillis,
  toSeconds,
  type Wait,
} from './core/time.ts'
export {
  type BucketAsk,
  type Catalog,
  type CatalogSources,
  createCatalog,
  Mistakes,
} from './requests/catalog/catalog.ts'
export {
  type Bucket,
  type BuiltInLimit,
  type CatalogErrorCode,
  type LimitDefinition,
  type OnStoreFailure,
  type Override,
  PLAIN_VOCABULARY,
  type Vocabulary,
} from './requests/catalog/definition.ts'
export type { IdPolicy } from './requests/catalog/documents.ts'
export type { CatalogWarning, CatalogWarningCode } from './requests/catalog/rate.ts'
export {
  type HeaderBag,
  type RateFields,
  type RateHeaders,
  rateFields,
  rateHeaders,
  setRateHeaders,
} from './requests/headers.ts'
export { ID_FORMATS, type IdFormat } from './requests/ids/id-format.ts'
export {
  type Answer,
  type Ask,
  type AskErrorCode,
  type AskMode,
  type Batch,
  type ChargeAnswer,
  type Guard,
  type GuardErrorCode,
  MAX_CHARGES,
  type Outlook,
  type Reason,
  type Request,
} from './requests/limiter/charge.ts'
export type { OperationPolicy, RefundErrorCode } from './requests/limiter/operations.ts'
export type {
  AcquireOptions,
  LimiterErrorCode,
  Place,
  PlaceAnswer,
  PlaceAsk,
} from './requests/limiter/places.ts'
export {
  type LimitOptions,
  limiter,
  type OverrideOptions,
  type PlaceOptions,
  type RateOptions,
  type TypedLimiterOptions,
} from './requests/limiter/typed-limiter.ts'
export {
  type AskOptions,
  type Caller,
  createLimiter,
  type Limiter,
  type LimiterEvent,
  type LimiterOptions,
  type LimiterVerb,
  type WaitOptions,
} from './requests/limiter/verbs.ts'
export { type MemoryOptions, memory } from './stores/memory/store.ts'
