/** Where a server writes what it does; pino's shape, so that any of its kind will do. */
import { HeadgateError } from '../../core/errors.ts'
import type { SecretFileListener } from '../../documents/secret-file.ts'

export interface Log {
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}

/** For commands, which answer on the terminal. */
export const SILENT: Log = { info: () => {}, warn: () => {}, error: () => {} }

/** For files with secrets that a group can read. */
export const logSharedSecret =
  (log: Log): SecretFileListener =>
  (warning) => {
    const { code, thing, rule, finding } = warning
    log.warn({ code, thing, rule, finding }, new HeadgateError(warning).message)
  }
