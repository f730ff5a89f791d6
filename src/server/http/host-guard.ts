/**
 * What keeps web pages out of a server without tokens. A page that the operator visits runs on this
 * machine too: it could send requests here, or point its own name at 127.0.0.1 and read the answers.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { quote } from '../../documents/index.ts'
import { isLoopbackHost } from '../loopback.ts'
import { httpMistake } from './mistake.ts'

export const guardHost = (headers: IncomingHttpHeaders): void => {
  const { host, origin } = headers
  if (host === undefined || !isLoopbackHost(host)) {
    throw httpMistake({
      code: 'HOST_NOT_ALLOWED',
      thing: 'Host',
      rule: 'must name this machine, such as localhost, as long as there are no tokens',
      finding: host === undefined ? 'none' : quote(host),
    })
  }
  if (origin !== undefined && !isOwnOrigin(origin, host)) refuseOrigin('Origin', origin)
  const site = headers['sec-fetch-site']
  if (site === 'cross-site' || site === 'same-site') refuseOrigin('Sec-Fetch-Site', site)
}

const isOwnOrigin = (origin: string, host: string): boolean => {
  const own = origin.toLowerCase()
  return own === `http://${host.toLowerCase()}` || own === `https://${host.toLowerCase()}`
}

function refuseOrigin(thing: string, finding: string): never {
  throw httpMistake({
    code: 'ORIGIN_NOT_ALLOWED',
    thing,
    rule: 'must be the server itself or absent, as long as there are no tokens',
    finding: quote(finding),
  })
}
