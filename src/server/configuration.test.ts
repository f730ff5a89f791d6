import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configFolder } from '../../test/support/config-folder.ts'
import { loadConfiguration } from './configuration.ts'
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

  test('a file that is named and missing is a mistake, whoever named it', async () => {
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
