/** ODIS Smart Contract Domain, version 1: a contract on a chain decides who may ask. */
import { fromHex, parseEthereumAddress } from '../eip712/ethereum.ts'
import { optional, string, struct, uint256, valueOr } from '../eip712/typed-data.ts'
import { refuseDomain } from '../mistake.ts'
import type { Rule } from '../rules/rule.ts'
import type { AccessController } from './access-controller.ts'
import { type Claim, type DomainKind, defineKind, NO_NONCE } from './domain-kind.ts'

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

/** Any counting is left to the contract: there is no quota here to show, nor anything to disable. */
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
    parseEthereumAddress(domain.contractAddress) ??
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
    nonce: NO_NONCE,
    rule: async () => UNCOUNTED,
  }
}

const UNCOUNTED: Rule = {
  stateful: false,
  endless: true,
  attempt: () => ({ allowed: true }),
  counter: () => 0,
  status: () => ({}),
}

/** `0x` and hexadecimal digits; an empty text is no bytes. */
function bytesOf(thing: string, text: string): Uint8Array {
  return (
    fromHex(text === '' ? '0x' : text) ??
    refuseDomain(thing, 'must be 0x and whole bytes', text.slice(0, 20))
  )
}
