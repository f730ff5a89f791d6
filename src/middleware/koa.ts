/** The door `headgate/koa`: a gate for Koa 3. */
import { type Door, fieldOfRequest } from './door.ts'
import { createGate } from './gate.ts'
import { joined } from './header-forms.ts'
import type { GateOptions } from './options.ts'

export type * from './door-types.ts'

/** As much of Koa's context as the gate uses, and as functions among the options often do. */
export interface KoaContext {
  status: number
  body: unknown
  readonly method: string
  readonly path: string
  readonly ip: string
  readonly state: object
  readonly req: { readonly socket: { readonly remoteAddress?: string | undefined } }
  readonly response: { get(field: string): string }
  readonly app: {
    readonly proxy?: boolean
    readonly proxyIpHeader?: string
    readonly maxIpsCount?: number
  }
  get(field: string): string
  set(field: string, value: string): void
}

export type KoaMiddleware<Context> = (
  context: Context,
  next: () => Promise<unknown>,
) => Promise<void>

/**
 * Limits every request that comes after it. The answer is at `ctx.state.rateLimit`.
 *
 * @example
 * import { koaGate } from 'headgate/koa'
 *
 * const gate = koaGate({ limits: { Api: { burst: 100, period: '1m' } } }) // app.use(gate)
 * console.log(typeof gate)
 */
export const koaGate = <
  Context extends KoaContext = KoaContext,
  const Name extends string = string,
>(
  options: GateOptions<Context, Name>,
): KoaMiddleware<Context> => {
  const gate = createGate<Context, Name>(DOOR, options)
  return async (context, next) => {
    const admission = await gate.admit(context)
    if (admission.answer !== undefined) {
      Object.assign(context.state, { rateLimit: admission.answer })
    }
    for (const line of admission.lines) {
      context.set(line.name, joined(line, context.response.get(line.name)))
    }
    if (!admission.allowed) {
      context.status = admission.status
      context.body = admission.body
      return
    }
    try {
      await next()
    } catch (error) {
      if (!isGone(context)) await admission.settle?.({ status: statusOf(error), error })
      throw error
    }
    if (!isGone(context)) await admission.settle?.({ status: context.status })
  }
}

/** A client that went away gets nothing back: leaving would otherwise be a way to ask for free. */
const isGone = ({ req }: KoaContext): boolean => fieldOfRequest(req.socket, 'destroyed') === true

/** As Koa will answer what was thrown. */
function statusOf(error: unknown): number {
  const status = fieldOfRequest(error, 'status') ?? fieldOfRequest(error, 'statusCode')
  if (typeof status === 'number') return status
  return fieldOfRequest(error, 'code') === 'ENOENT' ? 404 : 500
}

const DOOR: Door<KoaContext> = {
  name: 'koaGate',
  header: (context, name) => context.get(name) || undefined,
  address: ({ ip }) => ip || undefined,
  peer: ({ req }) => req.socket.remoteAddress,
  trust: ({ app: { proxy = false, proxyIpHeader = FORWARDED_FOR, maxIpsCount = 0 } }) => {
    if (!proxy) return 'none'
    // Koa takes the first address of the list, which the client itself may have written.
    return proxyIpHeader.toLowerCase() === FORWARDED_FOR && maxIpsCount === 0 ? 'all' : 'some'
  },
  user: ({ state }) => fieldOfRequest(state, 'user'),
}

const FORWARDED_FOR = 'x-forwarded-for'
