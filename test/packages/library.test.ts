/** The library in the project of someone else, as its tarball installs it. */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { emptyProject, LIBRARY_DOORS, npm, pack } from '../support/packages.ts'

const MAX_BYTES = 5_000_000
const MAX_PACKAGES = 10

const project = emptyProject()
const { folder } = project

beforeAll(() => {
  const tarball = pack('headgate', folder)
  npm(['install', '--no-audit', '--no-fund', '--silent', tarball], folder)
})
afterAll(project.remove)

const run = (kind: 'module' | 'commonjs', code: string) =>
  spawnSync(process.execPath, [`--input-type=${kind}`, '-e', code], {
    cwd: folder,
    encoding: 'utf8',
  })

test(`takes at most ${MAX_PACKAGES} packages and ${MAX_BYTES / 1e6} MB`, () => {
  const words = ['--summarize', '--apparent-size', '--block-size=1', 'node_modules']
  const [bytes] = execFileSync('du', words, { cwd: folder, encoding: 'utf8' }).split('\t')
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'))
  expect(Object.keys(lock.packages).length - 1).toBeLessThanOrEqual(MAX_PACKAGES)
  expect(Number(bytes)).toBeLessThanOrEqual(MAX_BYTES)
})

test('limits in ten lines, imported or required', () => {
  const use = `
    const logins = limiter({ store: memory(), limits: { Logins: { burst: 1, period: '1m' } } })
    logins.spend('Logins', 'ann').then(({ allowed }) => console.log(allowed))`
  const imported = run('module', `import { limiter, memory } from 'headgate'; ${use}`)
  const required = run('commonjs', `const { limiter, memory } = require('headgate'); ${use}`)
  expect([imported.stdout, required.stdout]).toEqual(['true\n', 'true\n'])
  expect(imported.stderr + required.stderr).toBe('')
})

describe('without optional packages', () => {
  /** What opening each door comes to: `open`, or the code and the line to run. */
  const OUTCOME = "(error) => [error.code, error.message.split(': ').at(-1)].join(' ')"
  const names = JSON.stringify(LIBRARY_DOORS.map(({ name }) => name))
  let imported: readonly string[] = []
  let required: readonly string[] = []

  beforeAll(() => {
    const read = ({ stdout }: { readonly stdout: string }) => JSON.parse(stdout)
    imported = read(
      run(
        'module',
        `const open = (door) => import(door).then(() => 'open', ${OUTCOME})
        console.log(JSON.stringify(await Promise.all(${names}.map(open))))`,
      ),
    )
    required = read(
      run(
        'commonjs',
        `const open = (door) => { try { require(door); return 'open' } catch (error) { return (${OUTCOME})(error) } }
        console.log(JSON.stringify(${names}.map(open)))`,
      ),
    )
  })

  for (const [index, { name, peers }] of LIBRARY_DOORS.entries()) {
    const promise = peers.length === 0 ? 'opens' : `says npm install ${peers.join(' ')}`
    test(`${name} ${promise}, imported or required`, () => {
      const expected = peers.length === 0 ? 'open' : `PEER_MISSING npm install ${peers.join(' ')}`
      expect([imported[index], required[index]]).toEqual([expected, expected])
    })
  }

  test('a SQLite store opens, or names the driver that this Node needs', () => {
    const { stdout } = run(
      'module',
      `import { sqlite } from 'headgate/sqlite'
      try { await sqlite('headgate.db').close(); console.log('open') } catch ({ message }) { console.log(message) }`,
    )
    expect(stdout).toMatch(
      process.getBuiltinModule('node:sqlite')
        ? /^open\n$/
        : /npm install @photostructure\/sqlite\n$/,
    )
  })

  test('the command says how to install the service, or to run it without', () => {
    const { status, stdout, stderr } = spawnSync('npx', ['headgate', 'serve', '--port', '0'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^error PEER_MISSING: .*npm install headgate-server\n/m)
    expect(stderr).toMatch(/npx headgate-server serve --port 0\n$/)
  })
})
