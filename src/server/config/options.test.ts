import { expect, test } from 'vitest'
import { flagsOf } from '../../documents/settings/reference.ts'
import { findOption, readOptions } from './options.ts'
import { SERVER_SETTINGS } from './settings.ts'

const given = (flags: Record<string, string>, environment: Record<string, string> = {}) =>
  readOptions(SERVER_SETTINGS, { flags, environment })

test('a flag wins over its variable, and a message names the one that was used', () => {
  const sources = {
    flags: { port: '2' },
    environment: { HEADGATE_PORT: '1', HEADGATE_HOST: '::1', PATH: '/bin' },
  }
  expect(findOption(SERVER_SETTINGS.port, sources)).toMatchObject({ text: '2', thing: '--port' })
  expect(findOption(SERVER_SETTINGS.host, sources)).toMatchObject({
    text: '::1',
    thing: 'HEADGATE_HOST',
  })
  expect(readOptions(SERVER_SETTINGS, sources)).toMatchObject({ port: 2, host: '::1' })
})

test('every flag has a variable of its name', () => {
  const settings = Object.values(SERVER_SETTINGS).flatMap((entry) =>
    'flag' in entry ? [entry] : [],
  )
  expect(flagsOf(SERVER_SETTINGS)).toHaveLength(settings.length)
  for (const setting of settings) {
    const [name = ''] = setting.flag.split(' ')
    expect(setting.variable).toBe(`HEADGATE_${name.toUpperCase().replaceAll('-', '_')}`)
    const environment = { [setting.variable]: 'x' }
    expect(findOption(setting, { environment })?.text).toBe('x')
  }
})

test('what Kubernetes sets for a service named headgate is not taken for ours', () => {
  const links = {
    HEADGATE_PORT: 'tcp://10.0.0.1:8080',
    HEADGATE_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
    HEADGATE_PORT_8080_TCP_ADDR: '10.0.0.1',
    HEADGATE_SERVICE_HOST: '10.0.0.1',
    HEADGATE_SERVICE_PORT: '8080',
    HEADGATE_SERVICE_PORT_HTTP: '8080',
  }
  expect(given({}, links)).toEqual({})
})

test.each(['-1', '65536', '80a', '', '1e3'])('the port %j is refused by its name', (port) => {
  const reading = () => given({ port })
  expect(reading).toThrow(`--port: must be a whole number from 0 to 65535, found "${port}"`)
  expect(reading).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
})

test('a port is a whole number, 0 for any that is free', () => {
  expect(given({ port: '0' }).port).toBe(0)
  expect(given({ port: '65535' }).port).toBe(65_535)
})

test('an unknown log level is refused with those that are known', () => {
  const reading = () => given({}, { HEADGATE_LOG_LEVEL: 'all' })
  expect(reading).toThrow('HEADGATE_LOG_LEVEL: must be one of fatal, error, warn')
})

test('a file that is given as nothing is refused', () => {
  expect(() => given({ defaults: '' })).toThrow('--defaults: must name a file, found nothing')
})
