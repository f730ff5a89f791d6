/** Who may sign for an account, and whose number is verified, as an operator's file says it. CIP-40, "Phone number hashing". */
import { type Field, readFields, readList, refuseField } from '../../documents/field.ts'
import { parseJson } from '../../documents/json.ts'
import { readText } from '../../documents/scalars.ts'
import { type EthereumAddress, parseEthereumAddress } from '../eip712/ethereum.ts'
import { fixedPhoneQuota, type PhoneQuota } from './phone-number.ts'

export type PhoneAccounts = ReadonlyMap<EthereumAddress, PhoneAccount>

interface PhoneAccount {
  /** They sign for it beside its own key. */
  readonly signers: readonly EthereumAddress[]
  /** Hashed phone numbers that it was verified to own. */
  readonly identifiers: ReadonlySet<string>
}

/** All are kept in memory: some 50 MB. With more, a source of one's own is the better way. */
export const MAX_PHONE_ACCOUNTS = 100_000

/** A wallet has a key for each of a few devices; each costs a comparison. */
const MAX_SIGNERS = 16

/** People have a few numbers. */
const MAX_IDENTIFIERS = 16

/** `{ "accounts": [{ "account", "signers", "identifiers" }] }`, JSON. `file` is only a name for messages. */
export const parsePhoneAccounts = (text: string, file: string): PhoneAccounts => {
  const root = { thing: 'phone accounts', node: parseJson(text, file) }
  const { accounts } = readFields(root, { required: ['accounts'], optional: [] })
  const found = new Map<EthereumAddress, PhoneAccount>()
  for (const field of bounded(accounts, MAX_PHONE_ACCOUNTS)) {
    const fields = readFields(field, {
      required: ['account'],
      optional: ['signers', 'identifiers'],
    })
    const account = readAddress(fields.account)
    if (found.has(account)) refuseField(fields.account, 'FIELD_VALUE', 'must be there once')
    found.set(account, {
      signers: bounded(fields.signers, MAX_SIGNERS).map(readAddress),
      identifiers: new Set(bounded(fields.identifiers, MAX_IDENTIFIERS).map(readIdentifier)),
    })
  }
  return found
}

export interface AccountQuota {
  /** For every account, known or not. */
  readonly base: number
  /** On top, for an account that names an identifier which it was verified to own. */
  readonly verified: number
  /** Asked for each request, so that a file that was read again holds at once. */
  readonly accounts: () => PhoneAccounts
}

export const accountQuota = ({ base, verified, accounts }: AccountQuota): PhoneQuota => ({
  ...fixedPhoneQuota({
    base,
    verified,
    owns: (account, identifier) =>
      accounts().get(account)?.identifiers.has(spelledAlike(identifier)) ?? false,
  }),
  signersOf: async (account) => accounts().get(account)?.signers ?? [],
})

function bounded(field: Field | undefined, most: number): readonly Field[] {
  const items = field === undefined ? [] : readList(field)
  if (field === undefined || items.length <= most) return items
  return refuseField(field, 'FIELD_VALUE', `must hold at most ${most}`, `${items.length}`)
}

const readAddress = (field: Field): EthereumAddress =>
  parseEthereumAddress(readText(field)) ??
  refuseField(field, 'FIELD_VALUE', 'must be an address of 0x and 40 digits, capitals checksummed')

function readIdentifier(field: Field): string {
  const text = readText(field)
  return text === '' ? refuseField(field, 'FIELD_VALUE', 'must not be empty') : spelledAlike(text)
}

/** Hashes are hexadecimal, in either case; an older identifier is not, and counts as it is spelt. */
const spelledAlike = (identifier: string): string =>
  /^0x[0-9a-f]+$/i.test(identifier) ? identifier.toLowerCase() : identifier
