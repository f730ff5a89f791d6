import { describe, expect, test } from 'vitest'
import { days, HeadgateError } from '../core/index.ts'
import { parseDocument } from '../documents/document.ts'
import { readConfig } from './config-file.ts'

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
  test('says what it says, and leaves out what it does not', () => {
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
      operations: { rememberFor: days(7), perScope: 10 },
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
    ['store: redis://localhost', 'STORE_UNSUPPORTED', '1:8', 'store: must be memory: or sqlite:PA'],
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
    expect(mistake('store: redis://:secret@db').message).not.toContain('secret')
  })
})
