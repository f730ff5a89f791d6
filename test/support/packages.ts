/** The packages as others install them: packed once a run, in folders of their own. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { doorsOf } from '../../scripts/doors.js'
import { ROOT } from './sources.ts'

export const readManifest = (folder = '') =>
  JSON.parse(readFileSync(`${ROOT}${folder}package.json`, 'utf8'))

export const LIBRARY_DOORS = doorsOf(readManifest(), `${ROOT}dist`)

/** Packs without building: the tests build before they start. Files that pack at once do not meet. */
export const pack = (name: 'headgate' | 'headgate-server', into: string): string => {
  const staged = join(into, 'staged')
  const isService = name === 'headgate-server'
  if (isService) execFileSync(process.execPath, [`${ROOT}scripts/pack-server.js`, staged])
  const from = isService ? staged : ROOT
  const words = ['pack', from, '--ignore-scripts', '--silent', '--pack-destination', into]
  return join(into, npm(words, into).trim())
}

export const npm = (words: readonly string[], folder: string): string =>
  execFileSync('npm', words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

/** A project of someone else, far from this one. */
export const emptyProject = (): { readonly folder: string; remove(): void } => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-user-'))
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Unpacks a tarball where npm would, without what it depends on. */
export const unpack = (tarball: string, name: string, folder: string): string => {
  const target = join(folder, 'node_modules', name)
  mkdirSync(target, { recursive: true })
  execFileSync('tar', ['xzf', tarball, '--strip-components=1', '-C', target])
  return target
}

/** Lends packages of this checkout to a project: the same files that npm would fetch again. */
export const lend = (names: readonly string[], folder: string): void => {
  for (const name of names) {
    const target = join(folder, 'node_modules', name)
    mkdirSync(dirname(target), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), target)
  }
}
