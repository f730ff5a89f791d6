/** ODIS Peppered Domain, version 1: a number of attempts for whoever holds the pepper's key. */
import { cappedRule } from '../capped-rule.ts'
import { type Claim, NO_TURN } from '../claim.ts'
import { refuseDomain } from '../domain-bounds.ts'
import { defineKind } from '../domain-kind.ts'
import { parseAddress } from '../eip712/address.ts'
import { string, uint256 } from '../eip712/atoms.ts'
import { optional, struct, valueOr } from '../eip712/struct.ts'
import { signedBy } from '../signature/signed-by.ts'

/** The document maps its text to `string`, so the address is hashed as it is written. */
export const PepperedDomain = struct('PepperedDomain', {
  name: string,
  version: string,
  address: string,
  cap: optional(uint256),
})

export const PepperedDomainOptions = struct('PepperedDomainOptions', { signature: string })

type Domain = typeof PepperedDomain.zero
type Options = typeof PepperedDomainOptions.zero

export const peppered = defineKind({
  name: 'ODIS Peppered Domain',
  version: '1',
  endpoints: ['sign', 'quotaStatus', 'disable'],
  domain: PepperedDomain,
  options: PepperedDomainOptions,
  tagged: false,
  unsigned: (options) => ({ ...options, signature: '' }),
  claim,
})

function claim(domain: Domain, { signature }: Options): Claim {
  const owner =
    parseAddress(domain.address) ?? refuseDomain('address', 'must be an address', domain.address)
  const rule = cappedRule(valueOr(domain.cap, Number.MAX_SAFE_INTEGER))
  return {
    authenticate: async (hash) => signedBy(hash, signature, { addresses: [owner] }),
    turn: NO_TURN,
    rule: async () => rule,
  }
}
