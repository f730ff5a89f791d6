/** What callers ask of spending, checked and in one form. */
import { quote } from '../../core/errors.ts'
import type { Instant, Span } from '../../core/time.ts'
import { canonicalAddress } from '../../net/addresses.ts'
import { spendingMistake } from '../mistake.ts'

/** How the money leaves: by a transaction, a paid query, or the fetching of a record. */
export type SpendingMode = 'TRANSACTION' | 'QUERY' | 'RECORD'

export const MODES: readonly SpendingMode[] = ['TRANSACTION', 'QUERY', 'RECORD']

/** Kept in the ledger with what it explains; decides nothing. */
export interface Note {
  readonly transactionId?: string | undefined
  readonly caller?: string | undefined
  readonly interactingEntity?: string | undefined
  readonly requestId?: string | undefined
  readonly actor?: string | undefined
}

/** Transactions of one kind, for reports: those that Ethereum users sign, and all others. */
export type Family = 'ETHEREUM' | 'HEDERA'

export const FAMILIES: readonly Family[] = ['ETHEREUM', 'HEDERA']

export const familyOf = (operation: string): Family =>
  operation.startsWith('Ethereum') ? 'ETHEREUM' : 'HEDERA'

/** For what money is spent. */
export interface Matter {
  /** Such as `FileAppendTransaction`. */
  readonly operation?: string | undefined
  readonly mode?: SpendingMode | undefined
  /** As the name of the operation says, unless told: a file may be stored for an Ethereum user. */
  readonly family?: Family | undefined
}

/** For whom, and for what, money is to be spent. */
export interface Purpose extends Matter {
  readonly from?: string | undefined
  readonly ip?: string | undefined
}

export interface CheckAsk extends Purpose {
  /** In the smallest unit; zero asks whether anything is left. */
  readonly estimate?: bigint | undefined
}

export interface HoldAsk extends CheckAsk, Note {
  /** The same id again answers as before, and holds nothing more. */
  readonly operationId?: string | undefined
  /** How long it lasts if nobody ends it: a second to a day; as the settings say, unless told. */
  readonly holdFor?: Span | undefined
}

export interface ExtendAsk extends Note {
  readonly holdId: string
  /** What the next stretch may cost, beside what is still open. */
  readonly estimate?: bigint | undefined
  readonly holdFor?: Span | undefined
  readonly operationId?: string | undefined
}

/** When it happened, if not now: it is charged in the window of that time. */
interface Dated {
  readonly at?: Instant | undefined
}

export interface RecordAsk extends Purpose, Note, Dated {
  readonly amount: bigint
  readonly operationId?: string | undefined
}

/** What it names is charged to the budgets of that; what it does not name, to those of its hold. */
export interface CaptureAsk extends Note, Matter, Dated {
  readonly holdId: string
  readonly amount: bigint
  readonly operationId?: string | undefined
}

export interface SettleAsk extends Note, Dated {
  readonly holdId: string
  /** All that was really spent, captures included; absent: the sum of the captures. */
  readonly amount?: bigint | undefined
}

export interface ReleaseAsk extends Note, Dated {
  readonly holdId: string
}

export interface CanonicalMatter {
  readonly operation: string
  readonly mode: SpendingMode
  /** Only where it was told. */
  readonly family?: Family | undefined
}

/** A purpose with every name in its one spelling. */
export interface CanonicalPurpose extends CanonicalMatter {
  readonly address?: string | undefined
  readonly ip?: string | undefined
}

/** The category of an ask that names no operation: categories add up to the total. */
const UNNAMED_OPERATION = 'Unspecified'

/** Room for a URL or a hash, and not for a document. */
const MAX_NOTE = 256

const UNNAMED: CanonicalMatter = { operation: UNNAMED_OPERATION, mode: 'TRANSACTION' }

export const canonicalPurpose = ({ from, ip, ...matter }: Purpose): CanonicalPurpose => {
  const named = from === undefined ? undefined : canonicalName(from)
  const ips = [
    from === undefined || named !== undefined ? undefined : toMemberName(from),
    ip === undefined ? undefined : toIp(ip),
  ]
  const [first, second = first] = ips
  if (first !== undefined && first !== second) {
    throw spendingMistake('ADDRESS_INVALID', 'from', 'must not be another IP than ip', quote(first))
  }
  return { address: named, ip: second, ...canonicalMatter(matter, UNNAMED) }
}

/**
 * What is not named is as in `base`; a family goes with the operation that it was named for, and is
 * kept where the operation does not say it.
 */
const canonicalMatter = (given: Matter, base: CanonicalMatter): CanonicalMatter => {
  const operation =
    given.operation === undefined ? base.operation : toOperationName(given.operation)
  const mode = given.mode ?? base.mode
  const family = given.family ?? (operation === base.operation ? base.family : undefined)
  const told = family !== undefined && family !== familyOf(operation)
  return told ? { operation, mode, family } : { operation, mode }
}

/** Undefined where it is what the hold was for. */
export const paidFor = (held: CanonicalMatter, given: Matter): CanonicalMatter | undefined => {
  const paid = canonicalMatter(given, held)
  const same = paid.operation === held.operation && paid.mode === held.mode
  return same && paid.family === held.family ? undefined : paid
}

export const toNote = (note: Note): Note => {
  const { transactionId, caller, interactingEntity, requestId, actor } = note
  const kept = { transactionId, caller, interactingEntity, requestId, actor }
  for (const [field, text] of Object.entries(kept)) noteText(field, text)
  return kept
}

/** A text for people, of a bounded length: a name, a reason. */
export const noteText = <Text extends string | undefined>(field: string, text: Text): Text => {
  if (text === undefined || (text.length <= MAX_NOTE && PRINTABLE.test(text))) return text
  const rule = `must be at most ${MAX_NOTE} characters without control characters`
  throw spendingMistake('NOTE_INVALID', field, rule, quote(text))
}

/** What members are called, in plan files, on the wire and in programs. */
export const MEMBER_RULE =
  'must be a name such as user:42, an address (0x and hexadecimal digits), or an IP address'

/** In its one spelling. Throws for what is no member's name. */
export const toMemberName = (text: string): string => {
  const member = canonicalName(text) ?? canonicalAddress(text.trim())
  if (member !== undefined) return member
  throw spendingMistake('ADDRESS_INVALID', 'member', MEMBER_RULE, quote(text))
}

/** Names and EVM addresses; undefined for IP addresses and any other text. */
export const canonicalName = (text: string): string | undefined =>
  canonicalEvmAddress(text) ?? (MEMBER_NAME.test(text) && !HEX_GROUP.test(text) ? text : undefined)

/** Six times a real address: the text is a key in the store, so it has a bound. */
const MAX_EVM_ADDRESS_LENGTH = 256

/** Trimmed and in lower case; undefined for any other text. Neither padded nor checked for a checksum. */
export const canonicalEvmAddress = (text: string): string | undefined => {
  const canonical = text.trim().toLowerCase()
  return canonical.length <= MAX_EVM_ADDRESS_LENGTH && EVM_ADDRESS.test(canonical)
    ? canonical
    : undefined
}

export const toIp = (text: string): string => {
  const ip = canonicalAddress(text.trim())
  if (ip !== undefined) return ip
  const rule = 'must be an IPv4 address in four decimal parts, or an IPv6 address without zone'
  throw spendingMistake('IP_INVALID', 'ip', rule, quote(text))
}

export const toOperationName = (text: string): string => {
  if (OPERATION.test(text)) return text
  const rule = 'must be 1 to 64 letters and digits, a letter first'
  throw spendingMistake('OPERATION_INVALID', 'operation', rule, quote(text))
}

/** What it is, and which one; as it is written, for only its giver knows what is alike. */
const MEMBER_NAME = /^[a-z][a-z0-9_-]{0,31}:[\x21-\x7e]{1,200}$/
/** More likely an IPv6 address with a slip in it. */
const HEX_GROUP = /^[0-9a-f]{1,4}:/
const EVM_ADDRESS = /^0x[0-9a-f]+$/
const OPERATION = /^[A-Za-z][A-Za-z0-9]{0,63}$/
const PRINTABLE = /^[^\p{Cc}\p{Surrogate}]*$/u

/** All that a hold may be asked with. */
export const HOLD_FIELDS: { readonly [Field in keyof HoldAsk]-?: true } = {
  from: true,
  ip: true,
  operation: true,
  mode: true,
  family: true,
  holdFor: true,
  estimate: true,
  operationId: true,
  transactionId: true,
  caller: true,
  interactingEntity: true,
  requestId: true,
  actor: true,
}
