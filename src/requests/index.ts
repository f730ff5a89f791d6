/** Exact request limits per id: the catalog that says how much, and the limiter that counts. */
export {
  type AcmeCharge,
  type AcmeReset,
  certificateIssued,
  failedValidation,
  type Issuance,
  type NewOrder,
  newAccount,
  newOrder,
  overrideRequest,
  successfulValidation,
  type Validation,
} from './acme.ts'
export type { Answer, ChargeAnswer, Outlook, Reason } from './answer.ts'
export {
  type Ask,
  type AskErrorCode,
  type AskMode,
  type Batch,
  MAX_CHARGES,
  type Request,
} from './ask.ts'
export {
  type Bucket,
  buildCatalog,
  type Catalog,
  type CatalogSources,
  type LimitDefinition,
  type OnStoreFailure,
  type Override,
} from './catalog.ts'
export type { CatalogErrorCode } from './catalog-mistake.ts'
export { readLimits } from './declarations.ts'
export { readDefaults } from './defaults.ts'
export { describeDenial } from './denial.ts'
export type { Guard, GuardErrorCode } from './guard.ts'
export { ID_FORMATS, type IdFormat } from './id-formats.ts'
export { coveringIdentifiers, fqdnSetHash, type Identifier } from './identifiers.ts'
export {
  type Caller,
  createLimiter,
  type Limiter,
  type LimiterEvent,
  type LimiterOptions,
  type LimiterVerb,
} from './limiter.ts'
export type { BucketAsk } from './lookup.ts'
export { BUILT_IN_LIMITS, type BuiltInName } from './names.ts'
export { MAX_OPERATION_ID, type OperationErrorCode, type OperationPolicy } from './operations.ts'
export { type IdPolicy, readOverrides } from './overrides.ts'
export { type CatalogText, parseCatalog } from './parse-catalog.ts'
export { bucketIdFromParts, type Parts } from './parts.ts'
export type { CatalogWarning, CatalogWarningCode } from './rate.ts'
