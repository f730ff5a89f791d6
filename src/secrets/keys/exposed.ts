/** Files that hold secrets belong to one user alone. */
import { refuseKey } from './key-mistake.ts'

const OTHERS = 0o077

/** Windows has no such bits: there the directory's own rules must do. */
export const refuseExposed = (thing: string, { mode }: { readonly mode: number }): void => {
  if (process.platform === 'win32' || (mode & OTHERS) === 0) return
  refuseKey({
    code: 'KEY_FILE_EXPOSED',
    thing,
    rule: 'must be closed to group and others (chmod 600)',
    finding: `mode ${(mode & 0o777).toString(8)}`,
  })
}
