import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { days } from '../../core/index.ts'
import { type OdisFlags, readSignerSettings } from './signer-options.ts'

const KEYS = { keys: 'keys', 'key-secret': 'file:secret' }

const read = (odis: OdisFlags, environment: Record<string, string> = {}) =>
  readSignerSettings({
    flags: {},
    odis,
    environment,
    allowSingleKey: false,
    allowMemory: false,
  })

test('what nobody says has its default', () => {
  expect(read(KEYS)).toEqual({
    host: '127.0.0.1',
    port: 8082,
    store: 'sqlite:./headgate-signer.db',
    logLevel: 'info',
    keys: resolve('keys'),
    keySecret: { from: 'file', path: 'secret' },
    conduct: 'cip40',
    engine: 'wasm',
    perAddress: { count: 60, period: '1m' },
    inAll: { count: 1_000, period: '1s' },
    trustProxy: [],
    keepAudit: days(90),
    allowSingleKey: false,
    allowMemory: false,
  })
})

test('flags win over variables', () => {
  const environment = { HEADGATE_ODIS_CONDUCT: 'celo', HEADGATE_ODIS_ENGINE: 'typescript' }
  expect(read({ ...KEYS, conduct: 'cip40' }, environment)).toMatchObject({
    conduct: 'cip40',
    engine: 'typescript',
  })
})

test('the secret comes from a file, the environment or a command without a shell', () => {
  const environment = { SECRET: 'x' }
  const source = (text: string) => read({ ...KEYS, 'key-secret': text }, environment).keySecret
  expect(source('file:/run/secrets/odis')).toEqual({ from: 'file', path: '/run/secrets/odis' })
  expect(source('env:SECRET')).toEqual({ from: 'environment', name: 'SECRET', environment })
  expect(source('command:kms decrypt odis')).toEqual({
    from: 'command',
    command: 'kms',
    arguments: ['decrypt', 'odis'],
  })
})

test('an outer limit is a number and a period, or none', () => {
  const rates = { 'limit-per-address': '5/10s', 'limit-in-all': 'none' }
  const settings = read({ ...KEYS, ...rates })
  expect(settings.perAddress).toEqual({ count: 5, period: '10s' })
  expect(settings.inAll).toBeUndefined()
})

test('audit entries are kept for days, or for ever', () => {
  expect(read({ ...KEYS, 'audit-days': '7' }).keepAudit).toBe(days(7))
  expect(read(KEYS, { HEADGATE_ODIS_AUDIT_DAYS: '36500' }).keepAudit).toBe(days(36_500))
  expect(read({ ...KEYS, 'audit-days': 'forever' }).keepAudit).toBeUndefined()
})

describe('refused, naming the flag or the variable that spoke', () => {
  const wrong: readonly (readonly [string, OdisFlags])[] = [
    ['--keys', { 'key-secret': 'file:secret' }],
    ['--key-secret', { keys: 'keys' }],
    ['--key-secret', { ...KEYS, 'key-secret': 'file:' }],
    ['--conduct', { ...KEYS, conduct: 'strict' }],
    ['--engine', { ...KEYS, engine: 'rust' }],
    ['--workers', { ...KEYS, workers: '0' }],
    ['--current-key', { ...KEYS, 'current-key': '1.5' }],
    ['--rpc-url', { ...KEYS, 'rpc-url': 'ws://node' }],
    ['--limit-per-address', { ...KEYS, 'limit-per-address': '60' }],
    ['--limit-in-all', { ...KEYS, 'limit-in-all': '0/1s' }],
    ['--limit-in-all', { ...KEYS, 'limit-in-all': '5/0s' }],
    ['--audit-days', { ...KEYS, 'audit-days': '0' }],
    ['--audit-days', { ...KEYS, 'audit-days': '1.5' }],
    ['--audit-days', { ...KEYS, 'audit-days': '36501' }],
    ['--audit-days', { ...KEYS, 'audit-days': 'never' }],
    ['--trust-proxy', { ...KEYS, 'trust-proxy': '10.0.0.0/8,proxy' }],
  ]
  test.each(wrong)('%s %j', (thing, flags) => {
    expect(mistakeOf(() => read(flags))).toMatchObject({ code: 'OPTION_INVALID', thing })
  })

  test.each([
    ['workers', 64],
    ['queue', 4_096],
  ] as const)('%s outside of 1 to %d, by one rule', (name, most) => {
    const rule = `must be a whole number from 1 to ${most}`
    for (const value of ['0', String(most + 1), '9999999999', '1.5', '']) {
      expect(mistakeOf(() => read({ ...KEYS, [name]: value }))).toMatchObject({
        thing: `--${name}`,
        rule,
      })
    }
    expect(read({ ...KEYS, [name]: String(most) })[name]).toBe(most)
  })

  test('a variable', () => {
    const environment = { HEADGATE_ODIS_QUEUE: 'long' }
    expect(mistakeOf(() => read(KEYS, environment))).toMatchObject({
      thing: 'HEADGATE_ODIS_QUEUE',
    })
  })

  test('a secret in the place of its source is not repeated', () => {
    const secret = 'ab'.repeat(32)
    const mistake = mistakeOf(() => read({ ...KEYS, 'key-secret': secret }))
    expect(JSON.stringify(mistake)).not.toContain('abab')
  })
})
