/** Keys of signers: made, kept encrypted, and opened for use. */
export { type GenerateKeyOptions, generateKey, publicKeyText } from './generate-key.ts'
export {
  DOMAINS_PURPOSE,
  type KeyPurpose,
  MAX_KEY_VERSION,
  type ShareKey,
  type SignerKey,
  type SingleKey,
  wipe,
} from './key.ts'
export { MAX_KEYS, storeKey } from './key-directory.ts'
export { KEY_ERROR_CODES, type KeyErrorCode } from './key-mistake.ts'
export {
  type KeySecret,
  type KeySecretSource,
  type ReadSecretOptions,
  readKeySecret,
} from './key-secret.ts'
export { type KeyNotice, type KeyRing, type LoadKeysOptions, loadKeys } from './load-keys.ts'
