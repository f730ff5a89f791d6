/** The URL of a web server that is asked for the time. */
import { formatted } from './reader.ts'

/** More would only be slower to ask. */
export const MAX_TIME_SOURCES = 16

/** Over TLS: a time that anyone on the way can write confirms nothing. */
export const timeSource = formatted({
  parse: (text) => (isTimeSource(text) ? text : undefined),
  rule: 'must be an https URL, or an http URL of this machine',
  schema: {},
})

function isTimeSource(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || (protocol === 'http:' && THIS_MACHINE.test(hostname))
}

/** As URLs spell it. */
const THIS_MACHINE = /^(?:(?:.+\.)?localhost|127\.[\d.]+|\[::1\])$/
