/** ODIS Phone Number Domain, version 1: one domain for all, and a quota for each account. */
import { type EthereumAddress, parseEthereumAddress, signedBy } from '../eip712/ethereum.ts'
import { optional, string, struct } from '../eip712/typed-data.ts'
import { refuseDomain } from '../mistake.ts'
import { cappedRule } from '../rules/rule.ts'
import { type Claim, type DomainKind, defineKind, NO_NONCE } from './domain-kind.ts'

export const PhoneNumberDomain = struct('PhoneNumberDomain', { name: string, version: string })

export const PhoneNumberDomainOptions = struct('PhoneNumberDomainOptions', {
  account: string,
  authorization: string,
  hashedPhoneNumber: optional(string),
})

type Options = typeof PhoneNumberDomainOptions.zero

/** All accounts share it, so none may disable it. */
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
    parseEthereumAddress(options.account) ??
    refuseDomain('account', 'must be an address', options.account)
  const identifier = hashedPhoneNumber.defined ? hashedPhoneNumber.value : undefined
  const signers = async (): Promise<readonly EthereumAddress[]> =>
    quota.signersOf === undefined ? [account] : [account, ...(await quota.signersOf(account))]
  return {
    authenticate: async (hash, _, recover) =>
      signedBy(hash, authorization, { addresses: await signers() }, recover),
    nonce: NO_NONCE,
    account,
    rule: async () => cappedRule(await quota.totalOf(account, identifier)),
  }
}

/** How many attempts an account has: a source that operators may replace. */
export interface PhoneQuota {
  /** In all, not at a time. `identifier` is a hashed phone number that the client claims as its own. */
  totalOf(account: EthereumAddress, identifier: string | undefined): Promise<number>
  /** Other addresses that may sign for the account. */
  signersOf?(account: EthereumAddress): Promise<readonly EthereumAddress[]>
}

export interface FixedPhoneQuota {
  /** For every account. */
  readonly base: number
  /** On top, for an account that owns the identifier it names. */
  readonly verified: number
  /** Whether the account was verified as the owner. Default: no account is. */
  readonly owns?: (account: EthereumAddress, identifier: string) => boolean | Promise<boolean>
}

export const fixedPhoneQuota = ({ base, verified, owns }: FixedPhoneQuota): PhoneQuota => ({
  totalOf: async (account, identifier) => {
    const owner = identifier !== undefined && ((await owns?.(account, identifier)) ?? false)
    return owner ? base + verified : base
  },
})
