/**
 * The door `headgate/domains`: the hashes that a client of a signer needs. CIP-40, EIP-712. Needs no Node.
 */
export { type EthereumAddress, parseEthereumAddress } from '../eip712/ethereum.ts'
export { domainSeparator, hashTypedData, type NameAndVersion } from '../eip712/typed-data.ts'
export type { Endpoint } from './domain-kind.ts'
export { domainHash, signingHash } from './domain-registry.ts'
