/** Who asks: bearer tokens (RFC 6750), known to the server only by their SHA-256. */
import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { assert } from '../../core/errors.ts'
import type { TokenRecord } from '../settings.ts'
import { MAX_TOKEN_LENGTH } from './bounds.ts'
import { httpMistake } from './mistake.ts'

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

/** Without tokens only this machine can ask, and whoever sits there is the operator. */
const LOCAL: Access = { scope: 'local', admin: true }

/** Asked at every request, so that a revoked token is revoked at once. */
export const createDoor = (tokens: () => readonly TokenRecord[]) => {
  let seen: readonly TokenRecord[] = []
  let byHash: ReadonlyMap<string, Access> = new Map()

  return (authorization: string | undefined): Access => {
    const known = tokens()
    if (known.length === 0) return LOCAL
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
