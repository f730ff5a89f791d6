/** The door `headgate/hono`: a gate for Hono 4, on Node and wherever else it runs. */
import type { Context, Env, MiddlewareHandler } from 'hono'
import type { Answer } from '../requests/limiter/charge.ts'
import { connectionAddress, platformTrust } from './connection.ts'
import type { Door } from './door.ts'
import { createGate } from './gate.ts'
import type { HeaderLine } from './header-forms.ts'
import type { GateOptions } from './options.ts'

export type * from './door-types.ts'

declare module 'hono' {
  interface ContextVariableMap {
    /** What the last gate answered; undefined if it let the request pass uncounted. */
    rateLimit: Answer | undefined
  }
}

/**
 * Limits every request that comes after it. The answer is at `c.get('rateLimit')`.
 *
 * @example
 * import { honoGate } from 'headgate/hono'
 * import { Hono } from 'hono'
 *
 * const app = new Hono()
 * app.use(honoGate({ limits: { Api: { burst: 100, period: '1m' } }, who: () => 'ann' }))
 * app.get('/', (c) => c.text('hello'))
 * console.log((await app.request('/')).headers.get('RateLimit'))
 */
export const honoGate = <E extends Env = Env, const Name extends string = string>(
  options: GateOptions<Context<E>, Name>,
): MiddlewareHandler<E> => {
  const gate = createGate<Context<E>, Name>(DOOR, options)
  return async (context, next) => {
    const admission = await gate.admit(context)
    context.set('rateLimit', admission.answer)
    const { lines } = admission
    if (!admission.allowed) {
      const response = new Response(admission.body, { status: admission.status })
      for (const { name, value } of lines) response.headers.set(name, value)
      return response
    }
    setLines(context, lines)
    await next()
    // A handler's own Response has none of the headers that were set before it.
    const [first] = lines
    if (first && !context.res.headers.get(first.name)?.includes(first.value))
      setLines(context, lines)
    const error = context.error === undefined ? {} : { error: context.error }
    // A client that went away gets nothing back: leaving would otherwise be a way to ask for free.
    // Asked only where there is something to give back: on Node it makes the whole Request.
    if (admission.settle === undefined || context.req.raw.signal.aborted) return undefined
    await admission.settle({ status: context.res.status, ...error })
    return undefined
  }
}

/** Before the response is there if it can be: afterwards Hono copies it whole for each header. */
function setLines(context: Context, lines: readonly HeaderLine[]): void {
  for (const { name, value, joins } of lines)
    context.header(name, value, { append: joins === true })
}

const DOOR: Door<Context> = {
  name: 'honoGate',
  header: ({ req }, name) => req.header(name),
  address: ({ req, env }) => connectionAddress(req.raw, env),
  peer: ({ req, env }) => connectionAddress(req.raw, env),
  trust: ({ req }) => platformTrust(req.raw),
  user: (context) => context.get('user') ?? context.get('jwtPayload'),
}
