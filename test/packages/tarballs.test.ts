/** Both tarballs, as publint and attw read them, and as a fresh checkout packs them. */
import { execFileSync, spawnSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { times } from '../support/counts.ts'
import { emptyProject, npm, pack } from '../support/packages.ts'
import { ROOT } from '../support/sources.ts'

const project = emptyProject()
const { folder } = project
afterAll(project.remove)

const run = (tool: string, words: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync(`${ROOT}node_modules/.bin/${tool}`, words, {
    cwd: folder,
    encoding: 'utf8',
  })
  return status === 0 ? 'clean' : `${stdout}${stderr}`
}

/** What takes seconds is left to the proof. */
const sample = times(0, 1) === 0

/** Node 20.19 and newer can require ES modules, and no older resolution finds `exports`. */
const TYPES = ['--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm']

describe.each(['headgate', 'headgate-server'] as const)('%s', (name) => {
  const tarball = pack(name, folder)

  test('is well packed', () => expect(run('publint', ['--strict', tarball])).toBe('clean'))

  test.skipIf(sample)('has right types behind every door', () =>
    expect(run('attw', [tarball, ...TYPES])).toBe('clean'),
  )
})

test.skipIf(sample)('a checkout without dist/ packs both in full', () => {
  const checkout = join(folder, 'checkout')
  execFileSync('git', ['clone', '--quiet', ROOT, checkout])
  symlinkSync(`${ROOT}node_modules`, join(checkout, 'node_modules'))
  const names = (words: readonly string[]): readonly string[] => {
    const [{ files }] = JSON.parse(npm(['pack', '--json', '--dry-run', ...words], checkout))
    return files.map(({ path }: { path: string }) => path)
  }
  expect(names([])).toEqual(expect.arrayContaining(['dist/index.js', 'dist/doors/acme.js']))
  expect(names(['./packages/server'])).toContain('dist/cli/main.js')
})
