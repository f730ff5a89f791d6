/** Everything that a signer can be told is a flag, a variable and a row, with the default that holds. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { odisAudit } from '../../src/cli/odis-audit.ts'
import { odisKeygen } from '../../src/cli/odis-keygen.ts'
import { odisSigner } from '../../src/cli/odis-signer.ts'
import { toSeconds } from '../../src/core/index.ts'
import {
  ODIS_OPTION_NAMES,
  ODIS_VARIABLES,
  odisVariableOf,
} from '../../src/server/odis/option-names.ts'
import {
  DEFAULT_IN_ALL,
  DEFAULT_KEEP_AUDIT,
  DEFAULT_PER_ADDRESS,
  DEFAULT_SIGNER_PORT,
  DEFAULT_SIGNER_STORE,
  MAX_AUDIT_DAYS,
  type OuterRate,
} from '../../src/server/odis/signer-settings.ts'
import { OPTION_NAMES, variableOf } from '../../src/server/options.ts'
import { ROOT } from '../support/sources.ts'

const pageOf = (name: string): string => readFileSync(`${ROOT}docs/reference/${name}.md`, 'utf8')
const [cli, config] = [pageOf('cli'), pageOf('config')]
const sectionOf = (command: string): string =>
  cli.split(`\n## ${command}\n`)[1]?.split('\n## ')[0] ?? ''

/** What the rows of a command say of a flag: its variable and its meaning. */
const rowOf = (command: string, flag: string): readonly string[] =>
  (new RegExp(`^\\| \`--${flag}[ \`].*$`, 'm').exec(sectionOf(command))?.[0] ?? '')
    .split('|')
    .slice(2, 4)
    .map((cell) => cell.trim())

test('every setting is a flag of the signer, and every flag with a value is a setting', () => {
  const flags = odisSigner.flags.filter(({ value }) => value !== undefined)
  const shared = OPTION_NAMES.filter((name) =>
    ['host', 'port', 'store', 'log-level'].includes(name),
  )
  expect(flags.map(({ name }) => name).sort()).toEqual([...ODIS_OPTION_NAMES, ...shared].sort())
})

test('every flag has a row with its variable', () => {
  for (const name of ODIS_OPTION_NAMES) {
    expect(rowOf('odis signer', name)[0]).toBe(`\`${odisVariableOf(name)}\``)
  }
  for (const { name, flags } of [odisKeygen, odisAudit]) {
    for (const flag of flags) {
      const option = OPTION_NAMES.find((candidate) => candidate === flag.name)
      if (option !== undefined) expect(rowOf(name, flag.name)[0]).toBe(`\`${variableOf(option)}\``)
    }
  }
})

test('every variable of signers is on the page of the configuration, and the pages name no other', () => {
  for (const name of ODIS_VARIABLES) expect(config).toContain(`\`${name}\``)
  for (const page of [cli, config]) {
    for (const [name] of page.matchAll(/HEADGATE_ODIS_[A-Z_]+/g)) {
      expect(ODIS_VARIABLES).toContain(name)
    }
  }
})

test('the defaults on the page, and in help, are those that hold', () => {
  const rate = ({ count, period }: OuterRate) => `${count}/${period}`
  const defaults: Readonly<Record<string, string | number>> = {
    port: DEFAULT_SIGNER_PORT,
    store: DEFAULT_SIGNER_STORE,
    'limit-per-address': rate(DEFAULT_PER_ADDRESS),
    'limit-in-all': rate(DEFAULT_IN_ALL),
    'audit-days': toSeconds(DEFAULT_KEEP_AUDIT) / 86_400,
  }
  for (const [flag, byDefault] of Object.entries(defaults)) {
    const summary = odisSigner.flags.find(({ name }) => name === flag)?.summary
    expect(summary, flag).toContain(String(byDefault))
    expect(rowOf('odis signer', flag)[1], flag).toContain(String(byDefault))
  }
  expect(rowOf('odis signer', 'audit-days')[1]).toContain(String(MAX_AUDIT_DAYS))
  expect(rowOf('odis audit', 'store')[1]).toContain(DEFAULT_SIGNER_STORE)
})
