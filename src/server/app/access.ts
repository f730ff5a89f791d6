/**
 * Access to a server: where it listens, who may ask, and until when. Bearers of a token (RFC 6750) may,
 * known to the server only by its SHA-256. Without tokens, this machine alone, and no web page on it.
 */
import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isIPv4 } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { assert, quote } from '../../core/errors.ts'
import { refuseConfig } from '../config/config-mistake.ts'
import { urlHost } from '../config/network.ts'
import type { Settings } from '../config/settings.ts'
import type { TokenRecord } from '../config/tokens.ts'
import { MAX_TOKEN_LENGTH } from './bounds.ts'
import { httpMistake } from './problems.ts'

export interface Access {
  /** Whose operation ids these are. */
  readonly scope: string
  /** Every token may decide; only some may do what an operator does. */
  readonly admin: boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before any handler under /v1 runs. */
    access: Access | null
  }
}

/** Without tokens only this machine can ask, and its user is the operator. */
export const LOCAL_ACCESS: Access = { scope: 'local', admin: true }

/** Asked at every request, so that a revoked token is revoked at once. */
export const createDoor = (tokens: () => readonly TokenRecord[]) => {
  let seen: readonly TokenRecord[] = []
  let byHash: ReadonlyMap<string, Access> = new Map()

  return (authorization: string | undefined): Access => {
    const known = tokens()
    if (known.length === 0) return LOCAL_ACCESS
    if (known !== seen) {
      seen = known
      byHash = new Map(known.map((token) => [token.sha256, accessOf(token)]))
    }
    // What the time of this lookup tells is about hashes, and no hash leads back to its token.
    return byHash.get(hash('sha256', readToken(authorization))) ?? refuseUnknown()
  }
}

export const requestAccess = ({ access }: FastifyRequest): Access => {
  assert(access !== null, 'a route under /v1 runs after its door')
  return access
}

export const requireAdmin = ({ admin }: Access, act: string): void => {
  if (admin) return
  throw httpMistake({
    code: 'SCOPE_MISSING',
    thing: act,
    rule: 'needs a token with the scope admin',
    finding: 'one with decide only',
  })
}

const accessOf = ({ name, scopes }: TokenRecord): Access => ({
  scope: name,
  admin: scopes.includes('admin'),
})

const BEARER = /^Bearer +([\x21-\x7e]+) *$/i

function readToken(authorization: string | undefined): string {
  const token = BEARER.exec(authorization ?? '')?.[1]
  if (token !== undefined && token.length <= MAX_TOKEN_LENGTH) return token
  throw httpMistake({
    code: 'TOKEN_MISSING',
    thing: 'Authorization',
    rule: 'must be Bearer and a token from `headgate tokens new`',
    finding: authorization === undefined ? 'none' : 'something else',
  })
}

/** The token is not repeated: it may be right on another server. */
function refuseUnknown(): never {
  throw httpMistake({
    code: 'TOKEN_UNKNOWN',
    thing: 'the token',
    rule: 'must be one whose SHA-256 is under tokens in headgate.yml',
  })
}

/**
 * A page that the operator visits runs on this machine too: it could send requests here, or point its
 * own name at 127.0.0.1 and read the answers.
 */
export const guardHost = (headers: IncomingHttpHeaders): void => {
  const { host, origin } = headers
  if (host === undefined || !isLoopbackHost(host)) {
    throw httpMistake({
      code: 'HOST_NOT_ALLOWED',
      thing: 'Host',
      rule: 'must name this machine, such as localhost, as long as there are no tokens',
      finding: host === undefined ? 'none' : quote(host),
    })
  }
  if (origin !== undefined && !isOwnOrigin(origin, host)) refuseOrigin('Origin', origin)
  const site = headers['sec-fetch-site']
  if (site === 'cross-site' || site === 'same-site') refuseOrigin('Sec-Fetch-Site', site)
}

/** Without tokens a server listens only to this machine. */
export const refuseOpenBinding = ({ host, tokens }: Pick<Settings, 'host' | 'tokens'>): void => {
  if (tokens.length > 0 || isLoopback(host)) return
  refuseConfig({
    code: 'TOKEN_REQUIRED',
    thing: `host ${host}`,
    rule: 'must be a loopback address while no tokens are configured; `headgate tokens new` makes one',
    finding: 'no tokens',
  })
}

const isOwnOrigin = (origin: string, host: string): boolean => {
  const own = origin.toLowerCase()
  return own === `http://${host.toLowerCase()}` || own === `https://${host.toLowerCase()}`
}

function refuseOrigin(thing: string, finding: string): never {
  throw httpMistake({
    code: 'ORIGIN_NOT_ALLOWED',
    thing,
    rule: 'must be the server itself or absent, as long as there are no tokens',
    finding: quote(finding),
  })
}

/** Whether a host is this machine. A name or an address as a socket or a setting has it: no port, no brackets. */
export const isLoopback = (host: string): boolean => {
  const name = host.toLowerCase()
  if (name === 'localhost' || name.endsWith('.localhost') || name === '::1') return true
  const address = name.startsWith(MAPPED) ? name.slice(MAPPED.length) : name
  return isIPv4(address) && address.startsWith('127.')
}

/** The same for what a Host header holds: perhaps a port, IPv6 in brackets. */
export const isLoopbackHost = (header: string): boolean => {
  const [, bracketed, plain] = HOST.exec(header) ?? []
  return bracketed === undefined ? plain !== undefined && isLoopback(plain) : isLoopback(bracketed)
}

const MAPPED = '::ffff:'
const HOST = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+))(?::\d{1,5})?$/i

/** The part of an HTTP server that this needs. */
export interface Listener {
  listen(address: { readonly host: string; readonly port: number }): Promise<string>
  addresses(): readonly (string | { readonly port: number })[]
}

/** Returns the URL at which the server now listens; with port 0, the port that the system chose. */
export const listen = async (
  server: Listener,
  settings: Pick<Settings, 'host' | 'port'>,
): Promise<string> => {
  const { host, port } = settings
  try {
    await server.listen({ host, port })
  } catch (error) {
    refuseListening(error, host, port)
  }
  const [bound] = server.addresses()
  return `http://${urlHost(host)}:${typeof bound === 'object' ? bound.port : port}`
}

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

/** Says why the port cannot be opened, in our words. */
function refuseListening(error: unknown, host: string, port: number): never {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) throw error
  switch (error.code) {
    case 'EADDRINUSE': {
      const rule = 'must be free; stop the other server or choose another --port'
      const finding = 'another program listening there'
      const thing = `port ${port} of ${host}`
      return refuseConfig({ code: 'LISTEN_PORT_IN_USE', thing, rule, finding }, error)
    }
    case 'EACCES': {
      const rule = 'must be one that this user may open; those below 1024 often are not'
      const finding = 'permission denied'
      return refuseConfig({ code: 'LISTEN_DENIED', thing: `port ${port}`, rule, finding }, error)
    }
    default: {
      const rule = 'must be an address of this machine'
      const finding = error.message
      return refuseConfig({ code: 'LISTEN_FAILED', thing: `host ${host}`, rule, finding }, error)
    }
  }
}
