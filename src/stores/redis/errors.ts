/** What can be wrong with a Redis server before it is used. Its failures in use are `StoreError`s. */
import { type MakeMistake, makeMistake } from '../../core/errors.ts'

/**
 * - `REDIS_URL_INVALID`: the URL names no server.
 * - `REDIS_TOO_OLD`: a server that lacks what the scripts need.
 * - `REDIS_FORMAT_NEWER`: holds data of a newer Headgate.
 */
export type RedisErrorCode = 'REDIS_URL_INVALID' | 'REDIS_TOO_OLD' | 'REDIS_FORMAT_NEWER'

export const redisMistake: MakeMistake<RedisErrorCode> = makeMistake
