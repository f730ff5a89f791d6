/** Tells whoever typed a command of files with secrets that a group can read. */
import { HeadgateError } from '../core/index.ts'
import type { SecretFileListener } from '../documents/secret-file.ts'
import type { Terminal } from './terminal.ts'

export const tellShared =
  (terminal: Terminal): SecretFileListener =>
  (warning) =>
    terminal.err(`warning ${warning.code}: ${new HeadgateError(warning).message}`)
