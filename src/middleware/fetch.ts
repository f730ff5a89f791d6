/** The door `headgate/fetch`: a gate around a handler from a request to a response, as Bun, Deno, Workers and Next have it. */
import type { Answer } from '../requests/limiter/charge.ts'
import { connectionAddress, platformTrust } from './connection.ts'
import type { Door } from './door.ts'
import { createGate } from './gate.ts'
import type { HeaderLine } from './header-forms.ts'
import type { GateOptions } from './options.ts'

export type * from './door-types.ts'

export type FetchHandler<Ask extends Request, Rest extends readonly unknown[], Reply> = (
  request: Ask,
  ...rest: Rest
) => Reply | Promise<Reply>

/** Puts the gate in front of a handler; what the platform gives beside the request goes through. */
export type GatedHandler<Asked extends Request> = <
  Ask extends Asked,
  Rest extends readonly unknown[],
  Reply extends Response | undefined,
>(
  handler: FetchHandler<Ask, Rest, Reply>,
) => (request: Ask, ...rest: Rest) => Promise<Response | Reply>

/**
 * Limits the handlers that it is put in front of, all by the same buckets.
 *
 * @example
 * import { fetchGate } from 'headgate/fetch'
 *
 * const gate = fetchGate({ limits: { Api: { burst: 100, period: '1m' } }, who: () => 'ann' })
 * const handler = gate(() => new Response('hello')) // export default { fetch: handler }
 * console.log((await handler(new Request('https://example.com/'))).headers.get('RateLimit'))
 */
export const fetchGate = <const Name extends string = string>(
  options: GateOptions<Request, Name>,
): GatedHandler<Request> => {
  const gate = createGate(DOOR, options)
  return <Ask extends Request, Rest extends readonly unknown[], Reply extends Response | undefined>(
    handler: FetchHandler<Ask, Rest, Reply>,
  ) =>
    async (request: Ask, ...rest: Rest): Promise<Response | Reply> => {
      const admission = await gate.admit(request, rest[0])
      if (admission.answer !== undefined) answers.set(request, admission.answer)
      const { lines } = admission
      if (!admission.allowed) {
        const { status, body } = admission
        return withLines(new Response(body, { status }), lines)
      }
      let response: Reply
      try {
        response = await handler(request, ...rest)
      } catch (error) {
        if (!isGone(admission, request)) await admission.settle?.({ status: 500, error })
        throw error
      }
      // Bun's handlers answer nothing after an upgrade.
      if (response === undefined) return response
      // A client that went away gets nothing back: leaving would otherwise be a way to ask for free.
      if (!isGone(admission, request)) await admission.settle?.({ status: response.status })
      return withLines(response, lines)
    }
}

/** Asked only where there is something to give back: some runtimes make the signal when it is read. */
const isGone = ({ settle }: { readonly settle?: unknown }, request: Request): boolean =>
  settle !== undefined && request.signal.aborted

/** What the last gate answered to a request; undefined if it let it pass uncounted. */
export const rateLimitOf = (request: Request): Answer | undefined => answers.get(request)

const answers = new WeakMap<Request, Answer>()

/** Responses of `fetch` and redirects have headers that cannot be changed: they are sent as copies. */
function withLines(response: Response, lines: readonly HeaderLine[]): Response {
  // Switching protocols, and network errors: neither can be copied, and neither has readers.
  if (lines.length === 0 || response.status < 200) return response
  try {
    setLines(response.headers, lines)
    return response
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const copy = new Response(response.body, response)
    setLines(copy.headers, lines)
    return copy
  }
}

function setLines(headers: Headers, lines: readonly HeaderLine[]): void {
  for (const { name, value, joins } of lines) {
    if (joins === true) headers.append(name, value)
    else headers.set(name, value)
  }
}

const DOOR: Door<Request> = {
  name: 'fetchGate',
  header: ({ headers }, name) => headers.get(name) ?? undefined,
  address: connectionAddress,
  peer: connectionAddress,
  trust: platformTrust,
}
