import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configFolder } from '../../../test/support/config-folder.ts'
import { loadConfiguration, waitingForRestart } from './configuration.ts'
import { DEFAULT_SETTINGS } from './settings.ts'

const FOOS = 'limits: {Foos: {id: opaque, burst: 1, count: 1, period: 1s}}'

describe('the configuration', () => {
  test('flags win over the environment, the environment over the file, the file over defaults', async () => {
    const { write } = configFolder()
    const config = write('headgate.yml', '{host: ::1, port: 1, store: "memory:", logLevel: warn}')
    const { settings } = await loadConfiguration({
      flags: { config, port: '3' },
      environment: { HEADGATE_PORT: '2', HEADGATE_LOG_LEVEL: 'error' },
    })
    expect(settings).toEqual({
      ...DEFAULT_SETTINGS,
      configFile: config,
      host: '::1',
      port: 3,
      store: 'memory:',
      logLevel: 'error',
    })
  })

  test('limits and overrides come from the file itself and from the files it names', async () => {
    const { write } = configFolder({
      'defaults.yml': 'NewOrdersPerAccount: {burst: 3, count: 3, period: 1h}',
      'overrides.yml': '[{Foos: {burst: 9, count: 9, period: 1s, ids: [bob]}}]',
    })
    const config = write(
      'headgate.yml',
      `${FOOS}
overrides: [{Foos: {burst: 7, count: 7, period: 1s, ids: [alice]}}]
defaultsFile: defaults.yml
overridesFile: overrides.yml`,
    )
    const { catalog, files } = await loadConfiguration({ flags: { config } })
    expect(catalog.resolve({ limit: 'Foos', id: 'alice' }).limit?.burst).toBe(7)
    expect(catalog.resolve({ limit: 'Foos', id: 'bob' }).limit?.burst).toBe(9)
    expect(catalog.resolve({ limit: 'NewOrdersPerAccount', id: '1' }).limit?.burst).toBe(3)
    expect(files.map(({ file }) => file.replace(/.*\//, ''))).toEqual([
      'headgate.yml',
      'defaults.yml',
      'overrides.yml',
    ])
  })

  test('a file named by a flag replaces the one that headgate.yml names', async () => {
    const { write } = configFolder()
    const config = write('headgate.yml', 'defaultsFile: missing.yml')
    const defaults = write('d.yml', 'NewOrdersPerAccount: {burst: 3, count: 3, period: 1h}')
    const { settings } = await loadConfiguration({ flags: { config, defaults } })
    expect(settings.defaultsFile).toBe(defaults)
  })

  test('a file that is named and missing is a mistake, wherever it is named', async () => {
    const { path, write } = configFolder()
    const missing = join(path, 'missing.yml')
    const config = write('headgate.yml', 'overridesFile: missing.yml')
    for (const flags of [{ config: missing }, { config }, { defaults: missing }]) {
      await expect(loadConfiguration({ flags })).rejects.toMatchObject({
        code: 'CONFIG_FILE_UNREADABLE',
        thing: missing,
        finding: 'none there',
      })
    }
  })

  test('a folder in the place of a file is a mistake too', async () => {
    const { path } = configFolder()
    const loading = loadConfiguration({ flags: { config: path } })
    await expect(loading).rejects.toMatchObject({ code: 'CONFIG_FILE_UNREADABLE', thing: path })
  })

  test('refuseReserved reaches the overrides', async () => {
    const { write } = configFolder()
    const overrides =
      'overrides: [{NewRegistrationsPerIPAddress: {burst: 1, count: 1, period: 1s, ids: [10.0.0.1]}}]'
    const config = write('headgate.yml', `${overrides}\nrefuseReserved: true`)
    await expect(loadConfiguration({ flags: { config } })).rejects.toThrow('reserved range')
  })
})

describe('what waits for a restart', () => {
  const change = async (before: string, after: string) => {
    const { write } = configFolder()
    const load = (text: string) =>
      loadConfiguration({ flags: { config: write('headgate.yml', text), store: 'sqlite:hg.db' } })
    return waitingForRestart(await load(before), await load(after))
  }

  test('is every setting but those that a reload changes', async () => {
    expect(await change('{}', `{port: 1, ${FOOS}, refuseReserved: true}`)).toEqual(['port'])
    expect(await change('subjects: {}', 'subjects: {identity: did:web:a}')).toEqual(['subjects'])
    expect(await change('{}', '{}')).toEqual([])
  })

  test('of spending: the payer, the unit, the queue and where the balance is read', async () => {
    const balance = '{ mirrorNode: "https://mirror.example", account: 0.0.2 }'
    const after = `{ payer: b, unit: { name: USD, decimals: 2 }, queueFile: q, total: 0, holdFor: 1m, operator: { stale: deny, balance: ${balance} } }`
    expect(await change('spending: {total: 0}', `spending: ${after}`)).toEqual([
      'spending.payer',
      'spending.unit',
      'spending.operator.balance',
      'spending.queueFile',
    ])
  })

  test('and spending itself, if it comes or goes', async () => {
    expect(await change('{}', 'spending: {payer: b}')).toEqual(['spending'])
    expect(await change('spending: {payer: b}', '{}')).toEqual(['spending'])
  })
})

test('spending is configured by its section or by its variables, an empty one left aside', async () => {
  const load = (environment: Record<string, string>) =>
    loadConfiguration({
      flags: { store: 'sqlite:hg.db', config: configFolder().write('headgate.yml', '{}') },
      environment,
    })
  expect((await load({ HBAR_RATE_LIMIT_TINYBAR: '0' })).spending?.settings.total).toBe(0n)
  for (const environment of [{ HBAR_RATE_LIMIT_TINYBAR: ' ' }, { HBAR_OTHER: '1' }, {}]) {
    expect((await load({ ...environment })).spending).toBeUndefined()
  }
})
