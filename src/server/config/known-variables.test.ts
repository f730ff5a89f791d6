import { expect, test } from 'vitest'
import { refuseUnknownVariables } from './known-variables.ts'

test('an unknown HEADGATE_ variable is a mistake that lists the known ones', () => {
  const checking = () => refuseUnknownVariables({ HEADGATE_PROT: '80' })
  expect(checking).toThrow(expect.objectContaining({ code: 'ENVIRONMENT_UNKNOWN' }))
  expect(checking).toThrow('HEADGATE_PROT (did you mean HEADGATE_PORT?)')
  expect(checking).toThrow('HEADGATE_CONFIG, HEADGATE_HOST')
})

test('variables of signers, and those that hold no setting, are known', () => {
  const others = {
    HEADGATE_ODIS_KEYS: 'keys',
    HEADGATE_SERVER: 'a',
    HEADGATE_TOKEN: 'b',
    HEADGATE_PROVE: '1',
  }
  expect(refuseUnknownVariables(others)).toBeUndefined()
})

test('so are those that Kubernetes sets, whatever the service is called', () => {
  const links = { HEADGATE_WEB_SERVICE_HOST: '10.0.0.1', HEADGATE_WEB_PORT: 'tcp://10.0.0.1:80' }
  expect(refuseUnknownVariables(links)).toBeUndefined()
})
