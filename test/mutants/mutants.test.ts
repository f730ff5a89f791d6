/**
 * The tests can fail: each mutant, applied to a copy of the project, turns the case red that guards its
 * place. `npm test` looks only whether its text is still there; `npm run prove` runs them all.
 */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { times } from '../support/counts.ts'
import { ROOT } from '../support/sources.ts'
import { canTrace } from '../support/tracing.ts'
import { MUTANTS, type Mutant } from './mutants.ts'

describe('the text that a mutant changes stands in its file once', () => {
  test.each(MUTANTS)('$name', ({ file, text }) => {
    expect(readFileSync(`${ROOT}${file}`, 'utf8').split(text)).toHaveLength(2)
  })
})

const runnable = MUTANTS.filter(({ isTraced }) => canTrace || isTraced === undefined)

const proving = times(0, 1) === 1

describe.runIf(proving)('at full counts', () => {
  let folder = ''
  beforeAll(() => {
    folder = copyOfProject()
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('without a mutant every case is there, and green', () => {
    const outcomes = runnable.map((mutant) => outcomeOf(folder, mutant))
    expect(outcomes).toEqual(runnable.map(() => 'passed'))
  })

  test.runIf(runnable.length < MUTANTS.length)(
    'some mutants cannot be tried here: strace is missing, or may not trace',
    ({ skip }) => skip('install strace, or allow ptrace'),
  )

  test.each(runnable)('$name: the case turns red', (mutant) => {
    const path = join(folder, mutant.file)
    const source = readFileSync(path, 'utf8')
    writeFileSync(
      path,
      source.replace(mutant.text, () => mutant.becomes),
    )
    try {
      expect(outcomeOf(folder, mutant)).toBe('failed')
    } finally {
      writeFileSync(path, source)
    }
  })
})

/** What a test run needs: its sources, what builds them, and the packages of this checkout. */
const FOLDERS = ['src', 'test/setup', 'test/support', 'test/faults', 'test/vectors', 'scripts']
const PARTS = [...FOLDERS, 'package.json']
const CONFIGS = ['vitest.config.ts', 'tsconfig.json', 'tsconfig.build.json']

function copyOfProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-'))
  for (const part of [...PARTS, ...CONFIGS]) {
    cpSync(`${ROOT}${part}`, join(folder, part), { recursive: true })
  }
  symlinkSync(`${ROOT}node_modules`, join(folder, 'node_modules'))
  return folder
}

/** How the case of a mutant ends: `passed`, `failed`, or `skipped` where this machine cannot run it. */
function outcomeOf(folder: string, { test, case: name }: Mutant): string {
  prepareBuild(folder, test)
  const report = join(folder, 'report.json')
  const { HEADGATE_PROVE: _, ...env } = process.env
  const words = ['run', test, '-t', name, '--reporter=json', `--outputFile=${report}`]
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs')
  spawnSync(process.execPath, [vitest, ...words], { cwd: folder, env })
  const cases = [...readFileSync(report, 'utf8').matchAll(CASE)].map(([text]) => text)
  const found = cases.filter((text) => text.includes(name)).map((text) => text.replace(CASE, '$1'))
  // A case may run on several stores, of which the mutant touches one.
  return ['failed', 'passed', 'skipped'].find((word) => found.includes(word)) ?? 'not found'
}

/** Only a test that starts processes runs dist/: for the others an empty one, of the future, will do. */
function prepareBuild(folder: string, test: string): void {
  const dist = join(folder, 'dist')
  rmSync(dist, { recursive: true, force: true })
  if (!test.startsWith('src/')) return
  mkdirSync(dist)
  const tomorrow = new Date(Date.now() + 86_400_000)
  utimesSync(dist, tomorrow, tomorrow)
}

/** One case of the report, as vitest writes it. */
const CASE = /"status":"(\w+)","title":"(?:[^"\\]|\\.)*"/g
