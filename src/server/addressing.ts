/** Hosts, proxies and links as settings name them. */
import { isIP } from 'node:net'

export const MAX_PORT = 65_535

export const isHost = (text: string): boolean =>
  isIP(text) !== 0 || /^(?!-)[A-Za-z0-9.-]{1,253}$/.test(text)

export const isProxy = (text: string): boolean => {
  const [address = '', bits, ...rest] = text.split('/')
  const family = address.includes('%') ? 0 : isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

/** It goes into a header in angle brackets, hence none of its own. */
export const isLink = (text: string): boolean =>
  /^https?:\/\/[\x21-\x7e]+$/.test(text) && !/[<>"]/.test(text) && URL.canParse(text)

/** As it stands in a URL: IPv6 in brackets. */
export const urlHost = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host)
