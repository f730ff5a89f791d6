/** Installs what the lock file of a folder says, unless that was done since the file last changed. */
import { execFileSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'

/** `folder` ends with a slash; `say` is told before anything is installed. */
export const installLocked = (folder, say, flags = []) => {
  if (
    changedAt(`${folder}node_modules/.package-lock.json`) >= changedAt(`${folder}package-lock.json`)
  )
    return
  say()
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error', ...flags], {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
}

const changedAt = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0)
