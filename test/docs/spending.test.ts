/** The guide to spending, typed as it stands: its files in an empty folder, a server, and a shell. */
import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { serveHeadgate } from '../support/cli.ts'
import { configFolder } from '../support/config-folder.ts'
import { ROOT } from '../support/sources.ts'

const page = readFileSync(`${ROOT}docs/guide/spending.md`, 'utf8')

const blocks = (kind: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${kind}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, text = '']) => text,
  )

interface Typed {
  readonly command: string
  /** What it prints; an ellipsis stands for anything on its line. */
  readonly expected: string
}

const typed: readonly Typed[] = blocks('console')
  .flatMap((block) => block.split(/^\$ /m).slice(1))
  .map((text) => {
    const [command = '', ...expected] = text.split('\n')
    return { command, expected: expected.join('\n') }
  })

const [serve, ...session] = typed

/** No command prints it. */
const MARK = '\u001e'

/** One shell types all of them. It stops where one fails. */
async function inOneShell(commands: readonly string[], cwd: string): Promise<readonly string[]> {
  const path = `${cwd}/bin`
  mkdirSync(path)
  const main = `${ROOT}dist/cli/main.js`
  writeFileSync(`${path}/headgate`, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
  chmodSync(`${path}/headgate`, 0o755)
  const script = commands.map((command) => `${command}\nprintf '${MARK}'\n`).join('')
  const env = { ...process.env, PATH: `${path}:${process.env['PATH']}` }
  const words = ['-euo', 'pipefail', '-c', script]
  const { stdout } = await promisify(execFile)('bash', words, { cwd, env })
  return stdout.split(MARK)
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

const pattern = (expected: string): RegExp => {
  const parts = expected.trim().split('…')
  return new RegExp(`^${parts.map((part) => escaped(part)).join('.*')}$`)
}

test('leads from nothing to a refused payment, a reversal and a verified export', async ({
  skip,
}) => {
  const { stdout = '' } = spawnSync('curl', ['--help', 'http'], { encoding: 'utf8' })
  if (!/ --json /.test(stdout ?? '')) skip('curl 7.82 or newer, which has --json, is not installed')
  expect(serve?.command).toBe('headgate serve')
  const [config = '', plans = ''] = [blocks('yaml')[0], blocks('json')[0]]
  const files = { 'headgate.yml': config, 'spendingPlansConfig.json': plans }
  const { path: cwd } = configFolder(files)
  const { url } = await serveHeadgate([], { cwd })
  const commands = session.map(({ command }) =>
    command.replace('localhost:8080', url.replace('http://', '')),
  )
  const printed = await inOneShell(commands, cwd)
  for (const [i, { command, expected }] of session.entries()) {
    expect((printed[i] ?? '').trim(), command).toMatch(pattern(expected))
  }
  expect(session.length).toBeGreaterThan(8)
  const text = session.map((one) => `${one.command}\n${one.expected}`).join('\n')
  for (const word of ['PLAN_LIMIT', 'taken back', 'the chain holds']) expect(text).toContain(word)
})
