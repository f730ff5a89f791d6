import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { headgate } from '../support/cli.ts'
import { configFolder } from '../support/config-folder.ts'

const RATE = 'burst: 5, count: 5, period: 1m'
const lint = (files: Record<string, string>, ...words: string[]) =>
  headgate(['lint', ...words], { cwd: configFolder(files).path })

describe('headgate lint', () => {
  test('knows each document by its shape', async () => {
    const files = {
      'headgate.yml': `limits: {Foos: {id: opaque, ${RATE}}}`,
      'defaults.yml': `NewOrdersPerAccount: {${RATE}}`,
      'overrides.yml': `[{Foos: {${RATE}, ids: [ann]}}]`,
    }
    expect(await lint(files, 'headgate.yml', 'defaults.yml', 'overrides.yml')).toEqual({
      exit: 0,
      out: 'ok: headgate.yml, defaults.yml, overrides.yml\n',
      err: '',
    })
  })

  test('tells the mistake of each file, with its place, and exits with 1', async () => {
    const files = {
      'a.yml': 'NewOrdersPerAccount: {burst: 0, count: 5, period: 1m}',
      'b.yml': '[{NewOrdersPerAccount: {burst: 5, count: 5, period: 1m, ids: [007]}}]',
      'c.yml': 'just text',
    }
    const { exit, out, err } = await lint(files, 'a.yml', 'b.yml', 'c.yml')
    expect({ exit, out }).toEqual({ exit: 1, out: '' })
    expect(err).toMatch(/^error DOCUMENT_KIND_UNKNOWN: c\.yml:1:1: /m)
    expect(err).toMatch(/^error FIELD_VALUE: a\.yml:1:30: NewOrdersPerAccount\.burst: must be/m)
    expect(err).toMatch(/^error ID_INVALID: b\.yml:1:63: /m)
  })

  test('tells every mistake of every file in one run, in the order of files and lines', async () => {
    const files = {
      'headgate.yml': `prot: 1
limits:
  Foos: { id: opaque, burst: 0, count: -1, period: 1x }
  Bars: { id: opaque, ${RATE} }
port: 70000
overridesFile: more.yml
tokens:
  - { name: "a b", sha256: short, scopes: [rule] }
spending: { total: 100 }
`,
      'more.yml': `- Bars: { ${RATE}, ids: [ann, ann] }\n- Foos: { ${RATE}, ids: [""] }\n`,
      'd.yml': 'NewOrdersPerAccount: {burst: 0, count: 5}\nNewFoos: {}\n',
    }
    const { exit, err } = await lint(files, 'headgate.yml', 'd.yml')
    expect(exit).toBe(1)
    const place = /^error (\w+): (?:\S*\/)?([a-z]+\.yml:\d+):/
    expect(
      err
        .trim()
        .split('\n')
        .map((line) => place.exec(line)?.slice(1).join(' ')),
    ).toEqual([
      'FIELD_UNKNOWN headgate.yml:1',
      'FIELD_VALUE headgate.yml:3',
      'FIELD_VALUE headgate.yml:3',
      'FIELD_VALUE headgate.yml:3',
      'FIELD_VALUE headgate.yml:5',
      'FIELD_VALUE headgate.yml:8',
      'FIELD_VALUE headgate.yml:8',
      'FIELD_VALUE headgate.yml:8',
      'SETTING_MISSING headgate.yml:9',
      'FIELD_MISSING d.yml:1',
      'FIELD_VALUE d.yml:1',
      'LIMIT_UNKNOWN d.yml:2',
      'FIELD_MISSING d.yml:2',
      'FIELD_MISSING d.yml:2',
      'FIELD_MISSING d.yml:2',
      'ID_DUPLICATE more.yml:1',
      'ID_INVALID more.yml:2',
    ])
    const cwd = configFolder(files).path
    const served = await headgate(['serve', '--config', 'headgate.yml', '--json'], { cwd })
    const { error, errors } = JSON.parse(served.err)
    expect(served.exit).toBe(1)
    expect(error).toEqual(errors[0])
    expect(errors).toHaveLength(11)
  })

  test('lets a file in whose names could never match, with a warning for each, where told', async () => {
    const files = {
      'o.yml': `- CertificatesPerDomain: {${RATE}, ids: [le.wtf, ecdsa.le.wtf, must-staple.le.wtf]}`,
    }
    expect(await lint(files, 'o.yml')).toMatchObject({
      exit: 1,
      err: expect.stringMatching(/^(error ID_INVALID: .*skipUnmatchable.*\n){2}$/),
    })
    expect(await lint(files, 'o.yml', '--skip-unmatchable')).toMatchObject({
      exit: 0,
      out: 'ok: o.yml\n',
      err: expect.stringMatching(/^(warning OVERRIDE_UNMATCHABLE: .*count as le\.wtf.*\n){2}$/),
    })
    const config = { ...files, 'h.yml': 'overridesFile: o.yml\nskipUnmatchable: true' }
    expect(await lint(config, 'h.yml')).toMatchObject({ exit: 0 })
  })

  test('warns of what works, but perhaps not as meant, and exits with 0', async () => {
    const files = { 'd.yml': 'NewOrdersPerAccount: {burst: 5, count: 700000, period: 1s}' }
    const { exit, err } = await lint(files, 'd.yml')
    expect(exit).toBe(0)
    expect(err).toMatch(/^warning RATE_ROUNDED: d\.yml:1:56: .* slows the rate by 40%\n$/)
  })

  test('finds an id that stands in two files', async () => {
    const files = {
      'a.yml': `[{NewOrdersPerAccount: {${RATE}, ids: [1]}}]`,
      'b.yml': `[{NewOrdersPerAccount: {${RATE}, ids: [1]}}]`,
    }
    const { exit, err } = await lint(files, 'a.yml', 'b.yml')
    expect(exit).toBe(1)
    expect(err).toContain('error ID_DUPLICATE: b.yml:1:')
    expect(err).toContain('also at a.yml:1:')
  })

  test('refuses what the server would refuse of spending, with its place', async () => {
    const tiers = 'tiers: { BASIC: 1, EXTENDED: 2, PRIVILEGED: 3 }'
    const files = {
      'a.yml': 'spending:\n  total: 100\n',
      'b.yml': `spending:\n  total: 100\n  ${tiers}\n  compactAfter: 1m\n`,
    }
    const { exit, err } = await lint(files, 'a.yml', 'b.yml')
    expect(exit).toBe(1)
    expect(err).toMatch(/^error SETTING_MISSING: a\.yml:2:3: limit of the tier BASIC: must be set/m)
    expect(err).toMatch(/^error COMPACTION_TOO_SOON: b\.yml:4:17: compactAfter: .* found 1m0s$/m)
  })

  test('hears the variables that complete a section', async () => {
    const cwd = configFolder({ 'headgate.yml': 'spending: { total: 100 }' }).path
    const env = {
      HBAR_RATE_LIMIT_BASIC: '1',
      HBAR_RATE_LIMIT_EXTENDED: '2',
      HBAR_RATE_LIMIT_PRIVILEGED: '3',
    }
    expect(await headgate(['lint', 'headgate.yml'], { cwd, env })).toMatchObject({ exit: 0 })
  })

  test('reads the files that a headgate.yml names', async () => {
    const files = { 'headgate.yml': 'overridesFile: o.yml', 'o.yml': '[{Foos: {}}]' }
    const { exit, err } = await lint(files, 'headgate.yml')
    expect(exit).toBe(1)
    expect(err).toContain('o.yml:1:3: the name of a limit')
  })

  test('--as says what a document is meant to be', async () => {
    const { exit, err } = await lint({ 'a.yml': '{}' }, 'a.yml', '--as', 'overrides')
    expect({ exit, err }).toMatchObject({ exit: 1, err: expect.stringContaining('must be a list') })
    expect((await lint({ 'a.yml': '{}' }, 'a.yml', '--as', 'config')).exit).toBe(0)
  })

  test('--json lists findings with their parts', async () => {
    const files = { 'a.yml': 'port: 70000' }
    const { exit, out } = await lint(files, 'a.yml', '--json')
    expect(exit).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      findings: [
        { level: 'error', code: 'FIELD_VALUE', at: { file: 'a.yml', line: 1, column: 7 } },
      ],
    })
  })

  test('a missing file is told like any other mistake', async () => {
    const { exit, err } = await lint({}, join('no', 'such.yml'))
    expect(exit).toBe(1)
    expect(err).toMatch(/^error CONFIG_FILE_UNREADABLE: no\/such\.yml: must be a file/)
  })
})
