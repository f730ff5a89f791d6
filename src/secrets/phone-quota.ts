/** How many attempts an account has in the phone number domain: a source that operators may replace. */
import type { Address } from './eip712/address.ts'

export interface PhoneQuota {
  /** In all, not at a time. `identifier` is a hashed phone number that the client says is its own. */
  totalOf(account: Address, identifier: string | undefined): Promise<number>
  /** Who else may sign for the account. */
  signersOf?(account: Address): Promise<readonly Address[]>
}

export interface FixedPhoneQuota {
  /** For every account. */
  readonly base: number
  /** On top, for an account that owns the identifier it names. */
  readonly verified: number
  /** Whether the account was verified as the owner; nobody is, unless told. */
  readonly owns?: (account: Address, identifier: string) => boolean | Promise<boolean>
}

export const fixedPhoneQuota = ({ base, verified, owns }: FixedPhoneQuota): PhoneQuota => ({
  totalOf: async (account, identifier) => {
    const owner = identifier !== undefined && ((await owns?.(account, identifier)) ?? false)
    return owner ? base + verified : base
  },
})
