/** Which hosts are this machine and no other: where a server without tokens may listen and be asked. */
import { isIPv4 } from 'node:net'

/** A name or an address as a socket or a setting has it: no port, no brackets. */
export const isLoopback = (host: string): boolean => {
  const name = host.toLowerCase()
  if (name === 'localhost' || name.endsWith('.localhost') || name === '::1') return true
  const address = name.startsWith(MAPPED) ? name.slice(MAPPED.length) : name
  return isIPv4(address) && address.startsWith('127.')
}

/** The same for what a Host header holds: perhaps a port, IPv6 in brackets. */
export const isLoopbackHost = (header: string): boolean => {
  const [, bracketed, plain] = HOST.exec(header) ?? []
  return bracketed === undefined ? plain !== undefined && isLoopback(plain) : isLoopback(bracketed)
}

const MAPPED = '::ffff:'
const HOST = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+))(?::\d{1,5})?$/i
