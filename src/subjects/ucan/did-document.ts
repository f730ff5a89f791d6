/** The document that tells the key of a did:web. DID Core 1.0; served at `/.well-known/did.json`. */
import type { Identity } from './identity.ts'

export const didDocument = ({ did, keyDid }: Identity) => {
  const publicKeyMultibase = keyDid.slice('did:key:'.length)
  const key = `${did}#${publicKeyMultibase}`
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    id: did,
    verificationMethod: [{ id: key, type: 'Multikey', controller: did, publicKeyMultibase }],
    authentication: [key],
    assertionMethod: [key],
    capabilityDelegation: [key],
    capabilityInvocation: [key],
  }
}
