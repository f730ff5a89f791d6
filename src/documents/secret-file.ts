/** Files that hold secrets belong to their owner: one open to all is refused, one that a group can read gets a warning. */
import { constants } from 'node:fs'
import { HeadgateError, type Mistake } from '../core/errors.ts'

type SecretFileWarningCode = 'KEY_FILE_SHARED'
type SecretFileErrorCode = 'KEY_FILE_EXPOSED'

export type SecretFileWarning = Mistake<SecretFileWarningCode>

/** Called once for each such file that is read. Must not throw. */
export type SecretFileListener = (warning: SecretFileWarning) => void

/** A group that can write the file chooses the secret: that is refused too. */
const EXPOSED = 0o026
const READABLE_BY_GROUP = 0o040

/**
 * By the mode of the file that was opened, before anything in it is believed. Only a warning where a
 * group may read it: that is how secrets are mounted into containers whose process is not root.
 */
export const checkSecretFile = (
  path: string,
  { mode }: { readonly mode: number },
  warn: SecretFileListener = () => {},
): void => {
  // Windows has no such bits, and Node makes some up: there the folder's own rules must do.
  if (process.platform === 'win32') return
  // Reading a folder as a file fails with a clearer message than one about its mode.
  if ((mode & constants.S_IFMT) === constants.S_IFDIR) return
  const thing = `file ${path}`
  const finding = `mode ${(mode & 0o777).toString(8).padStart(3, '0')}`
  if ((mode & EXPOSED) !== 0) {
    const rule = 'must be closed to all but its owner (chmod 600)'
    throw new HeadgateError<SecretFileErrorCode>({ code: 'KEY_FILE_EXPOSED', thing, rule, finding })
  }
  if ((mode & READABLE_BY_GROUP) === 0) return
  const rule = 'should be readable by its owner only (chmod 600)'
  warn({ code: 'KEY_FILE_SHARED', thing, rule, finding })
}
