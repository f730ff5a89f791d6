import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface SourceFile {
  /** From the root of the project, with forward slashes. */
  readonly path: string
  readonly text: string
}

/** All TypeScript sources of a folder that ship: tests are not among them. */
export const sources = (folder = 'src'): readonly SourceFile[] =>
  readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' })
    .map((name) => posix.join(folder, name.replaceAll('\\', '/')))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => ({ path, text: readFileSync(`${ROOT}${path}`, 'utf8') }))

export interface Import {
  readonly from: string
  /** A path from the root for our own modules, the bare specifier for any other. */
  readonly to: string
}

const SPECIFIER = /(?:\bfrom\s*|\bimport\s*\(?\s*)'([^']+)'/g

export const imports = (files: readonly SourceFile[]): readonly Import[] =>
  files.flatMap(({ path, text }) =>
    [...text.matchAll(SPECIFIER)].map(([, specifier = '']) => ({
      from: path,
      to: specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier,
    })),
  )
