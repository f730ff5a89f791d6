import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseDocument } from '../../src/documents/document.ts'
import type { DocumentErrorCode } from '../../src/documents/node.ts'
import { fileKeysOf } from '../../src/documents/settings/table.ts'
import { buildCatalog } from '../../src/requests/acme/formats.ts'
import { ID_FORMATS } from '../../src/requests/ids/id-format.ts'
import { CONFIG_ERROR_CODES } from '../../src/server/config/config-mistake.ts'
import { knownVariables } from '../../src/server/config/known-variables.ts'
import { DEFAULT_SETTINGS, readConfig, SERVER_SETTINGS } from '../../src/server/config/settings.ts'
import { completeSettings, readSpendingSection } from '../../src/spending/index.ts'
import type { SqliteErrorCode } from '../../src/stores/sqlite/index.ts'
import { jsonField } from '../support/json-field.ts'
import { mistakeOf } from '../support/mistake-of.ts'
import { ROOT } from '../support/sources.ts'

const page = readFileSync(`${ROOT}docs/reference/config.md`, 'utf8')
const schema = JSON.parse(readFileSync(`${ROOT}docs/reference/headgate.schema.json`, 'utf8'))
const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? []

/** Types leave no list behind; a code that is missing here does not compile. */
const SQLITE_CODES = {
  STORE_PATH_INVALID: true,
  STORE_UNOPENABLE: true,
  STORE_NOT_A_DATABASE: true,
  STORE_FOREIGN_FILE: true,
  STORE_SCHEMA_NEWER: true,
  STORE_READ_ONLY: true,
  STORE_BACKUP_FAILED: true,
} satisfies Record<SqliteErrorCode, true>

const DOCUMENT_CODES = {
  DOCUMENT_SYNTAX: true,
  DOCUMENT_EMPTY: true,
  DOCUMENT_MULTIPLE: true,
  DOCUMENT_DUPLICATE_KEY: true,
  DOCUMENT_ALIAS: true,
  DOCUMENT_TOO_LARGE: true,
  FIELD_UNKNOWN: true,
  FIELD_MISSING: true,
  FIELD_TYPE: true,
  FIELD_VALUE: true,
} satisfies Record<DocumentErrorCode, true>

describe('the reader, the schema and the page know the same', () => {
  test('keys', () => {
    expect(Object.keys(schema.properties)).toEqual(fileKeysOf(SERVER_SETTINGS))
    const [, keys = ''] = page.split('\n## Keys\n')
    for (const key of fileKeysOf(SERVER_SETTINGS)) expect(keys).toMatch(new RegExp(`\`${key}[\`.]`))
  })

  test('defaults: read back from the schema, they are those that hold', () => {
    const defaults = defaultsIn(schema)
    const { spending, subjects: _, ...server } = defaults
    const { store, ...read } = readConfig(jsonField(server).node, 'headgate.yml')
    expect({ ...DEFAULT_SETTINGS, ...read }).toEqual(DEFAULT_SETTINGS)
    expect(Object.keys(server).sort()).toEqual(Object.keys(DEFAULT_SETTINGS).sort())
    expect(store).toBe(`sqlite:${ROOT}headgate.db`)
    const given = readSpendingSection(jsonField(spending, 'spending'))
    expect(completeSettings(given).settings).toEqual(completeSettings().settings)
  })

  test('fields of limits, overrides and ids', () => {
    const { limit, override } = schema.definitions
    const unknown = { x: 1 }
    const rate = { burst: 1, count: 1, period: '1s' }
    const listed = (config: object) => {
      const { limits, overrides } = readConfig(jsonField(config).node, 'headgate.yml')
      const reading = () =>
        buildCatalog({
          limits: limits ? [limits] : [],
          overrides: overrides ? [overrides] : [],
        })
      return mistakeOf(reading).rule.replace('may hold only ', '').split(', ')
    }
    const limits = { Foos: { id: 'opaque' } }
    const inOverride = (value: object) => listed({ limits, overrides: [{ Foos: value }] })
    expect(listed({ limits: { Foos: unknown } })).toEqual(Object.keys(limit.properties))
    expect(inOverride(unknown)).toEqual(Object.keys(override.properties))
    const [, item] = override.properties.ids.items.oneOf
    expect(inOverride({ ...rate, ids: [unknown] })).toEqual(Object.keys(item.properties))
  })

  test('words', () => {
    expect(schema.definitions.limit.properties.id.enum).toEqual([...ID_FORMATS])
    for (const format of ID_FORMATS) expect(page).toContain(`| \`${format}\` |`)
  })

  test('variables', () => {
    for (const name of knownVariables()) expect(page).toContain(`| \`${name}\` |`)
  })

  test('mistakes', () => {
    const headings = [...page.matchAll(/^### ([A-Z_]+)$/gm)].map(([, code]) => code)
    const codes = [CONFIG_ERROR_CODES, Object.keys(SQLITE_CODES), Object.keys(DOCUMENT_CODES)]
    expect(headings).toEqual(codes.flat())
  })
})

describe('the example on the page', () => {
  test('loads', () => {
    const { limits, overrides, ...settings } = readConfig(
      parseDocument(example, 'headgate.yml'),
      '/etc/headgate/headgate.yml',
    )
    const catalog = buildCatalog({
      limits: limits ? [limits] : [],
      overrides: overrides ? [overrides] : [],
    })
    expect(catalog.warnings).toEqual([])
    expect(catalog.limits.get('SearchesPerCustomer')?.overrideCount).toBe(2)
    expect(settings.tokens).toHaveLength(2)
    const node = settings.spending
    const given = node && readSpendingSection({ thing: 'spending', node })
    expect(given?.tiers?.PRIVILEGED).toBe('unlimited')
  })

  test('shows every key', () => {
    for (const key of fileKeysOf(SERVER_SETTINGS)) {
      expect(example).toMatch(new RegExp(`^(?:# )?${key}:`, 'm'))
    }
    for (const key of fileKeysOf(SERVER_SETTINGS.operations.section)) {
      expect(example).toContain(`  ${key}:`)
    }
  })

  test('satisfies the schema, which refuses what the reader refuses', () => {
    const satisfies = new Ajv({ allowUnionTypes: true }).compile(schema)
    expect(satisfies(parse(example)), JSON.stringify(satisfies.errors)).toBe(true)
    for (const wrong of [
      { prot: 1 },
      { port: 70_000 },
      { store: 'headgate.db' },
      { limits: { Foos: { id: 'ip' } } },
      { limits: { Foos: { id: 'opaque', burst: 1 } } },
      { limits: { Foos: { id: 'opaque', burst: 0, count: 1, period: '1s' } } },
      { tokens: [{ name: 'a', sha256: 'b', scopes: ['decide'] }] },
      { spending: { totl: 1 } },
      { spending: { total: -1 } },
      { spending: { total: '1.5' } },
      { spending: { tiers: { GOLD: 1 } } },
      { spending: { rollover: { sharePerMille: 1001 } } },
      { subjects: { identity: 'headgate.example' } },
      { limits: { Foos: { id: 'opaque', rateFrom: 'ann' } } },
      { limits: { Foos: { id: 'opaque', subjectMayRaise: true } } },
      { limits: { Foos: { id: 'opaque', atOnce: 1 } } },
      { limits: { Foos: { id: 'opaque', atOnce: 0, heldFor: '1s' } } },
      { overrides: [{ Foos: { burst: 1, count: 1, period: '1s', ids: [] } }] },
    ]) {
      expect(satisfies(wrong), JSON.stringify(wrong)).toBe(false)
      const reading = () => {
        const config = readConfig(parseDocument(JSON.stringify(wrong), 'x'), 'x')
        const { spending: node } = config
        if (node !== undefined) readSpendingSection({ thing: 'spending', node })
        const limits = config.limits ? [config.limits] : []
        buildCatalog({ limits, overrides: config.overrides ? [config.overrides] : [] })
      }
      expect(reading, JSON.stringify(wrong)).toThrow()
    }
  })
})

interface Described {
  readonly default?: unknown
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Described>>
  /** Of a section that may be a single value. */
  readonly oneOf?: readonly Described[]
}

/** A document of all the defaults that a schema names. What must be given has none. */
function defaultsIn(described: Described): Record<string, unknown> {
  const map = described.oneOf?.find(({ properties }) => properties !== undefined) ?? described
  const { properties = {}, required } = map
  if (required !== undefined) return {}
  const entries = Object.entries(properties).map(([key, value]) => [
    key,
    value.default ?? defaultsIn(value),
  ])
  return Object.fromEntries(entries.filter(([, value]) => JSON.stringify(value) !== '{}'))
}
