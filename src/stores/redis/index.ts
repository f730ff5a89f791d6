/** The door `headgate/redis`. */
export type { StoreEvent, TripOutcome } from '../remote/line.ts'
export type { GroupSent } from '../remote/optimist.ts'
export type { SharedStore } from '../remote/shared-store.ts'
export type { RedisErrorCode } from './errors.ts'
export { type RedisOptions, type RedisStore, redis } from './store.ts'
