/** The API of a server, over HTTP. */
import { quote } from '../documents/index.ts'
import type { Reply } from './api.ts'
import { refuseCall } from './cli-mistake.ts'
import type { Wire } from './gate.ts'
import { readStream } from './read-stream.ts'

/** A decision takes milliseconds. A server that needs this long is as good as gone. */
export const PATIENCE_MS = 10_000

/** The whole ledger is read: some microseconds for each of its entries. */
const LONG_PATIENCE_MS = 600_000

export const overHttp = (server: string, token: string | undefined): Wire => {
  const base = readBase(server)
  const authorization: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` }

  const send = async (
    path: string,
    request: RequestInit,
    patience = PATIENCE_MS,
  ): Promise<Reply> => {
    const signal = AbortSignal.timeout(patience)
    try {
      // Not elsewhere: a redirect would take the token along.
      const response = await fetch(`${base}${path}`, { ...request, signal, redirect: 'error' })
      return { status: response.status, text: await response.text() }
    } catch (error) {
      return refuseUnreachable(base, error)
    }
  }

  return {
    get: (path, patient) => send(path, { headers: authorization }, patient && LONG_PATIENCE_MS),
    post: (path, body) =>
      send(path, {
        method: 'POST',
        headers: { ...authorization, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    stream: async (path, write) => {
      try {
        const request = { headers: authorization, redirect: 'error' } as const
        const response = await fetch(`${base}${path}`, request)
        return await readStream(response.status, response.body ?? [], write)
      } catch (error) {
        return refuseUnreachable(base, error)
      }
    },
    close: async () => {},
  }
}

/** A path in front is kept, for servers behind a proxy. */
export function readBase(server: string): string {
  if (/^https?:\/\//.test(server) && URL.canParse(server)) {
    const { origin, pathname } = new URL(server)
    return `${origin}${pathname.replace(/\/+$/, '')}`
  }
  const rule = 'must be an address such as http://127.0.0.1:8080'
  const finding = quote(server)
  const thing = '--server or HEADGATE_SERVER'
  return refuseCall({ code: 'FLAG_VALUE_INVALID', thing, rule, finding })
}

function refuseUnreachable(base: string, error: unknown): never {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return refuseCall(
    {
      code: 'SERVER_UNREACHABLE',
      thing: base,
      rule: `must answer within ${PATIENCE_MS / 1_000} s`,
      finding: cause instanceof Error ? cause.message : String(cause),
    },
    error,
  )
}
