/** A folder of its own for files of one variant, gone when the variant is. */
import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** By Linux's numbers. An fsync to memory costs nothing, so a reader must know. */
const FILESYSTEMS = new Map([
  [0x0102_1994, 'tmpfs, where an fsync costs nothing'],
  [0xef53, 'ext4'],
  [0x794c_7630, 'overlayfs'],
  [0x5846_5342, 'xfs'],
  [0x9123_683e, 'btrfs'],
])

export const scratchFolder = () => {
  const path = mkdtempSync(join(tmpdir(), 'headgate-bench-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

export const scratchFilesystem = () =>
  FILESYSTEMS.get(statfsSync(tmpdir()).type) ?? 'a file system of another kind'
