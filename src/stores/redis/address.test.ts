import { describe, expect, test } from 'vitest'
import { parseRedisUrl } from './address.ts'

const HERE = { host: 'localhost', port: 6_379 }
const PLAIN = {
  kind: 'server',
  hosts: [HERE],
  username: undefined,
  password: undefined,
  database: 0,
  tls: false,
  group: '',
  sentinelUsername: undefined,
  sentinelPassword: undefined,
  script: true,
}

describe('a URL names', () => {
  test.each([
    ['redis://localhost', {}],
    ['redis://localhost:7000/', { hosts: [{ host: 'localhost', port: 7_000 }] }],
    ['redis://localhost/3', { database: 3 }],
    ['rediss://localhost', { tls: true }],
    ['redis://:secret@localhost', { password: 'secret' }],
    ['redis://ann:s%40cret%2F@localhost', { username: 'ann', password: 's@cret/' }],
    ['redis://[::1]:7000', { hosts: [{ host: '::1', port: 7_000 }] }],
    [
      'redis+cluster://a:7000,b:7001,c',
      {
        kind: 'cluster',
        hosts: [
          { host: 'a', port: 7_000 },
          { host: 'b', port: 7_001 },
          { host: 'c', port: 6_379 },
        ],
      },
    ],
    ['rediss+cluster://ann@localhost/0', { kind: 'cluster', tls: true, username: 'ann' }],
    ['redis://localhost/3?script=off', { database: 3, script: false }],
    [
      'redis+sentinel://localhost/orders',
      { kind: 'sentinel', hosts: [{ host: 'localhost', port: 26_379 }], group: 'orders' },
    ],
    [
      'rediss+sentinel://:pin@a:1,b:2/my%20master/4?sentinelPassword=p%26q&sentinelUsername=eve',
      {
        kind: 'sentinel',
        tls: true,
        password: 'pin',
        hosts: [
          { host: 'a', port: 1 },
          { host: 'b', port: 2 },
        ],
        group: 'my master',
        database: 4,
        sentinelUsername: 'eve',
        sentinelPassword: 'p&q',
      },
    ],
  ])('%s', (url, found) => {
    expect(parseRedisUrl(url)).toEqual({ ...PLAIN, ...found })
  })
})

describe('refused, without a word of what may be a password', () => {
  test.each([
    'redis:',
    'redis://',
    'http://localhost',
    'redis://secret@',
    'redis://localhost:0',
    'redis://localhost:65536',
    'redis://localhost/secret',
    'redis://a,b',
    'redis+cluster://a/1',
    'redis+sentinel://a',
    'redis+sentinel://a/',
    'redis+sentinel://a/master/secret',
    'redis://a/1/2',
    'redis://a?script=secret',
    'redis://a?sentinelPassword=secret',
    'redis+sentinel://a/b?password=secret',
    'redis://ann:100%secret@localhost',
    'redis://a b',
  ])('%s', (url) => {
    const refused = expect.objectContaining({ code: 'REDIS_URL_INVALID' })
    expect(() => parseRedisUrl(url)).toThrow(refused)
    expect(() => parseRedisUrl(url)).not.toThrow('secret')
  })
})
