/** Rate-limited hardening of passwords and PINs: domains, quotas and the signer. CIP-40. */

export type { ClockVerdict, MachineReading } from '../core/machine-clock.ts'
export type { TimeSource } from '../lib/time-sources.ts'
export {
  type AccessController,
  type AccessQuestion,
  accessController,
  ChainError,
  type ChainErrorCode,
  type JsonRpc,
  type JsonRpcOptions,
  jsonRpc,
  type RpcAnswer,
} from './domains/access-controller.ts'
export type {
  Claim,
  Conduct,
  DomainKind,
  DomainRequest,
  Endpoint,
  SignRequest,
  StatusRequest,
} from './domains/domain-kind.ts'
export {
  type DomainRegistry,
  domainRegistry,
  type RegisteredKind,
  type RegistryOptions,
} from './domains/domain-registry.ts'
export {
  type AccountQuota,
  accountQuota,
  type PhoneAccounts,
  parsePhoneAccounts,
} from './domains/phone-accounts.ts'
export { type FixedPhoneQuota, fixedPhoneQuota, type PhoneQuota } from './domains/phone-number.ts'
export type { EthereumAddress } from './eip712/ethereum.ts'
export {
  DOMAINS_PURPOSE,
  type GenerateKeyOptions,
  generateKey,
  KEY_ERROR_CODES,
  type KeyErrorCode,
  type KeyPurpose,
  MAX_KEY_VERSION,
  publicKeyText,
  type ShareKey,
  type SignerKey,
  type SingleKey,
  wipe,
} from './keys/key.ts'
export { MAX_KEYS, saveKey } from './keys/key-directory.ts'
export {
  type KeyChanges,
  type KeyNotice,
  type KeyRing,
  type LiveKeyRing,
  type LoadKeysOptions,
  liveKeys,
  loadKeys,
} from './keys/key-ring.ts'
export {
  type KeySecret,
  type KeySecretSource,
  type ReadSecretOptions,
  readKeySecret,
} from './keys/key-secret.ts'
export { SECRETS_ERROR_CODES, type SecretsErrorCode } from './mistake.ts'
export {
  type EngineName,
  EVALUATOR_ERROR_CODES,
  type EvaluationKey,
  type Evaluator,
  EvaluatorError,
  type EvaluatorErrorCode,
  type EvaluatorLoad,
  evaluateHere,
} from './poprf/pool/evaluator.ts'
export {
  type EvaluatorOptionErrorCode,
  type EvaluatorPoolOptions,
  startEvaluatorPool,
} from './poprf/pool/evaluator-pool.ts'
export type { QuotaStatus, Rule, RuleDecision } from './rules/rule.ts'
export {
  type AuditEntry,
  type AuditEvent,
  type AuditPage,
  isAuditCursor,
  readAudit,
} from './signer/audit.ts'
export { trimAudit } from './signer/audit-retention.ts'
export {
  type ClockRepair,
  type ClockWatchOptions,
  repairClock,
  watchClock,
} from './signer/clock-guard.ts'
export { MAX_SIGNER_BODY_BYTES, type SignerKeys } from './signer/request.ts'
export {
  KEY_VERSION_HEADER,
  type SignerRefusalReason,
  type SignerResponse,
} from './signer/response.ts'
export {
  createSigner,
  type OuterVerdict,
  type Signer,
  type SignerEvent,
  type SignerOptions,
  type SignerRequest,
} from './signer/signer.ts'
export { checkSignerStore, isSignerStore } from './signer/signer-store.ts'
