/** JSON Schema (draft 7) of a table of settings, for editors. */
import type { JsonSchema, Reader } from './reader.ts'
import type { Section, Setting, SettingsTable } from './table.ts'

/** A schema with what it refers to as `#/definitions/NAME`. */
type SchemaPart = Pick<Reader<unknown>, 'schema' | 'definitions'>

/** A map of the table's keys and no others. */
export const schemaOf = (
  table: SettingsTable,
  needs: readonly string[] = [],
): Required<SchemaPart> => {
  const parts = Object.entries(table)
    .filter(([, entry]) => !('inFile' in entry))
    .map(([key, entry]) => ({ key, entry, ...partOf(entry) }))
  const required = parts
    .filter(({ key, entry }) => 'required' in entry || needs.includes(key))
    .map(({ key }) => key)
  return {
    schema: {
      type: 'object',
      additionalProperties: false,
      ...(required.length > 0 && { required }),
      properties: Object.fromEntries(parts.map(({ key, schema }) => [key, schema])),
    },
    definitions: Object.assign({}, ...parts.map(({ definitions }) => definitions)),
  }
}

/** Sentences are Markdown; editors and terminals show text. */
export const withoutMarkdown = (sentence: string): string =>
  sentence.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('`', '')

/** The default as the file would hold it. */
export const defaultOf = (setting: Setting): unknown => {
  const { reader, default: value } = setting
  return value === undefined || reader.toJson === undefined ? value : reader.toJson(value)
}

function partOf(entry: Setting | Section): SchemaPart {
  if ('section' in entry) return sectionPart(entry)
  const { reader, sentence } = entry
  const value = defaultOf(entry)
  const schema: JsonSchema = {
    description: withoutMarkdown(sentence),
    ...reader.schema,
    ...(value !== undefined && { default: value }),
  }
  return { schema, definitions: reader.definitions ?? {} }
}

function sectionPart({ section, short, needs, sentence }: Section): SchemaPart {
  const { schema: map, definitions } = schemaOf(section, needs)
  const single = short === undefined ? undefined : section[short]
  const schema =
    single === undefined || 'section' in single ? map : { oneOf: [single.reader.schema, map] }
  const description = sentence === undefined ? {} : { description: withoutMarkdown(sentence) }
  return { schema: { ...description, ...schema }, definitions }
}
