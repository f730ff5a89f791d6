/** ODIS Smart Contract Domain, version 1: a contract on a chain says who may ask. */
import type { AccessController } from '../chain/access-controller.ts'
import { type Claim, NO_TURN } from '../claim.ts'
import { refuseDomain } from '../domain-bounds.ts'
import { type DomainKind, defineKind } from '../domain-kind.ts'
import { parseAddress } from '../eip712/address.ts'
import { string, uint256 } from '../eip712/atoms.ts'
import { fromHex } from '../eip712/keccak.ts'
import { optional, struct, valueOr } from '../eip712/struct.ts'
import type { Rule } from '../rule.ts'

export const SmartContractDomain = struct('SmartContractDomain', {
  name: string,
  version: string,
  contractAddress: string,
  chainId: uint256,
  domainData: optional(string),
})

export const SmartContractDomainOptions = struct('SmartContractDomainOptions', {
  notBeforeBlock: optional(uint256),
  authorization: string,
})

type Domain = typeof SmartContractDomain.zero
type Options = typeof SmartContractDomainOptions.zero

/** The contract counts, if anyone does: there is no quota here to tell of, nor anything to disable. */
export const smartContract = (controller: AccessController): DomainKind =>
  defineKind({
    name: 'ODIS Smart Contract Domain',
    version: '1',
    endpoints: ['sign'],
    domain: SmartContractDomain,
    options: SmartContractDomainOptions,
    tagged: false,
    unsigned: (options) => options,
    claim: (domain, options) => claim(controller, domain, options),
  })

function claim(controller: AccessController, domain: Domain, options: Options): Claim {
  const contract =
    parseAddress(domain.contractAddress) ??
    refuseDomain('contractAddress', 'must be an address', domain.contractAddress)
  const question = {
    chainId: domain.chainId,
    contract,
    domainData: bytesOf('domainData', valueOr(domain.domainData, '0x')),
    authorization: bytesOf('authorization', options.authorization),
    notBeforeBlock: valueOr(options.notBeforeBlock, 0),
  }
  return {
    authenticate: () => controller.ask(question),
    turn: NO_TURN,
    rule: async () => UNCOUNTED,
  }
}

const UNCOUNTED: Rule = {
  stateful: false,
  attempt: () => ({ allowed: true }),
  counter: () => 0,
  status: () => ({}),
}

/** Bytes are written as `0x` and hexadecimal digits; no text at all is no bytes. */
function bytesOf(thing: string, text: string): Uint8Array {
  return (
    fromHex(text === '' ? '0x' : text) ??
    refuseDomain(thing, 'must be 0x and whole bytes', text.slice(0, 20))
  )
}
