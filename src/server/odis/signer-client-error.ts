/** What a client of a signer hears whose bytes never became a request: CIP-40's JSON too, then the end. */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type Manners, type RefusedBecause, refusedResponse } from '../../secrets/index.ts'

export const createClientErrorHandler =
  (manners: Manners) =>
  (error: { readonly code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return
    if (socket.writable) socket.write(response(error.code, manners))
    socket.destroySoon()
  }

function response(code: string | undefined, manners: Manners): string {
  const [reason, message] = refusalFor(code)
  const { status, headers, body } = refusedResponse(reason, message, manners)
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Bad Request'}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n')
}

function refusalFor(code: string | undefined): readonly [RefusedBecause, string] {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return ['REQUEST_TIMEOUT', 'the request: must arrive whole within 30 s']
    case 'HPE_HEADER_OVERFLOW':
      return ['HEADERS_TOO_LARGE', 'the headers: hold at most 16 KiB in all']
    default:
      return ['MALFORMED_REQUEST', 'the request: must be well-formed HTTP/1.1']
  }
}
