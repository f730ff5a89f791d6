/** The door `headgate/sqlite`. */
export type { SqliteErrorCode } from './errors.ts'
export { type SqliteOptions, sqlite } from './store.ts'
export type { CommittedGroup } from './transactions.ts'
