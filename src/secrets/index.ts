/** Rate-limited hardening of passwords and PINs: domains, quotas and the signer. CIP-40. */
export {
  AUDIT_STREAM,
  type AuditEntry,
  type AuditEvent,
  type AuditPage,
  readAudit,
} from './audit.ts'
export { trimAudit } from './audit-retention.ts'
export {
  type AccessController,
  type AccessQuestion,
  accessController,
} from './chain/access-controller.ts'
export { type JsonRpc, type JsonRpcOptions, jsonRpc, type RpcAnswer } from './chain/json-rpc.ts'
export type { Claim, Conduct, Endpoint } from './claim.ts'
export type { DomainKind, DomainRequest } from './domain-kind.ts'
export {
  type DomainRegistry,
  domainRegistry,
  type Registered,
  type RegistryOptions,
} from './domain-registry.ts'
export { type Address, parseAddress } from './eip712/address.ts'
export { type Context, domainSeparator, hashTypedData } from './eip712/typed-data.ts'
export { domainHash, signingHash } from './hashes.ts'
export type { VersionedKeys } from './key-version.ts'
export {
  DOMAINS_PURPOSE,
  type GenerateKeyOptions,
  generateKey,
  KEY_ERROR_CODES,
  type KeyErrorCode,
  type KeyNotice,
  type KeyPurpose,
  type KeyRing,
  type KeySecret,
  type KeySecretSource,
  type LoadKeysOptions,
  loadKeys,
  MAX_KEY_VERSION,
  MAX_KEYS,
  publicKeyText,
  type ReadSecretOptions,
  readKeySecret,
  type ShareKey,
  type SignerKey,
  type SingleKey,
  storeKey,
  wipe,
} from './keys/index.ts'
export { type FixedPhoneQuota, fixedPhoneQuota, type PhoneQuota } from './phone-quota.ts'
export {
  type EngineName,
  EVALUATOR_ERROR_CODES,
  type EvaluationKey,
  type Evaluator,
  EvaluatorError,
  type EvaluatorErrorCode,
  type EvaluatorOptionErrorCode,
  type EvaluatorPoolOptions,
  evaluateHere,
  type Load,
  startEvaluatorPool,
} from './poprf/pool/index.ts'
export type { RefusedBecause } from './refusal.ts'
export { MAX_BODY_BYTES } from './request-body.ts'
export type { Rule, Status } from './rule.ts'
export { SECRETS_ERROR_CODES, type SecretsErrorCode } from './secrets-mistake.ts'
export {
  createSigner,
  type OuterVerdict,
  type Signer,
  type SignerEvent,
  type SignerOptions,
  type SignerRequest,
} from './signer.ts'
export { type Manners, refusedResponse, type SignerResponse } from './signer-response.ts'
export { checkSignerStore } from './signer-store.ts'
