/** The fetch door in the runtimes that it is for: the example as it is, on what each of them serves. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ROOT } from '../../support/sources.ts'
import { install } from '../install.ts'
import { type ServerProcess, startServerProcess } from '../server-process.ts'

const HERE = dirname(fileURLToPath(import.meta.url))

const BUN = join(HERE, 'node_modules/@oven/bun-linux-x64/bin/bun')
const DENO = join(HERE, 'node_modules/@deno/linux-x64-glibc/deno')
const WORKERD = join(HERE, 'node_modules/@cloudflare/workerd-linux-64/bin/workerd')

let folder: string

/** The packages are of this one platform; on another the tests say that they did not run. */
const here = process.platform === 'linux' && process.arch === 'x64'

beforeAll(() => {
  if (!here) return
  install('runtimes/')
  for (const program of [BUN, DENO, WORKERD]) chmodSync(program, 0o755)
  const link = join(HERE, 'node_modules/headgate')
  if (!existsSync(link)) symlinkSync(ROOT, link, 'junction')
  folder = mkdtempSync(join(HERE, '.examples-'))
  cpSync(`${ROOT}examples/middleware/fetch.ts`, join(folder, 'fetch.ts'))
}, 300_000)

afterAll(() => {
  if (here) rmSync(folder, { recursive: true })
})

let server: ServerProcess | undefined
afterEach(() => server?.close())

/** One file for the platform `browser`, where anything of Node would not be found. */
const bundle = (): string => {
  const file = join(folder, 'bundle.js')
  const flags = ['--bundle', '--format=esm', '--platform=browser', '--minify', `--outfile=${file}`]
  const esbuild = join(HERE, 'node_modules/esbuild/bin/esbuild')
  execFileSync(process.execPath, [esbuild, join(folder, 'fetch.ts'), ...flags, '--log-level=error'])
  return file
}

/** Without `nodejs_compat`: workerd offers nothing of Node then. */
const workerdConfig = (port: number): string => {
  bundle()
  const file = join(folder, 'worker.capnp')
  writeFileSync(
    file,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker", esModule = embed "bundle.js")],
    compatibilityDate = "2025-01-01",
  ))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`,
  )
  return file
}

const RUNTIMES: readonly (readonly [string, string, (port: number) => readonly string[]])[] = [
  ['Bun', BUN, () => ['run', join(folder, 'fetch.ts')]],
  [
    'Deno',
    DENO,
    (port) => ['serve', '--port', String(port), '--no-prompt', join(folder, 'fetch.ts')],
  ],
  ['workerd', WORKERD, (port) => ['serve', workerdConfig(port)]],
]

describe.runIf(here).each(RUNTIMES)('%s', (name, program, argumentsFor) => {
  test('of a hundred requests at once exactly the burst passes, with headers', async () => {
    server = await startServerProcess(program, argumentsFor)
    const { url } = server
    const responses = await Promise.all(Array.from({ length: 100 }, () => fetch(url)))
    const passed = responses.filter(({ status }) => status === 200)
    expect(passed.map(({ headers }) => headers.get('ratelimit')?.split(';')[1]).sort()).toEqual([
      'r=0',
      'r=1',
      'r=2',
    ])
    const refused = responses.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(97)
    expect(refused[0]?.headers.get('retry-after')).toBe('20')
    expect(refused[0]?.headers.get('ratelimit-policy')).toBe('"Api";q=3;w=60')
    // A bare workerd tells no address: one bucket for all, and a warning. Cloudflare's has a header.
    const warned = server.printed().includes('CLIENT_ADDRESS_UNKNOWN')
    expect(warned).toBe(name === 'workerd')
  })
})

test.runIf(here)('the door fits into a small bundle that has nothing of Node', () => {
  expect(statSync(bundle()).size).toBeLessThan(120_000)
})
