/** The door `headgate/express`: a gate for Express 5, and for what else takes `(req, res, next)`. */
import type { Answer } from '../requests/limiter/charge.ts'
import { type Door, fieldOfRequest } from './door.ts'
import { createGate } from './gate.ts'
import { joined } from './header-forms.ts'
import type { GateOptions } from './options.ts'

export type * from './door-types.ts'

declare global {
  namespace Express {
    interface Request {
      /** What the last gate answered; absent if it let the request pass uncounted. */
      rateLimit?: Answer
    }
  }
}

/** As much of Express's request as the gate uses, and as functions among the options often do. */
export interface ExpressRequest extends Express.Request {
  readonly method: string
  readonly path: string
  readonly originalUrl: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly ip?: string | undefined
  readonly socket?: { readonly remoteAddress?: string | undefined }
  readonly app?: { get(setting: string): unknown }
  get(name: string): string | undefined
}

/** As much of Node's response as the gate uses. */
export interface ExpressResponse {
  statusCode: number
  getHeader(name: string): number | string | readonly string[] | undefined
  setHeader(name: string, value: string): unknown
  end(body: string): unknown
  once(event: 'finish', listener: () => void): unknown
}

export type ExpressHandler<Request> = (
  request: Request,
  response: ExpressResponse,
  next: (error?: unknown) => void,
) => Promise<void>

/**
 * Limits every request that comes after it. The answer is at `req.rateLimit`.
 *
 * @example
 * import { expressGate } from 'headgate/express'
 *
 * const gate = expressGate({ limits: { Api: { burst: 100, period: '1m' } } }) // app.use(gate)
 * console.log(typeof gate)
 */
export const expressGate = <
  Request extends ExpressRequest = ExpressRequest,
  const Name extends string = string,
>(
  options: GateOptions<Request, Name>,
): ExpressHandler<Request> => {
  const gate = createGate(DOOR, options)
  return async (request, response, next) => {
    try {
      const admission = await gate.admit(request)
      if (admission.answer !== undefined) request.rateLimit = admission.answer
      for (const line of admission.lines) {
        response.setHeader(line.name, joined(line, response.getHeader(line.name)))
      }
      if (!admission.allowed) {
        response.statusCode = admission.status
        response.end(admission.body)
        return
      }
      const { settle } = admission
      // Not at `close`: a client that goes away must not get its tokens back for that.
      if (settle) response.once('finish', () => void settle({ status: response.statusCode }))
    } catch (error) {
      next(error)
      return
    }
    next()
  }
}

const DOOR: Door<ExpressRequest> = {
  name: 'expressGate',
  header: ({ headers }, name) => {
    const value = headers[name]
    return typeof value === 'string' ? value : value?.join(', ')
  },
  address: ({ ip, socket }) => ip ?? socket?.remoteAddress,
  peer: ({ socket }) => socket?.remoteAddress,
  trust: ({ app }) => {
    const setting = app?.get('trust proxy')
    if (setting === true) return 'all'
    return setting === undefined || setting === false || setting === 0 ? 'none' : 'some'
  },
  user: (request) => fieldOfRequest(request, 'user') ?? fieldOfRequest(request, 'auth'),
}
