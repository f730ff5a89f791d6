import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseDocument } from '../../src/documents/document.ts'
import type { DocumentErrorCode } from '../../src/documents/index.ts'
import { buildCatalog, ID_FORMATS } from '../../src/requests/index.ts'
import { CONFIG_KEYS, OPERATION_KEYS, readConfig } from '../../src/server/config-file.ts'
import { CONFIG_ERROR_CODES } from '../../src/server/config-mistake.ts'
import { OPTION_NAMES, OTHER_VARIABLES, variableOf } from '../../src/server/options.ts'
import { DEFAULT_SETTINGS, LOG_LEVELS, SCOPES } from '../../src/server/settings.ts'
import { SPENDING_VARIABLES } from '../../src/server/spending/is-configured.ts'
import { SUBJECT_KEYS } from '../../src/server/subjects/subject-settings.ts'
import { TOKEN_KEYS } from '../../src/server/token-records.ts'
import { readSpendingSection, SPENDING_KEYS } from '../../src/spending/settings-section.ts'
import type { SqliteErrorCode } from '../../src/stores/sqlite/index.ts'
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

const rows = page.split('\n').filter((line) => line.startsWith('| '))
const cells = rows.map((row) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')))
const keyRows = cells.filter((row) => row.length === 7 && row[1] !== 'Key')

describe('the reader, the schema and the page know the same', () => {
  test('keys', () => {
    const keys = [...CONFIG_KEYS].sort()
    expect(Object.keys(schema.properties).sort()).toEqual(keys)
    expect(keyRows.flatMap(([, key]) => key || []).sort()).toEqual(keys)
    expect(Object.keys(schema.properties.operations.properties)).toEqual([...OPERATION_KEYS])
    expect(schema.definitions.token.required).toEqual([...TOKEN_KEYS])
    expect(Object.keys(schema.properties.subjects.properties)).toEqual([...SUBJECT_KEYS])
  })

  test('keys of spending', () => {
    expect(Object.keys(schema.properties.spending.properties)).toEqual([...SPENDING_KEYS])
    const told = cells.filter(
      (row) => row.length === 5 && SPENDING_KEYS.some((key) => key === row[1]),
    )
    expect(told.map(([, key]) => key)).toEqual([...SPENDING_KEYS])
    for (const name of SPENDING_VARIABLES) expect(page).toContain(`\`${name}\``)
  })

  test('words', () => {
    expect(schema.properties.logLevel.enum).toEqual([...LOG_LEVELS])
    expect(schema.definitions.token.properties.scopes.items.enum).toEqual([...SCOPES])
    expect(schema.definitions.limit.properties.id.enum).toEqual([...ID_FORMATS])
    for (const format of ID_FORMATS) expect(page).toContain(`| \`${format}\` |`)
  })

  test('defaults', () => {
    for (const key of ['store', 'host', 'port', 'logLevel', 'refuseReserved'] as const) {
      expect(schema.properties[key].default).toBe(DEFAULT_SETTINGS[key])
      expect(keyRows.find((row) => row[1] === key)?.[2]).toBe(String(DEFAULT_SETTINGS[key]))
    }
    const { rememberFor, perToken } = schema.properties.operations.properties
    expect(perToken.default).toBe(DEFAULT_SETTINGS.operations.perScope)
    expect(rememberFor.default).toBe('24h')
    expect(DEFAULT_SETTINGS.operations.rememberFor).toBe(24 * 3_600_000_000)
  })

  test('flags and variables', () => {
    const told = keyRows.flatMap((row) => (row[3] ? [[row[3], row[4]]] : []))
    const known = OPTION_NAMES.map((name) => [`--${name}`, variableOf(name)])
    expect(told.sort()).toEqual(known.sort())
    for (const name of OTHER_VARIABLES) expect(page).toContain(`\`${name}\``)
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
    const draft = node && readSpendingSection({ thing: 'spending', node })
    expect(draft?.tiers?.PRIVILEGED).toBe('unlimited')
  })

  test('shows every key', () => {
    for (const key of CONFIG_KEYS) expect(example).toMatch(new RegExp(`^(?:# )?${key}:`, 'm'))
    for (const key of OPERATION_KEYS) expect(example).toContain(`  ${key}:`)
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
