/**
 * What readers copy: the examples, and the `@example` of every door. Compiled by a strict stranger
 * with the packed library, both as Node and as bundlers resolve it, and run.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  emptyProject,
  LIBRARY_DOORS,
  lend,
  pack,
  readManifest,
  unpack,
} from '../support/packages.ts'
import { sharedUrl } from '../support/services.ts'
import { ROOT, sources } from '../support/sources.ts'

/** By the module that holds it: the code of each `@example`. */
const documented = sources().flatMap(({ path, text }) =>
  [...text.matchAll(/@example\n((?: *\*.*\n)+?) *\*\//g)].map(([, lines = '']) => ({
    path,
    code: lines.replaceAll(/^ *\* ?/gm, ''),
  })),
)

const examples = readdirSync(`${ROOT}examples`).filter((name) => name.endsWith('.ts'))

const project = emptyProject()
const { folder } = project

const compile = (resolution: 'nodenext' | 'bundler', words: readonly string[]): void => {
  const module = resolution === 'nodenext' ? 'nodenext' : 'esnext'
  const settings = {
    compilerOptions: {
      target: 'es2022',
      module,
      moduleResolution: resolution,
      types: ['node'],
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
    },
    include: ['*.ts'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
  const compiler = `${ROOT}node_modules/typescript/bin/tsc`
  const { stdout } = spawnSync(process.execPath, [compiler, ...words], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect(stdout).toBe('')
}

const run = (name: string): string =>
  execFileSync(process.execPath, [join('out', name.replace(/\.ts$/, '.js'))], {
    cwd: folder,
    encoding: 'utf8',
  })

beforeAll(() => {
  const { dependencies, peerDependencies } = readManifest()
  unpack(pack('headgate', folder), 'headgate', folder)
  lend(
    [...Object.keys({ ...dependencies, ...peerDependencies }), '@types/node', 'fastify', 'hono'],
    folder,
  )
  mkdirSync(join(folder, 'out'))
  for (const name of examples) cpSync(`${ROOT}examples/${name}`, join(folder, name))
  for (const [index, { code }] of documented.entries()) {
    writeFileSync(join(folder, `documented-${index}.ts`), code)
  }
  for (const [index, { name }] of LIBRARY_DOORS.entries()) {
    const code = `import * as door from '${name}'\nconsole.log(Object.keys(door).length > 0)\n`
    writeFileSync(join(folder, `door-${index}.ts`), code)
  }
  compile('bundler', ['--noEmit'])
  compile('nodenext', ['--outDir', 'out'])
})
afterAll(project.remove)

describe('examples print what they promise', () => {
  test.each(examples)('%s', (name) => expect(run(name)).toMatchSnapshot())
})

/** Whose servers the reader has, we start elsewhere. */
const SERVERS = {
  redis: 'redis://localhost:6379',
  postgres: 'postgres://localhost/headgate',
} as const

/** Undefined where a server is needed that cannot be had. */
const atOurServers = async (name: string): Promise<string | undefined> => {
  const file = join(folder, 'out', `${name}.js`)
  for (const kind of ['redis', 'postgres'] as const) {
    const text = readFileSync(file, 'utf8')
    if (!text.includes(SERVERS[kind])) continue
    const url = await sharedUrl(kind)
    if (url === undefined) return undefined
    writeFileSync(file, text.replaceAll(SERVERS[kind], url))
  }
  return `${name}.ts`
}

describe('what stands in comments runs', () => {
  for (const [index, { path }] of documented.entries()) {
    test(path, async ({ skip }) => {
      const name = await atOurServers(`documented-${index}`)
      if (name === undefined) return skip('it needs a server, see above')
      expect(run(name)).toMatchSnapshot()
    })
  }
})

test('every door opens for a strict program', () => {
  const all = LIBRARY_DOORS.map((_, index) => `import './door-${index}.js'\n`).join('')
  writeFileSync(join(folder, 'out', 'doors.js'), all)
  expect(run('doors.js')).toBe('true\n'.repeat(LIBRARY_DOORS.length))
})

test('every door documents its main function by an example', () => {
  const shown = documented.flatMap(({ code }) =>
    [...code.matchAll(/from '(headgate[^']*)'/g)].map(([, door = '']) => door),
  )
  const doors = LIBRARY_DOORS.map(({ name }) => name)
  expect(doors.filter((door) => !shown.includes(door))).toEqual([])
})
