/** Tells the log of files with secrets that a group can read. */
import { HeadgateError } from '../core/index.ts'
import type { SecretFileListener } from '../documents/secret-file.ts'
import type { Log } from './log.ts'

export const tellShared =
  (log: Log): SecretFileListener =>
  (warning) => {
    const { code, thing, rule, finding } = warning
    log.warn({ code, thing, rule, finding }, new HeadgateError(warning).message)
  }
