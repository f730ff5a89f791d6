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

/** Statements begin a line; `import()` may stand anywhere. Words in texts and comments do not count. */
const SPECIFIER = /^(?:import\b|export (?:type )?[{*])[^'`]*?'([^'\n]+)'|\bimport\('([^']+)'\)/gm

export const imports = (files: readonly SourceFile[]): readonly Import[] =>
  files.flatMap(({ path, text }) =>
    [...text.matchAll(SPECIFIER)].map(([, statement, dynamic]) => {
      const to = statement ?? dynamic ?? ''
      return { from: path, to: to.startsWith('.') ? posix.join(posix.dirname(path), to) : to }
    }),
  )

/** Only what runs: types leave nothing behind, and what `import()` brings comes later. */
const STATEMENT = /^(?:import|export) (?!type\b)[^'`;]*?from '([^']+)'/gm

/** What loading a module loads with it: files of ours by their path, packages by their specifier. */
export const reachable = (
  entry: string,
  files: ReadonlyMap<string, string> = new Map(sources().map(({ path, text }) => [path, text])),
): ReadonlySet<string> => {
  const seen = new Set<string>()
  const visit = (path: string): void => {
    if (seen.has(path)) return
    seen.add(path)
    // Examples in comments import too, and load nothing.
    const code = (files.get(path) ?? '').replaceAll(/\/\*[\s\S]*?\*\//g, '')
    for (const [, to = ''] of code.matchAll(STATEMENT)) {
      visit(to.startsWith('.') ? posix.join(posix.dirname(path), to) : to)
    }
  }
  visit(entry)
  return seen
}
