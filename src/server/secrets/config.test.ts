import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { days } from '../../core/time.ts'
import { MAX_QUEUE, MAX_WORKERS } from '../../secrets/poprf/pool/evaluator-pool.ts'
import { readKeyOptions, readSignerSettings } from './config.ts'

type Flags = Readonly<Record<string, string>>

const KEYS = { keys: 'keys', 'key-secret': 'file:secret' }

const read = (flags: Flags, environment: Record<string, string> = {}) =>
  readSignerSettings({ flags, environment })

test('what is not given has its default', () => {
  expect(read(KEYS)).toEqual({
    host: '127.0.0.1',
    port: 8082,
    store: 'sqlite:./headgate-signer.db',
    acceptRedisLosses: false,
    logLevel: 'info',
    keys: resolve('keys'),
    keySecret: { from: 'file', path: 'secret' },
    conduct: 'cip40',
    engine: 'wasm',
    perAddress: { count: 60, period: '1m' },
    inAll: { count: 1_000, period: '1s' },
    trustProxy: [],
    timeSources: [],
    deprecated: [],
    corsOrigins: [],
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

test('a switch is off unless it is given', () => {
  const flags = { ...KEYS, 'allow-single-key': 'true' }
  expect(read(flags)).toMatchObject({ allowSingleKey: true, allowMemory: false })
})

test('a command about keys reads only what leads to them', () => {
  expect(readKeyOptions({ flags: { ...KEYS, workers: 'many' } })).toEqual({
    keys: resolve('keys'),
    keySecret: { from: 'file', path: 'secret' },
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
  expect(settings.inAll).toBe('none')
})

test('audit entries are kept for days, or for ever', () => {
  expect(read({ ...KEYS, 'audit-days': '7' }).keepAudit).toBe(days(7))
  expect(read(KEYS, { HEADGATE_ODIS_AUDIT_DAYS: '36500' }).keepAudit).toBe(days(36_500))
  expect(read({ ...KEYS, 'audit-days': 'forever' }).keepAudit).toBe('forever')
})

test('time sources are https URLs, or of this machine', () => {
  const urls = ['https://example.org/', 'http://127.0.0.1:8080', 'http://[::1]/time']
  expect(read({ ...KEYS, 'time-sources': urls.join(', ') }).timeSources).toEqual(urls)
})

describe('refused, naming the flag or the variable', () => {
  const wrong: readonly (readonly [string, Flags])[] = [
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
    ['--deprecated-domains', { ...KEYS, 'deprecated-domains': 'ODIS Peppered Domain' }],
    ['--deprecated-domains', { ...KEYS, 'deprecated-domains': 'ODIS Peppered Domain/1,' }],
    ['--cors-origins', { ...KEYS, 'cors-origins': 'wallet.example' }],
    ['--cors-origins', { ...KEYS, 'cors-origins': 'https://wallet.example/' }],
    ['--cors-origins', { ...KEYS, 'cors-origins': 'null' }],
    ['--cors-origins', { ...KEYS, 'cors-origins': 'https://*.wallet.example' }],
    ['--time-sources', { ...KEYS, 'time-sources': 'http://example.org' }],
    ['--time-sources', { ...KEYS, 'time-sources': 'https://example.org,' }],
    ['--time-sources', { ...KEYS, 'time-sources': 'pool.ntp.org' }],
    ['--time-sources', { ...KEYS, 'time-sources': Array(17).fill('https://a.example').join() }],
  ]
  test.each(wrong)('%s %j', (thing, flags) => {
    expect(mistakeOf(() => read(flags))).toMatchObject({ code: 'OPTION_INVALID', thing })
  })

  test.each([
    ['workers', MAX_WORKERS],
    ['queue', MAX_QUEUE],
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
