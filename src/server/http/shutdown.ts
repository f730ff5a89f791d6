/** Ending a server gracefully: what was accepted is answered, and no connection outlives its answer. */
import type { FastifyInstance } from 'fastify'

/**
 * True from the start of a shutdown on. From then no connection is kept: an answer that kept one
 * would delay the end.
 */
export const watchShutdown = (app: FastifyInstance): (() => boolean) => {
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing) reply.header('Connection', 'close')
    done()
  })
  return () => closing
}
