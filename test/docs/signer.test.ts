/** Every setting of a signer is a flag, a variable and a row, with the default that holds. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { odisCommands } from '../../src/cli/odis.ts'
import { flagsOf, rowsOf, variablesOf } from '../../src/documents/settings/reference.ts'
import { SERVER_SETTINGS } from '../../src/server/config/settings.ts'
import { MAX_AUDIT_DAYS, SIGNER_SETTINGS } from '../../src/server/secrets/config.ts'
import { ROOT } from '../support/sources.ts'

const commandFlags = (command: string) =>
  odisCommands.find(({ name }) => name === command)?.flags ?? []

const pageOf = (name: string): string => readFileSync(`${ROOT}docs/reference/${name}.md`, 'utf8')
const [cli, config] = [pageOf('cli'), pageOf('config')]
const sectionOf = (command: string): string =>
  cli.split(`\n## ${command}\n`)[1]?.split('\n## ')[0] ?? ''

/** What the rows of a command say of a flag: its variable and its meaning. */
const rowOf = (command: string, flag: string): readonly string[] =>
  (new RegExp(`^\\| \`${flag}[ \`].*$`, 'm').exec(sectionOf(command))?.[0] ?? '')
    .split('|')
    .slice(2, 4)
    .map((cell) => cell.trim())

const settings = rowsOf(SIGNER_SETTINGS)
const odis = variablesOf(SIGNER_SETTINGS).filter((name) => name.startsWith('HEADGATE_ODIS_'))

test('every setting is a flag of the signer, and every flag with a value is a setting', () => {
  const flags = commandFlags('odis signer').filter(({ name }) => name !== 'json')
  expect(flags.map(({ name }) => `--${name}`)).toEqual(settings.map(({ flag }) => flag))
  expect(odis).toHaveLength(18)
})

test('every flag has a row with its variable', () => {
  for (const { flag, variable } of settings) {
    expect(rowOf('odis signer', flag)[0], flag).toBe(variable === '' ? '' : `\`${variable}\``)
  }
  const shared = new Map(rowsOf(SERVER_SETTINGS).map(({ flag, variable }) => [flag, variable]))
  for (const name of ['odis keygen', 'odis audit', 'odis clock repair']) {
    for (const { name: flag } of commandFlags(name)) {
      const variable = shared.get(`--${flag}`)
      if (variable !== undefined) expect(rowOf(name, `--${flag}`)[0]).toBe(`\`${variable}\``)
    }
  }
})

test('every variable of signers is on the page of the configuration, and the pages name no other', () => {
  const known = [...odis, 'HEADGATE_ODIS_SECRET']
  for (const name of known) expect(config).toContain(`\`${name}\``)
  for (const page of [cli, config]) {
    for (const [name] of page.matchAll(/HEADGATE_ODIS_[A-Z_]+/g)) expect(known).toContain(name)
  }
})

test('the defaults on the page, and in help, are those that hold', () => {
  for (const flag of ['port', 'store', 'limit-per-address', 'limit-in-all', 'audit-days']) {
    const row = settings.find((candidate) => candidate.flag === `--${flag}`)
    const byDefault = row?.default.replaceAll('`', '') ?? 'no row'
    const summary = flagsOf(SIGNER_SETTINGS).find(({ name }) => name === flag)?.summary
    expect(summary, flag).toContain(byDefault)
    expect(rowOf('odis signer', `--${flag}`)[1], flag).toContain(byDefault)
  }
  expect(rowOf('odis signer', '--audit-days')[1]).toContain(String(MAX_AUDIT_DAYS))
  expect(rowOf('odis audit', '--store')[1]).toContain(SIGNER_SETTINGS.store.default)
})
