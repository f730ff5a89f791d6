/** ODIS Phone Number Domain, version 1: one domain for all, and a quota for each account. */
import { cappedRule } from '../capped-rule.ts'
import { type Claim, NO_TURN } from '../claim.ts'
import { refuseDomain } from '../domain-bounds.ts'
import { type DomainKind, defineKind } from '../domain-kind.ts'
import { type Address, parseAddress } from '../eip712/address.ts'
import { string } from '../eip712/atoms.ts'
import { optional, struct } from '../eip712/struct.ts'
import type { PhoneQuota } from '../phone-quota.ts'
import { signedBy } from '../signature/signed-by.ts'

export const PhoneNumberDomain = struct('PhoneNumberDomain', { name: string, version: string })

export const PhoneNumberDomainOptions = struct('PhoneNumberDomainOptions', {
  account: string,
  authorization: string,
  hashedPhoneNumber: optional(string),
})

type Options = typeof PhoneNumberDomainOptions.zero

/** It belongs to everybody, so nobody may disable it. */
export const phoneNumber = (quota: PhoneQuota): DomainKind =>
  defineKind({
    name: 'ODIS Phone Number Domain',
    version: '1',
    endpoints: ['sign', 'quotaStatus'],
    domain: PhoneNumberDomain,
    options: PhoneNumberDomainOptions,
    tagged: false,
    unsigned: (options) => ({ ...options, authorization: '' }),
    claim: (_, options) => claim(quota, options),
  })

function claim(quota: PhoneQuota, options: Options): Claim {
  const { authorization, hashedPhoneNumber } = options
  const account =
    parseAddress(options.account) ?? refuseDomain('account', 'must be an address', options.account)
  const identifier = hashedPhoneNumber.defined ? hashedPhoneNumber.value : undefined
  const signers = async (): Promise<readonly Address[]> =>
    quota.signersOf === undefined ? [account] : [account, ...(await quota.signersOf(account))]
  return {
    authenticate: async (hash) => signedBy(hash, authorization, { addresses: await signers() }),
    turn: NO_TURN,
    account,
    rule: async () => cappedRule(await quota.totalOf(account, identifier)),
  }
}
