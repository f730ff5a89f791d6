/** The door `headgate/acme`: the limits of certificate authorities, their ids and their flows. */

export type { Identifier, Parts } from '../ids/parts.ts'
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
} from './charges.ts'
export { describeDenial } from './denial.ts'
export { ACME, bucketIdFromParts } from './formats.ts'
export { coveringIdentifiers, fqdnSetHash } from './identifiers.ts'
export { BUILT_IN_LIMITS, type BuiltInName } from './names.ts'
