/** What the routes share. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'
import type { Clock } from '../../core/index.ts'
import type { Headgate } from '../headgate.ts'

/** Fastify, with handlers typed by their schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export interface HttpContext {
  readonly headgate: Headgate
  /** For sentences that name a time. Decisions take theirs from the store. */
  readonly now: Clock
  /** True from the start of a shutdown. */
  closing(): boolean
}
