/** What callers ask of spending, checked and in one form. */
import { canonicalAddress } from '../net/addresses.ts'
import { parseAmount } from './amount.ts'
import { canonicalEvmAddress } from './evm-address.ts'
import { mistake, quote } from './mistake.ts'

/** How the money leaves: by a transaction, a paid query, or the fetching of a record. */
export type SpendingMode = 'TRANSACTION' | 'QUERY' | 'RECORD'

/** Kept in the ledger with what it explains; decides nothing. */
export interface Note {
  readonly transactionId?: string | undefined
  readonly caller?: string | undefined
  readonly interactingEntity?: string | undefined
  readonly requestId?: string | undefined
  readonly actor?: string | undefined
}

/** For whom, and for what kind of thing, money is to be spent. */
export interface Purpose {
  readonly from?: string | undefined
  readonly ip?: string | undefined
  /** Such as `FileAppendTransaction`. */
  readonly operation?: string | undefined
  readonly mode?: SpendingMode | undefined
}

export interface CheckAsk extends Purpose {
  /** In the smallest unit; zero asks whether anything is left. */
  readonly estimate?: bigint | undefined
}

export interface HoldAsk extends CheckAsk, Note {
  /** The same id again answers as before, and holds nothing more. */
  readonly operationId?: string | undefined
}

export interface RecordAsk extends Purpose, Note {
  readonly amount: bigint
  readonly operationId?: string | undefined
}

export interface CaptureAsk extends Note {
  readonly holdId: string
  readonly amount: bigint
  readonly operationId?: string | undefined
}

export interface SettleAsk extends Note {
  readonly holdId: string
  /** All that was really spent, captures included; absent: the sum of the captures. */
  readonly amount?: bigint | undefined
}

export interface ReleaseAsk extends Note {
  readonly holdId: string
}

/** A purpose in canonical form. */
export interface Who {
  readonly address?: string | undefined
  readonly ip?: string | undefined
  readonly operation: string
  readonly mode: SpendingMode
}

/** The category of what names none: categories add up to the total. */
export const UNNAMED_OPERATION = 'Unspecified'

/** Room for a URL or a hash, and not for a document. */
export const MAX_NOTE = 256

export const toWho = ({ from, ip, operation, mode }: Purpose): Who => ({
  address: from === undefined ? undefined : toAddress(from),
  ip: ip === undefined ? undefined : toIp(ip),
  operation: operation === undefined ? UNNAMED_OPERATION : toOperationName(operation),
  mode: mode ?? 'TRANSACTION',
})

export const toNote = (note: Note): Note => {
  const { transactionId, caller, interactingEntity, requestId, actor } = note
  const kept = { transactionId, caller, interactingEntity, requestId, actor }
  for (const [field, text] of Object.entries(kept)) {
    if (text === undefined || (text.length <= MAX_NOTE && PRINTABLE.test(text))) continue
    const rule = `must be at most ${MAX_NOTE} characters without control characters`
    throw mistake('NOTE_INVALID', field, rule, quote(text))
  }
  return kept
}

export const toAmount = (amount: unknown, thing: string): bigint => parseAmount(amount, thing)

export const toAddress = (text: string): string => {
  const address = canonicalEvmAddress(text)
  if (address !== undefined) return address
  throw mistake('ADDRESS_INVALID', 'address', 'must be 0x and hexadecimal digits', quote(text))
}

export const toIp = (text: string): string => {
  const ip = canonicalAddress(text.trim())
  if (ip !== undefined) return ip
  const rule = 'must be an IPv4 address in four decimal parts, or an IPv6 address without zone'
  throw mistake('IP_INVALID', 'ip', rule, quote(text))
}

export const toOperationName = (text: string): string => {
  if (OPERATION.test(text)) return text
  const rule = 'must be 1 to 64 letters and digits, a letter first'
  throw mistake('OPERATION_INVALID', 'operation', rule, quote(text))
}

const OPERATION = /^[A-Za-z][A-Za-z0-9]{0,63}$/
const PRINTABLE = /^[^\p{Cc}\p{Surrogate}]*$/u
