/** Whom a request counts as: its client's address, its user, its key, or what a function says. */
import { digestText } from '../lib/digest.ts'
import { MAX_OPAQUE_LENGTH } from '../requests/ids/id-format.ts'
import type { ClientOf } from './client.ts'
import { type Door, fieldOfRequest } from './door.ts'
import type { Warnings } from './warnings.ts'

export const WHO_WORDS = ['address', 'user', 'key'] as const

/** What tells one caller from another; nothing: the request counts by its address instead. */
export type CallerId = string | number | bigint | null | undefined

/**
 * - `address`: the client's address, IPv6 by its /64 unless `ipv6Prefix` says otherwise;
 * - `user`: the signed-in user, where the framework keeps it;
 * - `key`: the key in `Authorization: Bearer` or `X-Api-Key`, kept as its SHA-256. Only where wrong
 *   keys are refused before the gate: a made-up key has a full bucket;
 * - a function of the framework's own request.
 */
export type Who<Ask> =
  | (typeof WHO_WORDS)[number]
  | ((request: Ask) => CallerId | PromiseLike<CallerId>)

export type IdOf<Ask> = (who: Who<Ask>, request: Ask, platform: unknown) => string | Promise<string>

/**
 * Leaving out a user or a key is no way around a limit: such a request counts by its address, in a
 * bucket that no user, key or function can name by accident.
 */
export const idsOf = <Ask>(
  door: Door<Ask>,
  clientOf: ClientOf<Ask>,
  warnings: Warnings,
): IdOf<Ask> => {
  const orAddress = (id: string | undefined, request: Ask, platform: unknown): string =>
    id ?? `address:${clientOf(request, platform)}`
  return (who, request, platform) => {
    if (who === 'address') return clientOf(request, platform)
    if (who === 'key') return orAddress(keyOf(door, request), request, platform)
    if (who === 'user') {
      return orAddress(userIdOf(door.user?.(request), warnings), request, platform)
    }
    const id = who(request)
    return typeof id === 'object' && id !== null
      ? Promise.resolve(id).then((found) => orAddress(idText(found), request, platform))
      : orAddress(idText(id), request, platform)
  }
}

/** A key is a secret: stores and logs get only its digest. With two different ones the address counts. */
function keyOf<Ask>(door: Door<Ask>, request: Ask): string | undefined {
  const [, bearer] = /^bearer +(\S+)$/i.exec(door.header(request, 'authorization') ?? '') ?? []
  const apiKey = door.header(request, 'x-api-key')
  // Which of two keys was checked is not known: a client could vary the other, and never be refused.
  if (bearer && apiKey && bearer !== apiKey) return undefined
  const key = bearer ?? apiKey
  return key ? `key:${digestText(key)}` : undefined
}

/** Of an object its `id`, or the subject of a token. */
function userIdOf(user: unknown, warnings: Warnings): string | undefined {
  if (user === undefined || user === null) return undefined
  const id =
    typeof user === 'object' ? (fieldOfRequest(user, 'id') ?? fieldOfRequest(user, 'sub')) : user
  if (typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint') return idText(id)
  warnings.tell({
    code: 'USER_WITHOUT_ID',
    thing: "who: 'user'",
    rule: 'needs a user that is text, or an object with id or sub; the address counted instead',
    finding: typeof user === 'object' ? 'an object with neither' : `a ${typeof user}`,
  })
  return undefined
}

/** Any text can be an id: what the limiter would not take as it is counts by its digest. */
function idText(id: CallerId): string | undefined {
  if (id === undefined || id === null || id === '') return undefined
  const text = String(id)
  const plain = text.length <= MAX_OPAQUE_LENGTH && !/[\p{Cc}\p{Cs}]/u.test(text)
  return plain ? text : `sha256:${digestText(text)}`
}
