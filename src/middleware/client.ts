/**
 * The address that a request counts by: as the framework has it, or as the proxies say that are
 * trusted. A set-up that would count everybody as one, or believe anybody, is logged.
 */
import { quote } from '../core/errors.ts'
import { bareAddress, clientAddress, UNKNOWN_CLIENT } from '../net/client-address.ts'
import { createRangeTable } from '../net/range-table.ts'
import { reservedRangeOf } from '../requests/ids/id-format.ts'
import type { Door } from './door.ts'
import type { Warnings } from './warnings.ts'

/**
 * What is in front of the program:
 * - `hops`: so many proxies, each of which adds one address to `X-Forwarded-For`;
 * - `trusted`: proxies with these addresses or ranges; the client is the last address that is none;
 * - `header`: a platform that puts the client's address, and nothing else, into this header.
 */
export type ProxyOptions =
  | { readonly hops: number }
  | { readonly trusted: readonly string[] }
  | { readonly header: string }

export interface AddressRules {
  /** Absent: what the framework says. */
  readonly proxy: ProxyOptions | undefined
  readonly ipv6Prefix: number
}

/**
 * How many requests of a gate are looked at for trouble with proxies: a wrong set-up shows in the
 * first of them, and reading headers costs some runtimes as much as deciding. So many from one
 * private address, and none from another, are probably a proxy's.
 */
export const LOOKS = 1_000

export type ClientOf<Ask> = (request: Ask, platform: unknown) => string

export const clientsOf = <Ask>(
  door: Door<Ask>,
  { proxy, ipv6Prefix }: AddressRules,
  warnings: Warnings,
): ClientOf<Ask> => {
  const find = proxy === undefined ? door.address : behindProxy(door, proxy)
  const isShared = oneAddress()
  let looks = 0
  return (request, platform) => {
    const found = find(request, platform)
    const counted = found && clientAddress(found, ipv6Prefix)
    if (looks < LOOKS) {
      looks += 1
      if (proxy === undefined) lookForProxies(door, request, warnings)
      if (counted && isShared(counted) && looks === LOOKS) tellProxyShared(counted, warnings)
    }
    if (counted) return counted
    tellUnknown(door, found, warnings)
    return UNKNOWN_CLIENT
  }
}

function behindProxy<Ask>(door: Door<Ask>, proxy: ProxyOptions): Door<Ask>['address'] {
  if ('header' in proxy) {
    const name = proxy.header.toLowerCase()
    return (request) => door.header(request, name)
  }
  if ('hops' in proxy) {
    return (request, platform) => {
      const path = pathOf(door, request, platform)
      // A request that came by fewer proxies counts by the farthest address that it shows.
      return path[Math.max(0, path.length - 1 - proxy.hops)]
    }
  }
  const table = createRangeTable(proxy.trusted.map((range) => [range, true] as const))
  return (request, platform) => {
    const path = pathOf(door, request, platform)
    const isTrusted = (address = '') => table.find(bareAddress(address)) === true
    return path.findLast((address) => !isTrusted(address)) ?? path[0]
  }
}

/** From the farthest to the nearest: what the proxies say, then the other end of the connection. */
function pathOf<Ask>(
  door: Door<Ask>,
  request: Ask,
  platform: unknown,
): readonly (string | undefined)[] {
  const forwarded = door.header(request, 'x-forwarded-for')
  const peer = door.peer(request, platform)
  return forwarded ? [...forwarded.split(','), peer] : [peer]
}

/** Headers first: most requests have neither, and some frameworks work out the rest anew each time. */
function lookForProxies<Ask>(door: Door<Ask>, request: Ask, warnings: Warnings): void {
  const forwardedFor = door.header(request, 'x-forwarded-for')
  if (forwardedFor !== undefined) checkTrust(door, request, forwardedFor, warnings)
  if (!warnings.isNew('FORWARDED_IGNORED')) return
  const forwarded = door.header(request, 'forwarded')
  if (forwarded === undefined || door.trust(request) === 'some') return
  warnings.tell({
    code: 'FORWARDED_IGNORED',
    thing: `${door.name}: Forwarded`,
    rule: 'is not read: let the proxy send X-Forwarded-For, or give who a function that reads it',
    finding: quote(forwarded),
  })
}

function checkTrust<Ask>(
  door: Door<Ask>,
  request: Ask,
  forwardedFor: string,
  warnings: Warnings,
): void {
  if (!warnings.isNew('PROXY_UNTRUSTED') && !warnings.isNew('PROXY_TRUSTS_ALL')) return
  const trust = door.trust(request)
  if (trust === 'none') {
    warnings.tell({
      code: 'PROXY_UNTRUSTED',
      thing: `${door.name}: X-Forwarded-For`,
      rule: 'must come from a proxy that is trusted, or all its clients count as one; it was ignored',
      finding: quote(forwardedFor),
    })
  }
  if (trust === 'all') {
    warnings.tell({
      code: 'PROXY_TRUSTS_ALL',
      thing: `${door.name}: the proxies that the framework trusts`,
      rule: 'must be named or counted, or any client can choose the address that it counts by',
      finding: 'all of them',
    })
  }
}

function tellUnknown<Ask>(door: Door<Ask>, found: string | undefined, warnings: Warnings): void {
  if (!warnings.isNew('CLIENT_ADDRESS_UNKNOWN')) return
  warnings.tell({
    code: 'CLIENT_ADDRESS_UNKNOWN',
    thing: `${door.name}: the client's address`,
    rule: 'must be known, or all such clients share one bucket',
    finding: found === undefined ? 'none' : quote(found),
  })
}

/** Whether all addresses so far were the same. */
function oneAddress(): (address: string) => boolean {
  let first: string | undefined
  let same = true
  return (address) => {
    first ??= address
    same &&= address === first
    return same
  }
}

function tellProxyShared(address: string, warnings: Warnings): void {
  const range = reservedRangeOf(address)
  if (range === undefined) return
  warnings.tell({
    code: 'CLIENT_ADDRESS_SHARED',
    thing: "the clients' addresses",
    rule: 'should differ; behind a proxy that is not trusted, all clients count as one',
    finding: `${address} in ${LOOKS} requests, of ${range}`,
  })
}
