import { describe, expect, test } from 'vitest'
import { gatherOptions, OPTION_NAMES, readLogLevel, readPort, variableOf } from './options.ts'

describe('flags and environment', () => {
  test('a flag wins over its variable, and a message names the one that spoke', () => {
    const environment = { HEADGATE_PORT: '1', HEADGATE_HOST: '::1', PATH: '/bin' }
    expect(gatherOptions({ port: '2' }, environment)).toEqual({
      port: { text: '2', thing: '--port' },
      host: { text: '::1', thing: 'HEADGATE_HOST' },
    })
  })

  test('every option has a variable', () => {
    expect(OPTION_NAMES.map(variableOf)).toContain('HEADGATE_LOG_LEVEL')
    for (const name of OPTION_NAMES) {
      expect(gatherOptions({}, { [variableOf(name)]: 'x' })[name]?.text).toBe('x')
    }
  })

  test('an unknown HEADGATE_ variable is a mistake that lists the known ones', () => {
    const gathering = () => gatherOptions({}, { HEADGATE_PROT: '80' })
    expect(gathering).toThrow(expect.objectContaining({ code: 'ENVIRONMENT_UNKNOWN' }))
    expect(gathering).toThrow('HEADGATE_PROT (did you mean HEADGATE_PORT?)')
    expect(gathering).toThrow('HEADGATE_CONFIG, HEADGATE_HOST')
  })

  test('variables that other parts read are known', () => {
    const others = { HEADGATE_SERVER: 'a', HEADGATE_TOKEN: 'b', HEADGATE_PROVE: '1' }
    expect(gatherOptions({}, others)).toEqual({})
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
    expect(gatherOptions({}, links)).toEqual({})
  })
})

test.each(['-1', '65536', '80a', '', '1e3'])('the port %j is refused by its name', (text) => {
  const reading = () => readPort({ text, thing: '--port' })
  expect(reading).toThrow(`--port: must be a whole number from 0 to 65535, found "${text}"`)
})

test('a port is a whole number, 0 for any that is free', () => {
  expect(readPort({ text: '0', thing: '--port' })).toBe(0)
  expect(readPort({ text: '65535', thing: '--port' })).toBe(65_535)
})

test('an unknown log level is refused with those that are known', () => {
  const reading = () => readLogLevel({ text: 'all', thing: 'HEADGATE_LOG_LEVEL' })
  expect(reading).toThrow('HEADGATE_LOG_LEVEL: must be one of fatal, error, warn')
})
