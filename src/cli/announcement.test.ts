import { expect, test } from 'vitest'
import { acmeCatalog } from '../../test/support/acme-catalog.ts'
import { testHeadgate } from '../../test/support/headgate.ts'
import { spendingServer } from '../../test/support/spending-server.ts'
import { ID_FORMATS } from '../requests/ids/id-format.ts'
import { announce, describeAnnouncement } from './serve.ts'

const headgateWith = (limits: string) => testHeadgate({ catalog: acmeCatalog({ limits }) })
const URL = 'http://127.0.0.1:8080'

test('the first limit in force is the one to try', () => {
  const headgate = headgateWith(`
OnlyOverrides: {id: opaque}
Foos: {id: ipAddress, burst: 5, count: 5, period: 1m}
Bars: {id: opaque, burst: 1, count: 1, period: 1s}
`)
  expect(announce(headgate, URL).try).toEqual({
    limit: 'Foos',
    promise: 'allowed 5 times at once, then once every 12s',
    curl: `curl -i '${URL}/v1/gate?limit=Foos&id=203.0.113.7'`,
  })
})

test.each(ID_FORMATS)('an id of the form %s is one that its limit takes', (format) => {
  const headgate = headgateWith(`Foos: {id: "${format}", burst: 1, count: 1, period: 1s}`)
  const [, address = ''] = /'(.+)'/.exec(announce(headgate, URL).try?.curl ?? '') ?? []
  const id = new globalThis.URL(address).searchParams.get('id') ?? ''
  const bucket = headgate.catalog.current().resolve({ limit: 'Foos', id })
  expect(bucket.source).toBe('default')
})

test('with tokens the line shows one, and a server on every address is reached at this one', () => {
  const tokens = [{ name: 'ci', sha256: 'a'.repeat(64), scopes: ['decide'] as const }]
  const headgate = testHeadgate({ settings: { tokens } })
  expect(announce(headgate, 'http://0.0.0.0:8080').try?.curl).toMatch(
    /^curl -i -H "Authorization: Bearer \$HEADGATE_TOKEN" 'http:\/\/127\.0\.0\.1:8080\//,
  )
  expect(announce(headgate, 'http://[::]:8080').try?.curl).toContain('http://[::1]:8080/')
})

test('a server without limits says how to get one', () => {
  const text = describeAnnouncement(announce(headgateWith('{}'), URL))
  expect(text).toMatch(/^ {2}limits +none in force$/m)
  expect(text).toContain('Declare a limit in headgate.yml')
})

test('the announcement says where everything is', () => {
  const headgate = testHeadgate({ settings: { store: 'memory:', configFile: '/etc/headgate.yml' } })
  const text = describeAnnouncement(announce(headgate, URL))
  expect(text).toMatch(/^ {2}config +\/etc\/headgate\.yml$/m)
  expect(text).toMatch(/^ {2}limits +NewOrdersPerAccount, PerAddress, PerKey, OpenWhenDown$/m)
  expect(text).toMatch(/^ {2}store +memory: forgotten when the server ends$/m)
  expect(text).toMatch(/^ {2}tokens +none: only this machine may ask$/m)
  expect(text).toMatch(/^ {2}listens +http:\/\/127\.0\.0\.1:8080$/m)
})

test('a server that spends says how much, and for how many plans', async () => {
  const { headgate } = await spendingServer()
  const text = describeAnnouncement(announce(headgate, URL))
  expect(text).toMatch(/^ {2}spending +1000 \(0\.00001 HBAR\) every 1d, plans 1$/m)
})
