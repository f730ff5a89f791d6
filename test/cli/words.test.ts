/** The commands that need neither a store nor a server. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { headgate, spawnHeadgate } from '../support/cli.ts'
import { configFolder } from '../support/config-folder.ts'
import { ROOT } from '../support/sources.ts'

const run = (...words: string[]) => headgate(words, { cwd: configFolder().path })

test('version says which Headgate this is', async () => {
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))
  const spawned = await spawnHeadgate(['version'], { cwd: ROOT })
  expect(spawned).toMatchObject({ exit: 0, err: '' })
  expect(spawned.out).toMatch(`headgate ${version} (Node `)
  expect((await run('version')).out).toBe(spawned.out)
  expect((await run('--version')).out).toMatch(`headgate ${version} (Node `)
  expect(JSON.parse((await run('version', '--json')).out)).toMatchObject({ headgate: version })
})

test('help lists the commands, and one command with its flags and variables', async () => {
  for (const words of [[], ['help'], ['--help']]) {
    const { exit, out } = await run(...words)
    expect(exit).toBe(0)
    expect(out).toMatch(/^ {2}headgate spend LIMIT ID +Charge a bucket/m)
  }
  for (const words of [
    ['help', 'serve'],
    ['serve', '--help'],
    ['serve', '-h'],
  ]) {
    const { out } = await run(...words)
    expect(out).toMatch(/^Usage: headgate serve \[flags\]\n/)
    expect(out).toMatch(/^ {2}--port PORT +.*\[HEADGATE_PORT\]$/m)
  }
  expect((await run('help', 'limits')).out).toMatch(/limits list[\s\S]+limits show/)
})

test('a new token is shown once, with the lines that headgate.yml wants', async () => {
  const { exit, out } = await run('tokens', 'new', '--name', 'ci', '--scope', 'decide,admin')
  expect(exit).toBe(0)
  const [token = ''] = out.split('\n')
  expect(token).toMatch(/^hg_[A-Za-z0-9_-]{43}$/)
  const sha256 = createHash('sha256').update(token).digest('hex')
  expect(out).toContain(
    `tokens:\n  - name: ci\n    sha256: ${sha256}\n    scopes: [decide, admin]\n`,
  )
})

test('no two tokens are the same', async () => {
  const [one, two] = await Promise.all([run('tokens', 'new'), run('tokens', 'new')])
  expect(one.out).not.toBe(two.out)
})

test('a reader that has seen enough may close the pipe', async () => {
  const command = `"${process.execPath}" "${ROOT}dist/cli/main.js" help | head -n 1`
  const { out, err } = await new Promise<{ out: string; err: string }>((resolve) =>
    execFile('bash', ['-c', `set -o pipefail; ${command}`], (_, out, err) => resolve({ out, err })),
  )
  expect({ out, err }).toEqual({ out: 'Commands:\n', err: '' })
})
