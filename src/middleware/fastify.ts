/** The door `headgate/fastify`: a gate as a plugin for Fastify 5. */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Answer } from '../requests/limiter/charge.ts'
import type { Door } from './door.ts'
import { createGate, type Passed } from './gate.ts'
import { joined } from './header-forms.ts'
import type { GateOptions } from './options.ts'

export type * from './door-types.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the last gate answered; undefined if it let the request pass uncounted. */
    rateLimit: Answer | undefined
  }
}

export type FastifyGateOptions = GateOptions<FastifyRequest> & {
  /** When the gate asks: `onRequest` unless told; later where `who` needs what other hooks find. */
  readonly hook?: 'onRequest' | 'preParsing' | 'preValidation' | 'preHandler'
}

/**
 * Limits the routes that are registered after it in the same scope. The answer is at
 * `request.rateLimit`.
 *
 * @example
 * import fastify from 'fastify'
 * import { fastifyGate } from 'headgate/fastify'
 *
 * const app = fastify()
 * await app.register(fastifyGate, { limits: { Api: { burst: 100, period: '1m' } } })
 * app.get('/', async () => 'hello')
 * console.log((await app.inject('/')).statusCode)
 */
export const fastifyGate: FastifyPluginAsync<FastifyGateOptions> = async (
  app,
  { hook = 'onRequest', ...options },
) => {
  const gate = createGate(DOOR, options)
  const settling = new WeakMap<FastifyRequest, Passed<FastifyRequest>['settle'] & {}>()
  if (!app.hasRequestDecorator('rateLimit')) app.decorateRequest('rateLimit', undefined)

  const ask = async (request: FastifyRequest, reply: FastifyReply) => {
    const admission = await gate.admit(request)
    if (admission.answer !== undefined) request.rateLimit = admission.answer
    for (const line of admission.lines) {
      reply.header(line.name, joined(line, reply.getHeader(line.name)))
    }
    if (!admission.allowed) return reply.code(admission.status).send(admission.body)
    if (admission.settle !== undefined) settling.set(request, admission.settle)
    return undefined
  }
  app.addHook(hook, ask)
  if (!options.refund) return
  app.addHook('onResponse', async (request, reply) => {
    await settling.get(request)?.({ status: reply.statusCode })
  })
}

// As fastify-plugin does: the hooks are for the scope that registers the plugin, not for one of its own.
Object.assign(fastifyGate, {
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: 'headgate',
})

const DOOR: Door<FastifyRequest> = {
  name: 'fastifyGate',
  header: ({ headers }, name) => {
    const value = headers[name]
    return typeof value === 'string' ? value : value?.join(', ')
  },
  address: ({ ip }) => ip,
  peer: ({ socket }) => socket.remoteAddress,
  // The list is there if `trustProxy` is set, and longer than one if that trusts the other end.
  // Whether it trusts anyone else too, Fastify does not tell.
  trust: ({ ips = [] }) => (ips.length > 1 ? 'some' : 'none'),
  user: (request) => Reflect.get(request, 'user'),
}
