/**
 * The door `headgate/subjects`: rates and blocks on any subject, administered by capability.
 * The w3 Rate Limit Protocol over UCAN 0.9.1.
 */
export {
  createRefusalCounts,
  createSubjectGate,
  type GateVerdict,
  type RefusalCounts,
  type SubjectGate,
  type SubjectGateOptions,
} from './gate.ts'
export { createSubjectLookup } from './lookup.ts'
export type { RateRefusal, RateRefusalName, RateResult, SubjectErrorCode } from './mistake.ts'
export { type Actor, type AppliedRate, isBlock, type Rate, type RateDraft } from './rates/rate.ts'
export {
  checkListed,
  type ImportedRates,
  type LabelledDraft,
  MAX_IMPORTED_RATES,
  type RateImport,
  saysTheSame,
} from './rates/rate-import.ts'
export {
  type ListedDraft,
  type ListMistake,
  RATE_LIST_FORMATS,
  type RateList,
  type RateListFormat,
  readRateList,
  writeRateList,
} from './rates/rate-lists.ts'
export type {
  RateHistoryEntry,
  RateHistoryPage,
  RateHistoryQuery,
  RatePage,
  RateQuery,
} from './rates/rate-pages.ts'
export type {
  RateChange,
  RateChangeKind,
  Refusals,
  RevokedDelegation,
} from './rates/rate-records.ts'
export type { ReplacedRates } from './rates/rate-steps.ts'
export { createRates, type ExplainedRate, type Rates, type RatesOptions } from './rates/rates.ts'
export { checkMatchable } from './rates/reach.ts'
export { coveringForms, MAX_SUBJECTS_PER_QUESTION, normalForm } from './rates/subject.ts'
export {
  type AgentResult,
  fetchFrom,
  type ListedRate,
  type NewRateOptions,
  type NewRateReceipt,
  type SubjectAgent,
  type SubjectRateOptions,
  type SubjectsOptions,
  subjects,
  type TypedSubjects,
} from './typed-subjects.ts'
export { CAR_TYPE } from './ucan/archive.ts'
export {
  createRatesClient,
  type RatesClient,
  type RatesClientOptions,
  type WireDraft,
} from './ucan/client.ts'
export { type DelegateOptions, delegate, type Proof } from './ucan/delegate.ts'
export { didDocument, generateIdentity, type Identity, parseIdentity } from './ucan/identity.ts'
export { type KeyFileOptions, openKeyFile } from './ucan/key-file.ts'
export type { ClientResult } from './ucan/message.ts'
export {
  type InspectedProof,
  inspectChain,
  inspectProof,
  missingRights,
} from './ucan/proof-file.ts'
export {
  createUcanService,
  MAX_UCAN_MESSAGE_BYTES,
  type UcanEvent,
  type UcanRequest,
  type UcanResponse,
  type UcanService,
  type UcanServiceOptions,
} from './ucan/service.ts'
export type { Ability, UcanToken } from './ucan/token.ts'
export { MAX_UCAN_WORK, type UcanWork } from './ucan/work.ts'
