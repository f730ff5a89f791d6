/** What a new user mistypes, and what is answered. */
import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { headgate, spawnHeadgate } from '../support/cli.ts'
import { configFolder } from '../support/config-folder.ts'

const QUICK = 'limits: {Foos: {id: ipAddress, burst: 5, count: 5, period: 1m}}'
const place = (config = QUICK) => ({ cwd: configFolder({ 'headgate.yml': config }).path })

describe('a wrong headgate.yml stops the start: place, thing, rule and finding', () => {
  test.each([
    [
      'a tab as indentation',
      'limits:\n\tFoos: {}',
      'error DOCUMENT_SYNTAX: headgate.yml:2:1: the document: must be valid YAML 1.2 or JSON without tags, found a tab as indentation; use spaces',
    ],
    [
      'a mistyped key',
      'limits:\n  Foos: {id: ipAddress, brust: 5, count: 5, period: 1m}',
      'error FIELD_UNKNOWN: headgate.yml:2:25: Foos: may hold only id, ipv6Prefix, burst, count, period, atOnce, heldFor, onStoreFailure, rateFrom, subjectMayRaise, shadow, found "brust" (did you mean burst?)',
    ],
    [
      'a period without unit',
      'limits:\n  Foos: {id: ipAddress, burst: 5, count: 5, period: 60}',
      'error FIELD_VALUE: headgate.yml:2:53: Foos.period: must be a duration above zero with its unit (90s, 1h30m, 7d), below 285 years, found 60',
    ],
    [
      'a limit without the form of its ids',
      'limits:\n  Foos: {burst: 5, count: 5, period: 1m}',
      'error FIELD_MISSING: headgate.yml:2:9: Foos: must hold id, the form of its ids, found none',
    ],
    [
      'an override of a limit that nobody declared',
      `${QUICK}\noverrides:\n  - Fooos: {burst: 1, count: 1, period: 1s, ids: [192.0.2.1]}`,
      'error LIMIT_UNKNOWN: headgate.yml:3:5: the name of a limit: must be built in or declared under limits, found "Fooos" (did you mean Foos?)',
    ],
    [
      'an id in the wrong form',
      `${QUICK}\noverrides:\n  - Foos: {burst: 1, count: 1, period: 1s, ids: [192.0.2]}`,
      'error ID_INVALID: headgate.yml:3:50: an override id of Foos: ',
    ],
    [
      'a token in the place of its hash',
      'tokens: [{name: ci, sha256: hg_abc, scopes: [decide]}]',
      'error FIELD_VALUE: headgate.yml:1:29: tokens[0].sha256: must be the 64 hex digits',
    ],
    ['an empty file', '# later\n', 'error DOCUMENT_EMPTY: headgate.yml:1:1: the document: '],
  ])('%s', async (_, config, message) => {
    const { exit, out, err } = await headgate(['serve', '--port', '0'], place(config))
    expect(err).toContain(message)
    expect({ exit, out }).toEqual({ exit: 1, out: '' })
  })
})

describe('a wrong command line', () => {
  test.each([
    [['serve', '--port', '99999'], 'OPTION_INVALID', '--port: must be a whole number from 0'],
    [['serve', '--host', '0.0.0.0'], 'TOKEN_REQUIRED', '`headgate tokens new` makes one'],
    [['serve', '--store', 'mysql://x'], 'STORE_URL_INVALID', '--store: must be memory:, sqlite:PA'],
    [['serve', '--config', 'no.yml'], 'CONFIG_FILE_UNREADABLE', 'no.yml: must be a file'],
    [['spend', 'Foos', '192.0.2.1', '--cost', '6'], 'COST_ABOVE_BURST', 'at most the burst of 5'],
    [['spend', 'Foos', 'ann'], 'ID_INVALID', 'found "ann"'],
    [['spend', 'Fo', '192.0.2.1'], 'LIMIT_UNKNOWN', 'must be built in or declared under limits'],
    [['limits', 'show', 'Fooz'], 'LIMIT_UNKNOWN', '"Fooz" (did you mean Foos?)'],
    [
      ['tokens', 'new', '--scope', 'root'],
      'FLAG_VALUE_INVALID',
      '--scope: must be decide or admin',
    ],
  ])('%j', async (words, code, message) => {
    const { exit, out, err } = await headgate(words, place())
    expect(err).toMatch(new RegExp(`^error ${code}: `))
    expect(err).toContain(message)
    expect({ exit, out }).toEqual({ exit: 1, out: '' })
  })

  test('with --json the mistake is an object with its parts, on standard error', async () => {
    const { exit, out, err } = await spawnHeadgate(['serve', '--json'], place('port: x'))
    expect(JSON.parse(err)).toMatchObject({
      error: {
        code: 'FIELD_TYPE',
        thing: 'port',
        finding: 'x',
        at: { file: 'headgate.yml', line: 1, column: 7 },
      },
    })
    expect({ exit, out }).toEqual({ exit: 1, out: '' })
  })

  test('an unknown variable is a mistake too', async () => {
    const surroundings = { ...place(), env: { HEADGATE_TOKNE: 'hg_x' } }
    for (const words of [[], ['--server', 'http://127.0.0.1:1']]) {
      const { exit, err } = await headgate(['limits', 'list', ...words], surroundings)
      expect(exit).toBe(1)
      expect(err).toContain('HEADGATE_TOKNE (did you mean HEADGATE_TOKEN?)')
    }
  })
})

describe('without a configuration', () => {
  test.each([
    ['limits', 'list'],
    ['limits', 'show', 'NewOrdersPerAccount', '7'],
    ['check', 'NewOrdersPerAccount', '7'],
    ['spend', 'NewOrdersPerAccount', '7'],
    ['refund', 'NewOrdersPerAccount', '7'],
    ['reset', 'NewOrdersPerAccount', '7'],
    ['acquire', 'Jobs', 'x'],
    ['release', 'x'],
  ])(
    'headgate %s %s does not answer that nothing is limited: it says where it looked',
    async (...words) => {
      const { path: cwd } = configFolder()
      const { exit, out, err } = await headgate(words, { cwd })
      expect({ exit, out }).toEqual({ exit: 1, out: '' })
      expect(err).toMatch(
        /^error CONFIG_NOT_FOUND: the configuration: must be headgate\.yml .*--config/,
      )
      expect(err).toContain(`found none in ${cwd}\n`)
      expect(readdirSync(cwd)).toEqual([])
    },
  )

  test('a file of defaults is one, and so is an empty headgate.yml', async () => {
    const defaults = { 'd.yml': 'NewOrdersPerAccount: {burst: 5, count: 5, period: 1m}' }
    const named = { cwd: configFolder(defaults).path, env: { HEADGATE_DEFAULTS: 'd.yml' } }
    expect(await headgate(['check', 'NewOrdersPerAccount', '7'], named)).toMatchObject({ exit: 0 })
    const empty = await headgate(['check', 'NewOrdersPerAccount', '7'], place('{}'))
    expect(empty).toMatchObject({ exit: 0, out: expect.stringContaining('no limit in force') })
  })
})
