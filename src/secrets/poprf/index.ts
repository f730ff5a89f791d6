/** The pOPRF of CIP-40, suite BLS12-377 ("Pith"), for clients, signers and combiners. Needs no Node. */
export { type Blinding, blind } from './blind.ts'
export { checkBlindedMessage } from './blinded-message.ts'
export {
  BLINDED_MESSAGE_BYTES,
  BLINDING_FACTOR_BYTES,
  KEY_SHARE_BYTES,
  MAX_MESSAGE_BYTES,
  MAX_TAG_BYTES,
  MAX_THRESHOLD,
  OUTPUT_BYTES,
  PARTIAL_EVALUATION_BYTES,
  PARTIAL_RESPONSE_BYTES,
  PRIVATE_KEY_BYTES,
  PUBLIC_KEY_BYTES,
  RESPONSE_BYTES,
} from './bounds.ts'
export type { RandomBytes } from './curve/scalar.ts'
export { evaluate, evaluatePartial, evaluatePlain, evaluatePlainPartial } from './evaluate.ts'
export { generatePrivateKey } from './generate-private-key.ts'
export { publicKeyOf } from './key-share.ts'
export { sharePublicKey } from './polynomial.ts'
export { POPRF_ERROR_CODES, type PoprfErrorCode } from './poprf-mistake.ts'
export { aggregate, aggregatePlain, type Deal, dealShares } from './shares.ts'
export { type Answer, unblind, unblindPartial } from './unblind.ts'
