import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A path in a new directory that goes with the test; nothing is there yet. */
export function scratchFile(name = 'headgate.db'): string {
  const { path, remove } = scratchFileToRemove(name)
  onTestFinished(remove)
  return path
}

/** For whoever ends by itself, as the cases of the store contract do. */
export function scratchFileToRemove(name = 'headgate.db'): { path: string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'headgate-'))
  return { path: join(directory, name), remove: () => rmSync(directory, { recursive: true }) }
}

export const fileSize = (path: string): number =>
  statSync(path, { throwIfNoEntry: false })?.size ?? 0
