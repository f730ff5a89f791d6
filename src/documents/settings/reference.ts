/** What a table of settings says of itself: to `headgate help` and to the pages of the reference. */
import { defaultOf, withoutMarkdown } from './schema.ts'
import { flagNameOf, isSection, type Setting, type SettingsTable } from './table.ts'

export interface SettingFlag {
  readonly name: string
  /** A placeholder for its value; absent: it is a switch. */
  readonly value?: string
  readonly summary: string
}

/** One row of the reference; a cell without anything to say is empty. */
export interface SettingRow {
  /** With the keys above it: `operations.perToken`. */
  readonly key: string
  readonly default: string
  readonly flag: string
  readonly variable: string
  readonly sentence: string
  readonly change: 'at once' | 'restart'
}

/** The flags of all settings, or of some, in their order. */
export const flagsOf = <T extends SettingsTable>(
  table: T,
  keys: readonly (keyof T & string)[] = Object.keys(table),
): readonly SettingFlag[] =>
  keys.flatMap((key) => {
    const setting = table[key]
    return setting === undefined || isSection(setting) ? [] : flagOf(setting)
  })

function flagOf(setting: Setting): readonly SettingFlag[] {
  if (setting.flag === undefined) return []
  const [, value] = setting.flag.split(' ')
  const shown = defaultText(setting)
  const silent = value === undefined || shown === '' || shown === 'none'
  const summary = withoutMarkdown(`${setting.sentence}${silent ? '' : ` Default: ${shown}.`}`)
  return [{ name: flagNameOf(setting), ...(value !== undefined && { value }), summary }]
}

/** The names of all variables, those of sections included. */
export const variablesOf = (table: SettingsTable): readonly string[] =>
  rowsOf(table).flatMap(({ variable }) => (variable === '' ? [] : [variable]))

/** A row for each setting; of a section or a map, a row for each of its keys. */
export const rowsOf = (table: SettingsTable, prefix = ''): readonly SettingRow[] =>
  Object.entries(table).flatMap(([key, entry]) => {
    const name = `${prefix}${key}`
    if (isSection(entry)) return rowsOf(entry.section, `${name}.`)
    const row = rowOf(name, entry)
    const inner = rowsOf(entry.reader.keys ?? {}, `${name}.`)
    return [row, ...inner.map((each) => ({ ...each, change: row.change }))]
  })

function rowOf(key: string, setting: Setting): SettingRow {
  const { flag = '', variable = '', sentence, inFile, reloads } = setting
  return {
    key: inFile === false ? '' : key,
    default: defaultText(setting),
    flag: flag === '' ? '' : `--${flagNameOf(setting)}`,
    variable,
    sentence,
    change: reloads ? 'at once' : 'restart',
  }
}

/** In Markdown. A default that holds nothing is `none`, and what must be given has none at all. */
function defaultText(setting: Setting): string {
  const value = defaultOf(setting)
  if (setting.required) return ''
  if (value === undefined) return setting.unset ?? 'none'
  const text = inYaml(value)
  return text === '[]' || text === '{}' ? 'none' : `\`${text}\``
}

/** On one line. */
function inYaml(value: unknown): string {
  if (value instanceof Map) return inYaml(Object.fromEntries(value))
  if (Array.isArray(value)) return `[${value.map(inYaml).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const entries = Object.entries(value).map(([key, inner]) => `${key}: ${inYaml(inner)}`)
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}
