/** What a signer keeps of a domain, or of one account in it. Never expires: an attempt once made counts for good. */
import { assert } from '../core/errors.ts'
import type { Key, Value } from '../core/index.ts'
import type { DomainRequest } from './domain-kind.ts'
import { toHex } from './eip712/keccak.ts'

export interface DomainRecord {
  /** The state of the domain's rule. */
  readonly quota?: Value
  /** For good. The record stays as a tombstone. */
  readonly disabled: boolean
  /** The signing hashes of the last answered requests, oldest first. */
  readonly answered: readonly string[]
}

/** A client retries its last request, not its last hundred; 64 hashes are 4 kB. */
export const MAX_ANSWERED = 64

export const NEW_RECORD: DomainRecord = { disabled: false, answered: [] }

export const recordKey = ({ domainHash, claim }: DomainRequest): Key => {
  const domain = `secrets/domain/${toHex(domainHash)}`
  return claim.account === undefined ? domain : `${domain}/${claim.account}`
}

export const charged = (record: DomainRecord, quota: Value, hash: string): DomainRecord => ({
  ...record,
  quota,
  answered: [...record.answered, hash].slice(-MAX_ANSWERED),
})

/** A retry is refused from here on, so nothing need be remembered of the answers. */
export const disabledRecord = (record: DomainRecord): DomainRecord => ({
  ...record,
  disabled: true,
  answered: [],
})

/** Disabled or not, the rule's state, and the hashes, line by line. */
export const encodeRecord = ({ quota, disabled, answered }: DomainRecord): Value =>
  [disabled ? 'disabled' : 'live', quota ?? '', ...answered].join('\n')

export const decodeRecord = (value: Value | undefined): DomainRecord => {
  if (value === undefined) return NEW_RECORD
  const [word, quota, ...answered] = value.split('\n')
  assert(word === 'disabled' || word === 'live', `a domain's record: ${JSON.stringify(word)}`)
  const record = { disabled: word === 'disabled', answered }
  return quota === undefined || quota === '' ? record : { ...record, quota }
}
