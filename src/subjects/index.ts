/**
 * The door `headgate/subjects`: rates and blocks on any subject, administered by capability.
 * The w3 Rate Limit Protocol over UCAN 0.9.1.
 */
export {
  createSubjectGate,
  type Judgement,
  type SubjectGate,
  type SubjectGateOptions,
} from './gate.ts'
export type { SubjectErrorCode } from './mistake.ts'
export { coveringForms, normalForm } from './normalise.ts'
export type { HistoryEntry, HistoryPage, HistoryQuery, RatePage, RateQuery } from './paging.ts'
export { type Actor, isBlock, type Rate, type RateDraft } from './rate.ts'
export type { AppliedRate, Replaced } from './rate-steps.ts'
export { createRates, MAX_SUBJECTS, type Rates, type RatesOptions } from './rates.ts'
export type { Refusal, RefusalName, Result } from './refusal.ts'
export type { Change, ChangeKind } from './stored.ts'
export type { Ability } from './ucan/capabilities.ts'
export {
  createRatesClient,
  type RatesClient,
  type RatesClientOptions,
  type WireDraft,
} from './ucan/client.ts'
export { type DelegateOptions, delegate, inspectProof, type Proof } from './ucan/delegate.ts'
export { didDocument } from './ucan/did-document.ts'
export { generateIdentity, type Identity, parseIdentity } from './ucan/identity.ts'
export { type KeyFileOptions, openKeyFile } from './ucan/key-file.ts'
export type { ClientResult } from './ucan/read-receipt.ts'
export {
  CAR_TYPE,
  createUcanService,
  MAX_BODY_BYTES,
  type UcanEvent,
  type UcanRequest,
  type UcanResponse,
  type UcanService,
  type UcanServiceOptions,
} from './ucan/service.ts'
export type { Token } from './ucan/token.ts'
