import { describe, expect, test } from 'vitest'
import { configSchema, settingsTableOf } from '../../../test/support/config-reference.ts'
import { jsonField } from '../../../test/support/json-field.ts'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { mistyped, seeded } from '../../../test/support/random.ts'
import { HeadgateError } from '../../core/errors.ts'
import { days } from '../../core/time.ts'
import { parseDocument } from '../../documents/document.ts'
import { oneOf } from '../../documents/settings/reader.ts'
import { flagsOf } from '../../documents/settings/reference.ts'
import { changedNames, keptValues } from '../../documents/settings/restart.ts'
import {
  complete,
  fileKeysOf,
  fromDocument,
  isSection,
  type SettingsTable,
  settingsTable,
} from '../../documents/settings/table.ts'
import { SPENDING_SETTINGS } from '../../spending/settings/table.ts'
import { SIGNER_SETTINGS } from '../secrets/config.ts'
import { knownVariables } from './known-variables.ts'
import { readOptions } from './options.ts'
import { readConfig, SERVER_SETTINGS } from './settings.ts'

const read = (text: string, path = '/etc/headgate/headgate.yml') =>
  readConfig(parseDocument(text, 'headgate.yml'), path)

const mistake = (text: string): HeadgateError => {
  try {
    read(text)
  } catch (error) {
    if (error instanceof HeadgateError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('headgate.yml', () => {
  test('gives the keys that it holds, and no others', () => {
    expect(read('port: 9000')).toEqual({ port: 9000 })
    expect(
      read(`
host: 0.0.0.0
trustProxy: [10.0.0.0/8, "::1"]
refuseReserved: true
helpLink: https://example.com/limits
operations: {rememberFor: 7d, perToken: 10}
logLevel: warn
`),
    ).toEqual({
      host: '0.0.0.0',
      trustProxy: ['10.0.0.0/8', '::1'],
      refuseReserved: true,
      helpLink: 'https://example.com/limits',
      operations: { rememberFor: days(7), perToken: 10 },
      logLevel: 'warn',
    })
  })

  test('its file names count from its own folder, wherever the server was started', () => {
    expect(
      read('{defaultsFile: defaults.yml, overridesFile: /srv/over.yml, store: sqlite:data/hg.db}'),
    ).toEqual({
      defaultsFile: '/etc/headgate/defaults.yml',
      overridesFile: '/srv/over.yml',
      store: 'sqlite:/etc/headgate/data/hg.db',
    })
    expect(read('store: "memory:"').store).toBe('memory:')
  })
})

describe('a mistake in headgate.yml names the thing, the rule, the finding and the place', () => {
  test.each([
    ['prot: 8080', 'FIELD_UNKNOWN', '1:1', 'prot" (did you mean port?)'],
    ['console: {}', 'FIELD_UNKNOWN', '1:1', 'may hold only limits, overrides'],
    ['port: 80800', 'FIELD_VALUE', '1:7', 'port: must be at most 65535, found 80800'],
    ['port: "8080"', 'FIELD_TYPE', '1:7', 'port: must be a whole number'],
    ['host: "not a host"', 'FIELD_VALUE', '1:7', 'host: must be a host name or an address'],
    ['trustProxy: [loopback]', 'FIELD_VALUE', '1:14', 'trustProxy[0]: must be an address or a pre'],
    ['trustProxy: [10.0.0.0/33]', 'FIELD_VALUE', '1:14', 'must be an address or a prefix'],
    ['helpLink: javascript:alert(1)', 'FIELD_VALUE', '1:11', 'must be an http or https address'],
    ['refuseReserved: yes', 'FIELD_TYPE', '1:17', 'must be true or false, found yes'],
    ['logLevel: loud', 'FIELD_VALUE', '1:11', 'must be one of fatal, error'],
    ['operations: {perToken: 0}', 'FIELD_VALUE', '1:24', 'operations.perToken: must be a whole'],
    ['operations: {rememberFor: 24}', 'FIELD_VALUE', '1:27', 'must be a duration above zero'],
    [
      'store: redis://a,b',
      'STORE_URL_INVALID',
      '1:8',
      'store: must be redis://, redis+cluster:// or redis+sentinel://',
    ],
    ['store: headgate.db', 'STORE_URL_INVALID', '1:8', 'found text without a scheme'],
    ['port: 1\nport: 2', 'DOCUMENT_DUPLICATE_KEY', '2:1', 'port'],
    ['[limits]', 'FIELD_TYPE', '1:1', 'headgate.yml: must be a map'],
  ])('%s', (text, code, place, words) => {
    const error = mistake(text)
    expect(error.code).toBe(code)
    expect(error.message).toContain(`headgate.yml:${place}: `)
    expect(error.message).toContain(words)
  })

  test('what follows the scheme of a store is not repeated: it may be a password', () => {
    expect(mistake('store: postgress://me:secret@db').message).not.toContain('secret')
    expect(mistake('store: redis://:secret@db:x').message).not.toContain('secret')
  })
})

describe('a new key is one line in the table, and then it is', () => {
  const table = settingsTable({
    ...SERVER_SETTINGS,
    greeting: {
      reader: oneOf(['hello', 'hi']),
      default: 'hello',
      flag: 'greeting WORD',
      variable: 'HEADGATE_GREETING',
      sentence: 'How a server greets: `hello` or `hi`.',
    },
  })
  const file = (value: object) => fromDocument(table, jsonField(value, 'headgate.yml'))

  test('a key of headgate.yml, with a suggestion for a slip', () => {
    expect(complete(table, file({ greeting: 'hi' })).greeting).toBe('hi')
    expect(() => file({ greeting: 'ho' })).toThrow('greeting: must be one of hello, hi, found "ho"')
    expect(() => file({ greting: 'hi' })).toThrow('"greting" (did you mean greeting?)')
  })

  test('a flag of the command, in its help too', () => {
    const given = readOptions(table, { flags: { greeting: 'hi' } })
    expect(complete(table, file({ greeting: 'hello' }), given).greeting).toBe('hi')
    expect(() => readOptions(table, { flags: { greeting: 'ho' } })).toThrow('--greeting: must be')
    expect(flagsOf(table)).toContainEqual({
      name: 'greeting',
      value: 'WORD',
      summary: 'How a server greets: hello or hi. Default: hello.',
    })
  })

  test('a variable, and a known one', () => {
    const environment = { HEADGATE_GREETING: 'hi' }
    expect(readOptions(table, { environment }).greeting).toBe('hi')
    expect(knownVariables([table])).toContain('HEADGATE_GREETING')
  })

  test('a setting with a default and a type', () => {
    const greeting: 'hello' | 'hi' = complete(table).greeting
    expect(greeting).toBe('hello')
  })

  test('named when its change waits for a restart', () => {
    const kept = (value: object) => keptValues(table, complete(table, file(value)))
    expect(changedNames(kept({}), kept({ greeting: 'hi' }))).toEqual(['greeting'])
  })

  test('in the schema', () => {
    expect(JSON.parse(configSchema(table)).properties.greeting).toEqual({
      description: 'How a server greets: hello or hi.',
      enum: ['hello', 'hi'],
      default: 'hello',
    })
  })

  test('a row of the reference', () => {
    expect(settingsTableOf('server', table)).toContain(
      '| `greeting` | `hello` | `--greeting` | `HEADGATE_GREETING` | How a server greets: `hello` or `hi`. | restart |',
    )
  })
})

test('a misspelt key gets a suggestion from its own map, and never the word itself', () => {
  /** Every map of a table: its keys, and those of the sections and records inside. */
  const mapsIn = (table: SettingsTable): readonly SettingsTable[] => [
    table,
    ...Object.values(table).flatMap((entry) =>
      mapsIn(isSection(entry) ? entry.section : (entry.reader.keys ?? {})),
    ),
  ]
  const tables = [SERVER_SETTINGS, SIGNER_SETTINGS, SPENDING_SETTINGS]
  const maps = tables.flatMap(mapsIn).filter((table) => fileKeysOf(table).length > 0)
  const words = [...new Set(maps.flatMap((table) => Object.keys(table)))]
  const random = seeded(36)
  let suggested = 0
  for (const table of maps) {
    for (const word of words) {
      for (const typed of [word, mistyped(word, random)]) {
        if (typed === '' || fileKeysOf(table).includes(typed)) continue
        const { finding = '' } = mistakeOf(() => fromDocument(table, jsonField({ [typed]: 1 })))
        const meant = /\(did you mean (\S+)\?\)/.exec(finding)?.[1]
        if (meant === undefined) continue
        suggested += 1
        expect(fileKeysOf(table), typed).toContain(meant)
        expect(meant).not.toBe(typed)
      }
    }
  }
  expect(suggested).toBeGreaterThan(50)
})
