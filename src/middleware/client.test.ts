import { describe, expect, test } from 'vitest'
import { gateScene, type PlainRequest, plainDoor } from '../../test/support/gate.ts'
import { clientsOf, LOOKS, type ProxyOptions } from './client.ts'
import { createWarnings } from './warnings.ts'

const clients = (proxy?: ProxyOptions, ipv6Prefix = 64) => {
  const { warn, warnings, codes } = gateScene()
  const clientOf = clientsOf(plainDoor, { proxy, ipv6Prefix }, createWarnings(warn))
  return { clientOf: (request: PlainRequest) => clientOf(request, undefined), warnings, codes }
}

const forwarded = (list: string, peer: string | undefined = '10.0.0.1'): PlainRequest => ({
  ip: peer,
  peer,
  headers: { 'x-forwarded-for': list },
})

describe('what the framework says', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
    ['2001:db8:1:2:ffff::1', '2001:db8:1:2::'],
    ['203.0.113.7:51234', '203.0.113.7'],
    ['[2001:db8:1:2::9]:443', '2001:db8:1:2::'],
    ['fe80::1%eth0', 'fe80::'],
    [' 203.0.113.7 ', '203.0.113.7'],
  ])('%s counts as %s', (ip, counted) => {
    const { clientOf, codes } = clients()
    expect(clientOf({ ip })).toBe(counted)
    expect(codes()).toEqual([])
  })

  test('IPv6 may count by a wider network', () => {
    const { clientOf } = clients(undefined, 56)
    expect(clientOf({ ip: '2001:db8:1:2ff::5' })).toBe('2001:db8:1:200::')
  })
})

describe('a client whose address is not known', () => {
  test.each([undefined, '', 'unknown', '_hidden', '/run/app.sock'])(
    '%j shares one bucket with all such clients, and that is logged once',
    (ip) => {
      const { clientOf, warnings } = clients()
      expect(clientOf({ ip })).toBe('unknown')
      expect(clientOf({ ip })).toBe('unknown')
      expect(warnings.map(({ code }) => code)).toEqual(['CLIENT_ADDRESS_UNKNOWN'])
      expect(warnings[0]?.message).toContain('share one bucket')
    },
  )
})

describe('proxies that are counted', () => {
  test('each adds an address at the end: what a client wrote before does not matter', () => {
    const { clientOf } = clients({ hops: 1 })
    expect(clientOf(forwarded('6.6.6.6, 203.0.113.7'))).toBe('203.0.113.7')
    const two = clients({ hops: 2 })
    expect(two.clientOf(forwarded('6.6.6.6, 203.0.113.7, 10.0.0.2'))).toBe('203.0.113.7')
  })

  test('fewer than said leave the farthest address', () => {
    const { clientOf } = clients({ hops: 3 })
    expect(clientOf(forwarded('203.0.113.7'))).toBe('203.0.113.7')
    expect(clientOf({ ip: '10.0.0.1', peer: '10.0.0.1' })).toBe('10.0.0.1')
  })

  test('are enough where the other end of the connection is not known', () => {
    const { clientOf } = clients({ hops: 1 })
    expect(clientOf({ headers: { 'x-forwarded-for': '6.6.6.6, 203.0.113.7' } })).toBe('203.0.113.7')
  })
})

describe('proxies that are named', () => {
  const proxy = { trusted: ['10.0.0.0/8', '2001:db8:f::1'] }

  test('the client is the last address that is none of them', () => {
    const { clientOf } = clients(proxy)
    expect(clientOf(forwarded('6.6.6.6, 203.0.113.7, 10.0.0.2'))).toBe('203.0.113.7')
    expect(clientOf(forwarded('203.0.113.7:1234', '2001:db8:f::1'))).toBe('203.0.113.7')
    expect(clientOf(forwarded('203.0.113.7, [2001:db8:f::1]:80'))).toBe('203.0.113.7')
  })

  test('whoever comes by another way cannot claim an address', () => {
    const { clientOf } = clients(proxy)
    expect(clientOf(forwarded('6.6.6.6', '203.0.113.9'))).toBe('203.0.113.9')
    expect(clientOf(forwarded('6.6.6.6, nonsense'))).toBe('unknown')
  })

  test('a request of the proxies themselves counts by the farthest', () => {
    const { clientOf } = clients(proxy)
    expect(clientOf(forwarded('10.1.1.1, 10.0.0.2'))).toBe('10.1.1.1')
  })
})

test('a platform may put the address into a header of its own', () => {
  const { clientOf, codes } = clients({ header: 'CF-Connecting-IP' })
  const headers = { 'cf-connecting-ip': '203.0.113.7', 'x-forwarded-for': '6.6.6.6' }
  expect(clientOf({ ip: '10.0.0.1', headers })).toBe('203.0.113.7')
  expect(codes()).toEqual([])
  expect(clientOf({ ip: '10.0.0.1' })).toBe('unknown')
})

describe('a set-up that is probably wrong is logged once', () => {
  test('X-Forwarded-For, and nothing that trusts it', () => {
    const { clientOf, warnings } = clients()
    expect(clientOf(forwarded('203.0.113.7'))).toBe('10.0.0.1')
    clientOf(forwarded('203.0.113.8'))
    expect(warnings.map(({ code }) => code)).toEqual(['PROXY_UNTRUSTED'])
    expect(warnings[0]?.message).toContain('"203.0.113.7"')
  })

  test('a framework that believes anyone', () => {
    const { clientOf, codes } = clients()
    for (let i = 0; i < 2; i++) clientOf({ ...forwarded('203.0.113.7'), trust: 'all' })
    expect(codes()).toEqual(['PROXY_TRUSTS_ALL'])
  })

  test('Forwarded, which is not read', () => {
    const { clientOf, codes } = clients()
    clientOf({ ip: '10.0.0.1', headers: { forwarded: 'for=203.0.113.7' } })
    expect(codes()).toEqual(['FORWARDED_IGNORED'])
  })

  test('everybody from one private address', () => {
    const { clientOf, warnings } = clients()
    for (let i = 0; i < 2 * LOOKS; i++) clientOf({ ip: '10.0.0.5' })
    expect(warnings.map(({ code }) => code)).toEqual(['CLIENT_ADDRESS_SHARED'])
    expect(warnings[0]?.finding).toBe('10.0.0.5 in 1000 requests, of 10.0.0.0/8 (Private-Use)')
  })

  test('but not a second address among them, nor a public one', () => {
    const mixed = clients()
    for (let i = 0; i < 2 * LOOKS; i++) {
      mixed.clientOf({ ip: i === LOOKS - 1 ? '10.0.0.6' : '10.0.0.5' })
    }
    expect(mixed.codes()).toEqual([])
    const alone = clients()
    for (let i = 0; i < 2 * LOOKS; i++) alone.clientOf({ ip: '8.8.8.8' })
    expect(alone.codes()).toEqual([])
  })

  test('nor what comes when a gate has seen enough', () => {
    const { clientOf, codes } = clients()
    for (let i = 0; i < LOOKS; i++) clientOf({ ip: '8.8.8.8' })
    clientOf(forwarded('203.0.113.7'))
    expect(codes()).toEqual([])
  })

  test('and a proxy that is trusted is no trouble', () => {
    const { clientOf, codes } = clients()
    const headers = { 'x-forwarded-for': '203.0.113.7', forwarded: 'for=203.0.113.7' }
    clientOf({ ip: '203.0.113.7', headers, trust: 'some' })
    expect(codes()).toEqual([])
  })
})
