/** A file as it was when it was looked at, before it was read: enough to notice any later change. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'

export interface Sighting {
  /** Absolute. */
  readonly file: string
  readonly stamp: string
}

/** Through links. The change time is the system's: no writer can leave it as it was. */
export const sight = (file: string): Sighting => {
  const path = resolve(file)
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = statSync(path)
    return { file: path, stamp: [dev, ino, size, mtimeMs, ctimeMs].join(':') }
  } catch {
    return { file: path, stamp: 'unreadable' }
  }
}
