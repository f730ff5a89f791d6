/** What the tables of settings yield for docs/reference: the JSON Schema, and the tables on the page. */
import { rowsOf, type SettingRow } from '../../src/documents/settings/reference.ts'
import { schemaOf } from '../../src/documents/settings/schema.ts'
import type { SettingsTable } from '../../src/documents/settings/table.ts'
import { OTHER_VARIABLES } from '../../src/server/config/known-variables.ts'
import { SERVER_SETTINGS } from '../../src/server/config/settings.ts'
import { SIGNER_SETTINGS } from '../../src/server/secrets/config.ts'
import { SPENDING_SETTINGS } from '../../src/spending/settings/table.ts'

export const configSchema = (table: SettingsTable = SERVER_SETTINGS): string => {
  const server = schemaOf(table)
  const spending = schemaOf(SPENDING_SETTINGS)
  const properties = Object(server.schema['properties'])
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'headgate.yml',
    description: 'The configuration of a Headgate server. Every key is optional.',
    ...server.schema,
    properties: { ...properties, spending: { ...properties.spending, ...spending.schema } },
    definitions: { ...server.definitions, ...spending.definitions },
  }
  return `${JSON.stringify(schema, null, 2)}\n`
}

const code = (text: string): string => (text === '' ? '' : `\`${text}\``)

const table = (headings: readonly string[], rows: readonly (readonly string[])[]): string =>
  [headings, headings.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')

/** By the name in the page's markers. */
const TABLES: Readonly<Record<string, (settings: readonly SettingRow[]) => string>> = {
  server: (settings) =>
    table(
      ['Key', 'Default', 'Flag', 'Variable', 'Meaning', 'Change'],
      settings.map((row) => [
        code(row.key),
        row.default,
        code(row.flag),
        code(row.variable),
        row.sentence,
        row.change,
      ]),
    ),
  spending: (settings) =>
    table(
      ['Key of `spending`', 'Default', 'Variable', 'Meaning', 'Change'],
      settings.map((row) => [
        code(row.key),
        row.default,
        code(row.variable),
        row.sentence,
        row.change,
      ]),
    ),
  signer: (settings) =>
    table(
      ['Flag', 'Variable', 'Default', 'Meaning'],
      settings.map((row) => [code(row.flag), code(row.variable), row.default, row.sentence]),
    ),
  variables: () =>
    table(
      ['Variable', 'Meaning'],
      Object.entries(OTHER_VARIABLES).map(([name, sentence]) => [code(name), sentence]),
    ),
}

const SETTINGS: Readonly<Record<string, SettingsTable>> = {
  server: SERVER_SETTINGS,
  spending: SPENDING_SETTINGS,
  signer: SIGNER_SETTINGS,
}

export const settingsTableOf = (name: string, settings = SETTINGS[name] ?? {}): string =>
  TABLES[name]?.(rowsOf(settings)) ?? `no table ${name}`

/** The page with each table between its markers as the settings yield it. */
export const withTables = (page: string): string =>
  page.replace(
    /(<!-- settings: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, start: string, name: string, end: string) => `${start}${settingsTableOf(name)}\n${end}`,
  )
