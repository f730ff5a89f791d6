/** The pOPRF of CIP-40, suite BLS12-377 ("Pith"), for clients, signers and combiners. Needs no Node. */
export {
  BLINDING_FACTOR_BYTES,
  type Blinding,
  blind,
  type Unblinding,
  unblind,
  unblindPartial,
} from './blind.ts'
export {
  BLINDED_MESSAGE_BYTES,
  type BlindedMessage,
  parseBlindedMessage,
} from './blinded-message.ts'
export {
  MAX_MESSAGE_BYTES,
  MAX_TAG_BYTES,
  POPRF_ERROR_CODES,
  type PoprfErrorCode,
} from './bytes.ts'
export type { RandomBytes } from './curve/scalar.ts'
export {
  evaluate,
  evaluatePartial,
  evaluatePlain,
  evaluatePlainPartial,
  OUTPUT_BYTES,
} from './evaluate.ts'
export {
  generatePrivateKey,
  KEY_SHARE_BYTES,
  MAX_THRESHOLD,
  PRIVATE_KEY_BYTES,
  PUBLIC_KEY_BYTES,
  publicKeyOf,
  sharePublicKey,
} from './key-share.ts'
export { PARTIAL_EVALUATION_BYTES, PARTIAL_RESPONSE_BYTES, RESPONSE_BYTES } from './response.ts'
export { aggregate, aggregatePlain, type Deal, dealShares } from './shares.ts'
