/** Notices when files change: at once where the system reports it, within seconds where it does not. */
import { type FSWatcher, statSync, watch } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'

/** An editor writes in several steps; the files are looked at once it has been quiet this long. */
const QUIET_MS = 100

/** For changes that the system does not report: on network drives, and behind symbolic links. */
const POLL_MS = 2_000

/** A file as it was at one moment: enough to notice any later change. To be taken before it is read. */
export interface FileSnapshot {
  /** Absolute. */
  readonly file: string
  readonly stamp: string
}

/** Follows links. The stamp holds the system's change time, which no writer can set back. */
export const snapshotFile = (file: string): FileSnapshot => {
  const path = resolve(file)
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = statSync(path)
    return { file: path, stamp: [dev, ino, size, mtimeMs, ctimeMs].join(':') }
  } catch {
    return { file: path, stamp: 'unreadable' }
  }
}

interface Following {
  /** From now on these files; one that differs from its snapshot has changed. */
  follow(files: readonly FileSnapshot[]): void
  close(): void
}

/** Watches folders, not files: the watcher of a file that is replaced stays with the old one. */
export const followFiles = (changed: () => void): Following => {
  let seen: readonly FileSnapshot[] = []
  let watchers: readonly FSWatcher[] = []
  let quiet: NodeJS.Timeout | undefined

  const look = (): void => {
    const now = seen.map(({ file }) => snapshotFile(file))
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

const namesOf = (files: readonly FileSnapshot[]): string => files.map(({ file }) => file).join('\0')

function foldersOf(files: readonly FileSnapshot[]): ReadonlyMap<string, ReadonlySet<string>> {
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
