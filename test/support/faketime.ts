/** Debian's libfaketime: a process whose clock is set apart, while its monotonic time and the machine's uptime are not. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** What to add to the environment of a process; or why there is none. */
export type SetClock = (offset: string) => Readonly<Record<string, string>>

/** Installs it where that is possible. A text says why not. */
export const findFaketime = (): SetClock | string => {
  const library = installed() ?? install()
  if (library === undefined) {
    return 'libfaketime is not here, and installing it needs root and apt-get'
  }
  return (offset) => ({
    LD_PRELOAD: library,
    FAKETIME: offset,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
    // Files keep their real times.
    NO_FAKE_STAT: '1',
  })
}

const LIBRARIES = '/usr/lib'

function installed(): string | undefined {
  if (!existsSync(LIBRARIES)) return undefined
  const folders = ['', ...readdirSync(LIBRARIES).filter((name) => name.includes('-linux-'))]
  return folders
    .map((folder) => join(LIBRARIES, folder, 'faketime', 'libfaketimeMT.so.1'))
    .find((path) => existsSync(path))
}

function install(): string | undefined {
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0) return undefined
  const run = (...args: readonly string[]) => spawnSync('apt-get', args).status === 0
  const words = ['install', '-y', '--no-install-recommends', 'faketime'] as const
  if (!run(...words)) run('update') && run(...words)
  return installed()
}
