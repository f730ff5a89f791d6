/** The door `headgate/sqlite`. */
export type { SqliteErrorCode } from './errors.ts'
export type { CommittedGroup } from './group.ts'
export { type SqliteOptions, sqliteStore } from './store.ts'
