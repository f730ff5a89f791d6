/** The door `headgate/postgres`. */
export type { StoreEvent, TripOutcome } from '../remote/line.ts'
export type { GroupSent } from '../remote/optimist.ts'
export type { SharedStore } from '../remote/shared-store.ts'
export type { PostgresErrorCode } from './errors.ts'
export { type PostgresOptions, type PostgresStore, postgres } from './store.ts'
