/** Notices when files change: at once where the system tells, within seconds where it does not. */
import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { type Sighting, sight } from './sighting.ts'

/** An editor writes in several goes; the files are looked at when it has been quiet this long. */
const QUIET_MS = 100

/** The net under the system's notices, which network drives and symbolic links do not send. */
const POLL_MS = 2_000

export interface Following {
  /** From now on these files; what differs from the sightings counts as a change. */
  follow(files: readonly Sighting[]): void
  close(): void
}

/** Folders are watched, not files: whoever replaces a file leaves its watcher with the old one. */
export const followFiles = (changed: () => void): Following => {
  let seen: readonly Sighting[] = []
  let watchers: readonly FSWatcher[] = []
  let quiet: NodeJS.Timeout | undefined

  const look = (): void => {
    const now = seen.map(({ file }) => sight(file))
    if (now.every(({ stamp }, index) => stamp === seen[index]?.stamp)) return
    // Also if what follows is refused: a bad file is loaded once, not at every look.
    seen = now
    changed()
  }
  const stir = (): void => {
    clearTimeout(quiet)
    quiet = setTimeout(look, QUIET_MS).unref()
  }
  const stopWatching = (): void => {
    for (const watcher of watchers) watcher.close()
    watchers = []
  }
  const poll = setInterval(look, POLL_MS).unref()

  return {
    follow: (files) => {
      const same = namesOf(files) === namesOf(seen)
      seen = files
      if (same) return
      stopWatching()
      watchers = [...foldersOf(files)].flatMap(([folder, names]) =>
        watchFolder(folder, names, stir),
      )
    },
    close: () => {
      clearInterval(poll)
      clearTimeout(quiet)
      stopWatching()
    },
  }
}

const namesOf = (files: readonly Sighting[]): string => files.map(({ file }) => file).join('\0')

function foldersOf(files: readonly Sighting[]): ReadonlyMap<string, ReadonlySet<string>> {
  const folders = new Map<string, Set<string>>()
  for (const { file } of files) {
    const names = folders.get(dirname(file)) ?? new Set()
    folders.set(dirname(file), names.add(basename(file)))
  }
  return folders
}

function watchFolder(folder: string, names: ReadonlySet<string>, stir: () => void): FSWatcher[] {
  try {
    const watcher = watch(folder, { persistent: false }, (_, name) => {
      // Kubernetes swaps the link `..data` beside its files. Most else is the store's own writing.
      if (name === null || names.has(name) || name.startsWith('..')) stir()
    })
    // Too many watchers, or a folder that goes: polling remains.
    watcher.on('error', () => watcher.close())
    return [watcher]
  } catch {
    return []
  }
}
