/** Plans that nobody configured: one BASIC plan for each caller, named after it. */
import { parseAddress } from '../net/addresses.ts'
import { coveringPrefix } from '../net/prefixes.ts'
import { canonicalEvmAddress } from './evm-address.ts'
import type { Plan } from './plan.ts'

/** No configured plan has an id that starts so. */
export const IMPLICIT_PREFIX = 'basic:'

export const implicitPlanId = (caller: string): string => `${IMPLICIT_PREFIX}${caller}`

export const isImplicitId = (id: string): boolean => id.startsWith(IMPLICIT_PREFIX)

export const implicitPlan = (id: string): Plan => ({
  id,
  tier: 'BASIC',
  active: true,
  source: 'implicit',
})

/** As people write it, to as it is kept: however an address is spelt, it is one plan. */
export const canonicalPlanId = (id: string): string | undefined => {
  if (!isImplicitId(id)) return id
  const caller = id.slice(IMPLICIT_PREFIX.length)
  const client = canonicalEvmAddress(caller) ?? clientOf(caller.replace(/\/64$/, ''))
  return client === undefined ? undefined : implicitPlanId(client)
}

/** What counts as one client: an IPv4 address, or the /64 that one network gets. Undefined for no IP. */
export const clientOf = (ip: string): string | undefined => {
  const address = parseAddress(ip)
  if (address === undefined) return undefined
  return address.kind() === 'ipv4' ? address.toString() : coveringPrefix(address)
}
