/** The callers a plan is for: `ethAddresses` (or `evmAddresses`) and `ipAddresses`. */
import { type NamedField, readList } from '../documents/index.ts'
import { canonicalRange } from '../net/range-table.ts'
import { canonicalEvmAddress } from './evm-address.ts'
import { type EntryReader, type FieldName, textOf } from './plan-fields.ts'

export interface Links {
  readonly addresses: readonly string[]
  readonly ips: readonly string[]
}

/** At least one address or IP; repetitions within the entry collapse. */
export const readLinks = (entry: EntryReader): Links => {
  const addresses = readAddresses(entry)
  const ips = readNames(entry, 'ipAddresses', canonicalIp, IP_RULE) ?? []
  if (addresses.length + ips.length === 0) {
    const rule = 'must hold at least one entry in ethAddresses or ipAddresses'
    entry.refuse('PLAN_NO_ADDRESSES', rule, entry.field, 'none')
  }
  return { addresses, ips }
}

const ADDRESS_RULE = 'must be an address: 0x and hexadecimal digits'
const IP_RULE = 'must be an IP address, or a range such as 10.0.0.0/8 without host bits'

const canonicalIp = (text: string): string | undefined => canonicalRange(text.trim())

function readAddresses(entry: EntryReader): readonly string[] {
  const seed = readNames(entry, 'ethAddresses', canonicalEvmAddress, ADDRESS_RULE)
  const deployed = readNames(entry, 'evmAddresses', canonicalEvmAddress, ADDRESS_RULE)
  if (seed === undefined || deployed === undefined) return seed ?? deployed ?? []
  if (seed.length !== deployed.length || deployed.some((address) => !seed.includes(address))) {
    const rule = 'must hold the same addresses as ethAddresses, or be absent'
    entry.refuse('PLAN_FIELD_CONFLICT', rule, entry.find('evmAddresses'), 'others')
  }
  return seed
}

type Canonical = (text: string) => string | undefined

function readNames(entry: EntryReader, name: FieldName, canonical: Canonical, rule: string) {
  const field = entry.find(name)
  if (field === undefined) return undefined
  const names = listOf(entry, field).map((item) => {
    const text = textOf(item.node)
    const found = text === undefined ? undefined : canonical(text)
    return found ?? entry.refuse('PLAN_ADDRESS_INVALID', rule, item)
  })
  return [...new Set(names)]
}

function listOf(entry: EntryReader, field: NamedField) {
  if (field.node.kind === 'list') return readList(field)
  return entry.refuse('PLAN_ADDRESS_INVALID', 'must be a list of text', field)
}
