/** What a client hears whose bytes never became a request: a problem too, then the end of the line. */
import type { Socket } from 'node:net'
import { type HttpErrorCode, toProblem } from '../problems.ts'
import { HEADERS_TIMEOUT_MS, REQUEST_TIMEOUT_MS } from './bounds.ts'
import { httpMistake } from './mistake.ts'
import { PROBLEM_JSON } from './problem-schema.ts'

export const answerClientError = (error: { readonly code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  if (socket.writable) socket.write(response(error.code))
  socket.destroySoon()
}

function response(code: string | undefined): string {
  const { title, status, ...problem } = problemFor(code)
  const body = JSON.stringify({ ...problem, title, status })
  return [
    `HTTP/1.1 ${status} ${REASONS[status] ?? 'Bad Request'}`,
    `Content-Type: ${PROBLEM_JSON}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

function problemFor(code: string | undefined) {
  const of = (name: HttpErrorCode, thing: string, rule: string) =>
    toProblem(httpMistake({ code: name, thing, rule }))
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT': {
      const rule = `must come within ${HEADERS_TIMEOUT_MS} ms to the end of its headers, ${REQUEST_TIMEOUT_MS} ms in all`
      return of('REQUEST_TIMEOUT', 'the request', rule)
    }
    case 'HPE_HEADER_OVERFLOW':
      return of('HEADERS_TOO_LARGE', 'the headers', 'hold at most 16 KiB in all')
    default:
      return of('REQUEST_MALFORMED', 'the request', 'must be well-formed HTTP/1.1')
  }
}
