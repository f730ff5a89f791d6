/** Compiles examples/middleware/ as a program would that has Headgate and its framework installed. */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../../support/sources.ts'
import { startServerProcess } from '../server-process.ts'

export const EXAMPLES = ['express', 'fastify', 'hono', 'koa', 'fetch'] as const

const HERE = dirname(fileURLToPath(import.meta.url))

/** Nothing is skipped: what our own declarations get wrong would show. */
const COMPILER_OPTIONS = {
  target: 'ES2023',
  // Hono's declarations name things of browsers.
  lib: ['ES2023', 'DOM'],
  module: 'NodeNext',
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
}

export interface CompiledExamples {
  readonly folder: string
  /** What the compiler found wrong, but for the packages of others. */
  readonly mistakes: readonly string[]
  /** How many lines with something on them an example has. */
  lines(name: string): number
  remove(): void
}

export const compileExamples = (): CompiledExamples => {
  linkHeadgate()
  const folder = mkdtempSync(join(HERE, '.examples-'))
  cpSync(`${ROOT}examples/middleware`, folder, { recursive: true })
  const config = { compilerOptions: COMPILER_OPTIONS, include: ['*.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const compiler = `${ROOT}node_modules/typescript/bin/tsc`
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder], {
    cwd: HERE,
    encoding: 'utf8',
  })
  const found = stdout.split('\n').filter((line) => line.includes('error TS'))
  const textOf = (name: string) => readFileSync(join(folder, `${name}.ts`), 'utf8')
  return {
    folder,
    mistakes: found.filter((line) => !line.startsWith('node_modules/')),
    lines: (name) =>
      textOf(name)
        .split('\n')
        .filter((line) => line.trim() !== '').length,
    remove: () => rmSync(folder, { recursive: true }),
  }
}

export const startExample = (folder: string, name: string) =>
  startServerProcess(process.execPath, () => [join(folder, `${name}.js`)])

/** As `npm install headgate` would leave it, of what is built here. */
function linkHeadgate(): void {
  const link = join(HERE, 'node_modules/headgate')
  if (!existsSync(link)) symlinkSync(ROOT, link, 'junction')
}
